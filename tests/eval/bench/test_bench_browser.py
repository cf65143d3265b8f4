"""The benchmark beside BrowserGym finds elements in either side's text, and compares like with like."""

from __future__ import annotations

import random
from urllib.request import urlopen

import pytest

from rebind.eval.bench.browser import SIDES, _row, _Taken
from rebind.eval.bench.browser_page import KINDS, Step, html, number, script, served


@pytest.mark.parametrize(
    "text",
    [
        'row: [5] link "Item 0" | [6] textbox "Quantity" value="0" | [7] button "Order"\n'
        'row: [8] link "Item 1" | [9] textbox "Quantity" value="1" | [10] button "Order"',
        "[5] link 'Item 0', url='x'\n[6] textbox 'Quantity' value='0'\n[7] button 'Order'\n"
        "[8] link 'Item 1', url='x'\n[9] textbox 'Quantity' value='1'\n[10] button 'Order'",
    ],
)
def test_an_elements_number_is_read_from_either_sides_text(text: str) -> None:
    assert number(text, Step("open", 1, "")) == "8"
    assert number(text, Step("write", 1, "")) == "9"
    assert number(text, Step("press", 0, "")) == "7"


def test_both_sides_do_the_same_actions_each_kind_in_turn_on_rows_that_are_there() -> None:
    seed = random.randrange(100)
    steps = script(20, 9, seed)
    assert steps == script(20, 9, seed)
    assert [step.kind for step in steps] == [*KINDS] * 3
    assert all(0 <= step.row < 20 for step in steps)


def test_the_page_has_as_many_rows_as_asked_for_and_says_which_item_was_opened() -> None:
    with served() as origin, urlopen(f"{origin}/?rows=7&open=3") as answer:
        page = answer.read().decode()
    assert page == html(7, "3")
    assert page.count("<button>") == page.count('aria-label="Quantity"') == 7
    assert "Opened: Item 3" in page


def test_ratios_are_theirs_to_ours_and_a_side_that_did_no_step_has_none() -> None:
    taken = {side: _Taken() for side in SIDES}
    taken["ours"].steps, taken["ours"].resets = [100.0, 50.0, 300.0], [200.0]
    taken["nosleep"].steps, taken["nosleep"].resets = [400.0], [900.0]
    taken["stock"].given_up = 3
    row = _row(20, taken)
    assert (row["ours_step_ms"], row["ratio_nosleep"], row["ratio_reset"]) == (100.0, 4.0, 4.5)
    assert (row["browsergym_stock_step_ms"], row["ratio_stock"], row["browsergym_timeouts"]) == (None, None, 3)
