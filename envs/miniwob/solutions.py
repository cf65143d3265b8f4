"""Solutions of MiniWoB++ tasks, written against the view: what a person would do, having read the page.

A solution is a generator over the task's fields: it yields actions and is sent the Calls each of them made; `_look`
gives the page as text.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any

from rebind.types import Action, Call, ToolCall

Fields = Mapping[str, str]
Doing = Generator[Action, list[Call], None]
Reading = Generator[Action, list[Call], str]
SUBMIT = 'button "Submit"'


def _act(tool: str, **args: Any) -> ToolCall:
    return ToolCall(tool=tool, args=args)


def _click(element: str) -> ToolCall:
    return _act("click", element=element)


def _fill(element: str, value: str) -> ToolCall:
    return _act("fill", element=element, value=value)


def _look() -> Reading:
    """The page as it is now."""
    calls = yield _act("noop", ms=0)
    return str(calls[-1].result)


def _clicks(*elements: str) -> Callable[[Fields], Doing]:
    """A task of fixed clicks; `{field}` stands for a field's value."""

    def solve(fields: Fields) -> Doing:
        for element in elements:
            yield _click(element.format(**fields))

    return solve


def _fills(*pairs: tuple[str, str], then: str = SUBMIT) -> Callable[[Fields], Doing]:
    """A form of fixed fields, filled and submitted."""

    def solve(fields: Fields) -> Doing:
        for element, value in pairs:
            yield _fill(element, value.format(**fields))
        yield _click(then)

    return solve


def _checkboxes(fields: Fields) -> Doing:
    for name, value in fields.items():
        if name.startswith("target"):
            yield _click(f'checkbox "{value}"')
    yield _click(SUBMIT)


def _choose(fields: Fields) -> Doing:
    """One option, or several separated by commas."""
    options = "|".join(one.strip() for one in fields["target"].split(","))
    calls = yield _act("select_option", element='"options"', options=options)
    if calls[-1].ok:
        yield _click(SUBMIT)


def _collapsible(fields: Fields) -> Doing:
    page = yield from _look()
    header = re.search(r'tab "(Section #\d+)"', page)
    assert header is not None, page
    yield _click(f'tab "{header[1]}"')
    yield _act("noop", ms=400)  # the section unrolls
    yield _click('"Submit"')


def _in_case(fields: Fields) -> Doing:
    text = fields["text"]
    yield _fill("tt", text.lower() if fields["case"] == "lower" else text.upper())
    yield _click(SUBMIT)


def _nth_textbox(fields: Fields) -> Doing:
    yield _act("focus", element=f'textbox "tt{fields["target"]}"')


def _date(fields: Fields) -> Doing:
    day = datetime.datetime.strptime(fields["target"], "%m/%d/%Y")
    yield _fill("tt", day.strftime("%Y-%m-%d"))
    yield _click(SUBMIT)


def _time(fields: Fields) -> Doing:
    moment = datetime.datetime.strptime(fields["target"].replace(" ", ""), "%I:%M%p")
    yield _fill("tt", moment.strftime("%H:%M"))
    yield _click(SUBMIT)


def _arithmetic(fields: Fields) -> Doing:
    page = yield from _look()
    found = re.search(r"^\s*(-?\d+) ([-+x×*]) (-?\d+) =", page, re.MULTILINE)
    assert found is not None, page
    a, sign, b = int(found[1]), found[2], int(found[3])
    yield _fill("math answer", str(a + b if sign == "+" else a - b if sign == "-" else a * b))
    yield _click(SUBMIT)


def _table_value(page: str, label: str) -> str:
    found = re.search(rf"row: {re.escape(label)} \| (.*)$", page, re.MULTILINE)
    assert found is not None, page
    return found[1].strip()


def _read_table(fields: Fields) -> Doing:
    page = yield from _look()
    yield _fill("tt", _table_value(page, fields["target"]))
    yield _click(SUBMIT)


def _read_two(fields: Fields) -> Doing:
    page = yield from _look()
    for number, label in enumerate(re.findall(r"^\s*(.+):\n\s*\[", page, re.MULTILINE), 1):
        yield _fill(f"tt{number}", _table_value(page, label))
    yield _click(SUBMIT)


def _odd_or_even(fields: Fields) -> Doing:
    page = yield from _look()
    numbers = re.findall(r'"Odd"[^\n]*\n\s*(-?\d+)\n', page)
    for place, number in enumerate(numbers, 1):
        yield _click(f'button "{"Odd" if int(number) % 2 else "Even"}" #{place}')
    yield _click(SUBMIT)


def _guess(fields: Fields) -> Doing:
    """Halves the interval by the page's answers."""
    low, high = 0, 9
    while low <= high:
        middle = (low + high) // 2
        yield _fill("tt", str(middle))
        calls = yield _click(SUBMIT)
        page = str(calls[-1].result)
        if "higher" in page:
            low = middle + 1
        elif "lower" in page:
            high = middle - 1
        else:
            return


def _search(fields: Fields) -> Doing:
    """Three results a page."""
    yield _fill("search text", fields["query"])
    calls = yield _click('button "Search"')
    rank = int(fields["rank"])
    for _ in range((rank - 1) // 3):
        calls = yield _click('link ">"')
    results = re.findall(r'\[\d+\] link "([^"]+)"', str(calls[-1].result))
    results = [name for name in results if not re.fullmatch(r"[<>\d]+", name)]
    yield _click(f'link "{results[(rank - 1) % 3]}" #1')


def _star(fields: Fields) -> Doing:
    page = yield from _look()
    mail = re.search(rf'clickable "({re.escape(fields["by"])} [^"]*)"', page)
    assert mail is not None, page
    kind = {"star": "star", "delete": "trash"}[fields["task"]]
    yield _click(f'clickable "{kind}" in clickable "{mail[1][:59] + "…" if len(mail[1]) > 60 else mail[1]}"')


def _greatest(fields: Fields) -> Doing:
    page = yield from _look()
    best = max(map(int, re.findall(r'clickable "(\d+)"', page)))
    yield _click(f'clickable "{best}" #1')
    yield _click(SUBMIT)


def _word(fields: Fields) -> Doing:
    page = yield from _look()
    paragraph = page.split("---\n", 1)[1].split("\n")[1]
    words = re.findall(r"[A-Za-z]+", paragraph)
    yield _fill("answer input", words[int(fields["target"]) - 1])
    yield _click(SUBMIT)


def _transform(fields: Fields) -> Doing:
    page = yield from _look()
    yield _fill("tt", page.split("---\n", 1)[1].split("\n")[1].strip())
    yield _click(SUBMIT)


def _copy(fields: Fields) -> Doing:
    page = yield from _look()
    text = re.search(r'"to copy" value="([^"]*)"', page)
    assert text is not None, page
    yield _fill("answer input", text[1])
    yield _click(SUBMIT)


def _spinner(fields: Fields) -> Doing:
    yield _fill("Select a value:", fields["target"])
    yield _click(SUBMIT)


def _ticket(fields: Fields) -> Doing:
    """Costs stand on the buttons, durations above them."""
    page = yield from _look()
    costs = [int(cost) for cost in re.findall(r'button "Book for \$(\d+)"', page)]
    durations = re.findall(r"^\s*(?:(\d+)h)? ?(?:(\d+)m)?$", page, re.MULTILINE)
    lasting = [60 * int(hours or 0) + int(minutes or 0) for hours, minutes in durations if hours or minutes]
    values = costs if "cost" in fields["target"] else lasting
    most = fields["target"].startswith(("longest", "most"))
    best = values.index(max(values) if most else min(values))
    yield _click(f'button "Book for ${costs[best]}" #1')


SOLUTIONS: dict[str, Callable[[Fields], Iterator[Action]]] = {
    "buy-ticket": _ticket,
    "choose-list": _choose,
    "click-button": _clicks('button "{target}" #1'),
    "click-button-sequence": _clicks('button "ONE"', 'button "TWO"'),
    "click-checkboxes": _checkboxes,
    "click-collapsible": _collapsible,
    "click-dialog": _clicks('"Close"'),
    "click-dialog-2": _clicks('"{target}"'),
    "click-link": _clicks('clickable "{target}" #1'),
    "click-option": _clicks('radio "{target}"', SUBMIT),
    "click-scroll-list": _choose,
    "click-tab": _clicks('tab "Tab #{target}"'),
    "click-test": _clicks('button "Click Me!"'),
    "click-test-2": _clicks('button "ONE"'),
    "copy-paste": _copy,
    "email-inbox-important": _star,
    "enter-date": _date,
    "enter-password": _fills(("password", "{target}"), ("verify", "{target}")),
    "enter-text": _fills(("tt", "{target}")),
    "enter-text-2": _in_case,
    "enter-text-dynamic": _fills(("tt", "{target}")),
    "enter-time": _time,
    "find-greatest": _greatest,
    "find-word": _word,
    "focus-text": _clicks("tt"),
    "focus-text-2": _nth_textbox,
    "guess-number": _guess,
    "login-user": _fills(("username", "{username}"), ("password", "{password}"), then='button "Login"'),
    "odd-or-even": _odd_or_even,
    "read-table": _read_table,
    "read-table-2": _read_two,
    "search-engine": _search,
    "simple-arithmetic": _arithmetic,
    "text-transform": _transform,
    "unicode-test": _clicks('button "{target}" #1'),
    "use-spinner": _spinner,
}
