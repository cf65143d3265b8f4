"""The report in a real browser, and the contrast of its colours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.ledgers import MadeRun, call

from rebind.envs.browser import chromium
from rebind.envs.browser.engine import missing
from rebind.eval.report import build, write_html

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

STYLE = Path(__file__).resolve().parents[2] / "eval" / "report" / "templates" / "style.css"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page of a small run with a name as long as a name can be."""
    made = MadeRun(conditions=("none", "full", "qcr"), simulated=True, name="a_study_whose_name_has_no_end_" * 4)
    for n in range(5):
        made.record(f"r{n}", {"person": "Ben Moss"}, actions=8)
        target = made.target(f"Pay Anna, no. {n}.", f"r{n}", {"person": "Anna Keller"}, level="large")
        made.episode(target, "none", False, steps=[call("bank_list", "x" * 400)])
        made.episode(
            target, "full", n > 2, steps=[call("bank_transfer", "422 no such payee", status=422, to="Ben Moss")]
        )
        made.episode(target, "qcr", True, steps=[call("bank_transfer", to="Anna Keller"), call("done")])
    folder = made.write(tmp_path_factory.mktemp("run"))
    return write_html(build(folder), folder / "report.html").as_uri()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    why = missing()
    if why:
        pytest.skip(f"needs a browser: {why}")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=chromium.find().path, args=chromium.arguments())
        yield opened
        opened.close()


def page_of(browser: Browser, address: str, **options: Any) -> tuple[Page, list[str]]:
    """The open page, and what it complained of or asked the network for."""
    page = browser.new_context(**options).new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: said.append(request.url) if not request.url.startswith("file:") else None)
    page.goto(address)
    return page, said


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_no_width_scrolls_the_page_sideways_and_nothing_is_fetched(
    browser: Browser, address: str, width: int, scheme: str
) -> None:
    page, said = page_of(browser, address, viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    page.wait_for_selector("details.target")
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    page.wait_for_selector("table.side")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (colour == "rgb(255, 255, 255)") == (scheme == "light")
    assert said == []


def test_every_step_can_be_reached_and_opened_with_the_keyboard(browser: Browser, address: str) -> None:
    page, _ = page_of(browser, address, viewport={"width": 1280, "height": 800})
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    for what in ("family", "target"):
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate(f"document.activeElement.parentElement?.classList.contains('{what}')"):
                break
        else:
            pytest.fail(f"60 presses of Tab never reached a {what}")
        page.keyboard.press("Enter")
        page.wait_for_selector({"family": "details.target", "target": "table.side"}[what])
    assert page.locator("table.side tbody tr").count() == 2
    assert "stale: person “Ben Moss”" in page.locator("table.side").inner_text()


def test_the_filter_hides_targets_it_does_not_fit(browser: Browser, address: str) -> None:
    page, _ = page_of(browser, address)
    page.locator("details.family > summary").first.click()
    page.wait_for_selector("details.target")
    page.select_option("#drill-filter", "invalid")
    assert page.locator("details.target:visible").count() == 0
    assert page.locator("p.none").is_visible()
    page.select_option("#drill-filter", "stale")
    assert page.locator("details.target:visible").count() == 5


@pytest.mark.parametrize("theme", [0, 1])
@pytest.mark.parametrize(
    ("text", "ground", "least"),
    [
        *((text, "paper", 4.5) for text in ("ink", "quiet", "accent", "bad", "good", "warn")),
        ("ink", "faint", 4.5), ("quiet", "faint", 4.5), ("bad", "bad-soft", 4.5), ("ink", "warn-soft", 4.5),
        *((f"c{n}", "paper", 3.0) for n in range(8)),
        *((f"k-{part}", "paper", 3.0) for part in ("i_base", "i_mem", "i_syn", "o_syn", "o_act")),
    ],
)  # fmt: skip
def test_colours_have_the_contrast_that_wcag_aa_asks(text: str, ground: str, least: float, theme: int) -> None:
    themes = re.findall(r":root \{(.*?)\}", STYLE.read_text(encoding="utf-8"), flags=re.S)
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", themes[theme]))
    one, two = sorted((luminance(colours[text]), luminance(colours[ground])), reverse=True)
    assert (one + 0.05) / (two + 0.05) >= least


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2)."""
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
