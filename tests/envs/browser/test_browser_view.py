"""The view tells what a reader of the page would see, and numbers what can be acted on."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

Opened = Callable[..., Any]


def _tree(observation: str) -> list[str]:
    return observation.split("---\n", 1)[1].split("\n")


def test_controls_show_role_name_value_and_state(opened: Opened) -> None:
    seen = opened(
        """<label for=a>First name</label><input id=a value=Ada><input type=checkbox aria-label=News checked>
        <select aria-label=Sort><option>Price<option selected>Name</select><button disabled>Save</button>
        <a href=/x>Help</a><input type=password placeholder=Secret value=abc>"""
    ).begin()
    assert _tree(seen) == [
        '[1] textbox "First name" value="Ada"',
        '[2] checkbox "News" checked',
        '[3] combobox "Sort" options="Price"|*"Name"',
        '[4] button "Save" disabled',
        '[5] link "Help"',
        '[6] textbox "Secret" value="•••"',
    ]


def test_what_is_hidden_is_not_in_the_view(opened: Opened) -> None:
    seen = opened(
        """<p>seen</p><p style="display:none">gone</p><p style="visibility:hidden">gone</p><p aria-hidden=true>gone</p>
        <div hidden><button>gone</button></div><script>var gone</script>"""
    ).begin()
    assert _tree(seen) == ["seen"]


def test_a_row_of_a_table_is_one_line(opened: Opened) -> None:
    seen = opened(
        """<table><caption>Orders</caption><tr><th>No<th>State<tr><td>17<td>sent<td><a href=/17>open</a></table>"""
    ).begin()
    assert _tree(seen) == ['table "Orders"', "  row: No | State", '  row: 17 | sent | [1] link "open"']


def test_shadow_roots_open_and_closed_are_part_of_the_page(opened: Opened) -> None:
    seen = opened(
        """<x-a></x-a><x-b></x-b><script>for (const [tag, mode] of [["x-a", "open"], ["x-b", "closed"]])
        document.querySelector(tag).attachShadow({mode}).innerHTML = `<button>${mode}</button>`</script>"""
    ).begin()
    assert _tree(seen) == ['[1] button "open"', '[2] button "closed"']


def test_an_iframe_is_shown_where_it_stands_and_its_elements_can_be_used(opened: Opened) -> None:
    env = opened(
        {
            "/": "<p>above</p><iframe title=Inner src=/in></iframe><p>below</p>",
            "/in": "<button onclick=\"this.textContent='pressed'\">press</button>",
        }
    )
    assert _tree(env.begin()) == ["above", 'iframe "Inner"', '  [1.1] button "press"', "below"]
    assert '[1.1] button "pressed"' in env.act("click", element="1.1")


def test_elements_with_click_listeners_are_clickable_whatever_their_tag(opened: Opened) -> None:
    env = opened("<div id=d>open me</div><script>d.addEventListener('click', () => d.textContent = 'opened')</script>")
    assert _tree(env.begin()) == ['[1] clickable "open me"']
    assert '"opened"' in env.act("click", element="1")


def test_elements_out_of_the_window_are_marked(opened: Opened) -> None:
    env = opened("<button>top</button><div style='height:3000px'></div><button>far</button>")
    assert _tree(env.begin()) == ['[1] button "top"', '[2] button "far" ↓']
    assert '[1] button "top" ↑' in env.act("scroll", delta_y=2600)


def test_a_long_page_comes_in_parts_that_lose_nothing(opened: Opened) -> None:
    env = opened("".join(f"<p>line {n}</p>" for n in range(300)), part=1_000)
    first = env.begin()
    count = int(first.split("part 1 of ")[1].split(" ")[0])
    lines = _tree(first)
    for part in range(2, count + 1):
        lines += _tree(env.act("view_part", part=part))
    assert lines == [f"line {n}" for n in range(300)]


def test_the_header_names_address_title_tabs_and_focus(opened: Opened) -> None:
    env = opened(
        {
            "/": "<title>Home</title><input aria-label=q autofocus><a href=/b target=_blank>b</a>",
            "/b": "<title>B</title>",
        }
    )
    seen = env.begin()
    assert seen.split("\n")[1:3] == ["title: Home", 'focused: [1] textbox "q"']
    seen = env.act("click", element='link "b"')
    assert 'tabs: 0 "Home", *1 "B"' in seen
    assert "note: a new tab was opened" in seen


def test_a_table_whose_body_listens_for_its_rows_shows_every_row(opened: Opened) -> None:
    rows = "".join(f"<tr><td>item {n}</td><td><button>order</button></td></tr>" for n in range(30))
    seen = opened(
        f"<table><tbody>{rows}</tbody></table><script>document.querySelector('tbody').addEventListener("
        "'click', e => document.title = e.target.closest('tr').cells[0].textContent)</script>"
    ).begin()
    assert "clickable" not in seen
    assert seen.count('button "order"') == 30
    assert "item 29 | [30] button" in seen


def test_what_a_clickable_card_holds_is_shown_where_its_name_is_cut(opened: Opened) -> None:
    long = " ".join(f"word{n}" for n in range(60))
    seen = opened(f"<div onclick='0'><p>{long}</p><ul><li>first <a href=/a>more</a></li></ul></div>").begin()
    assert "word59" in seen
    assert 'link "more"' in seen


def test_an_element_in_a_list_within_a_clickable_card_is_shown(opened: Opened) -> None:
    seen = opened(
        "<div onclick='0'><b>card</b><ul><li>first <a href=/a>more</a></li><li><a href=/b>less</a></li></ul></div>"
    )
    assert 'link "more"' in (text := seen.begin())
    assert 'link "less"' in text


def test_an_element_is_described_as_the_page_stands_after_it_changed_by_itself(opened: Opened) -> None:
    env = opened(
        "<ul><li>a <button>go</button></li></ul><script>setTimeout(() => document.querySelector('ul').innerHTML +="
        "'<li>b <button>go</button></li>', 400)</script>"
    )
    env.begin()
    time.sleep(1)
    assert env.stored("click", element='button "go" #2') == {"element": 'button "go" in listitem "b go"'}
