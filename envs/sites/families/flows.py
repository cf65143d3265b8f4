"""Words an oracle is written in: what a person does in a browser. All of them are generators for `yield from`.

Each returns the page afterwards as text, its first part: what the agent sees. Elements are named by role and name, as
the view shows them: `link "Orders"`, `button "Save" in row "Lamp"`, `textbox "Title"`.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

from rebind.errors import RebindError
from rebind.types import Call, ToolCall

T = TypeVar("T")
Flow: TypeAlias = Generator[ToolCall, tuple[Call, ...], T]
"""Yields tool calls, is sent the calls each step made, returns a T."""
Oracle: TypeAlias = Flow[None]


class OracleFailed(RebindError):
    """An oracle's action was refused."""


class NotThere(RebindError):
    """What the goal speaks of is not on the sites: the right move is `report_infeasible`."""


def act(tool: str, **args: Any) -> Flow[str]:
    """One action. Raises `OracleFailed` where it is refused."""
    made = yield ToolCall(tool=tool, args=args)
    last = made[-1] if made else None
    if last is None or not last.ok:
        said = last.result["error"] if last is not None and isinstance(last.result, dict) else "no action"
        raise OracleFailed(f"{tool}({args}) was refused: {said}")
    return str(last.result)


def goto(path: str) -> Flow[str]:
    return act("goto", url=path)


def click(*elements: str) -> Flow[str]:
    """Clicks one element after the other."""
    page = ""
    for element in elements:
        page = yield from act("click", element=element)
    return page


def fill(element: str, value: Any) -> Flow[str]:
    return act("fill", element=element, value=str(value))


def form(**fields: Any) -> Flow[str]:
    """Fills text fields by their labels; in keywords, "_" stands for a space: `form(Post_code="12345")`."""
    page = ""
    for label, value in fields.items():
        page = yield from fill(f'textbox "{label.replace("_", " ")}"', value)
    return page


def choose(element: str, option: str) -> Flow[str]:
    return act("select_option", element=element, options=option)


def press(key: str, element: str) -> Flow[str]:
    return act("press", key=key, element=element)


def rest(page: str) -> Flow[str]:
    """All parts of a long page, joined."""
    found = re.search(r"^part \d+ of (\d+) of this page", page, re.MULTILINE)
    text = page
    for part in range(2, int(found[1]) + 1 if found else 2):
        text += "\n" + (yield from act("view_part", part=part))
    return text


def reads(pattern: str, page: str, what: str = "") -> str:
    """The first group of a regular expression on a page. Raises `NotThere` where it is not there."""
    found = re.search(pattern, page, re.MULTILINE)
    if found is None:
        raise NotThere(what or pattern)
    return found[1].strip()


def must(condition: Any, what: str) -> None:
    """Raises `NotThere` unless the condition holds."""
    if not condition:
        raise NotThere(what)


def pick(shown: str, option: str) -> Flow[str]:
    """Chooses from a combobox that shows its options only once it is opened; `shown` is what it shows before."""
    return (yield from click(f'combobox "{shown}"', f'option "{option}"'))


def done(text: str = "done") -> Oracle:
    """Ends the task: says that it is done, or gives the answer."""
    yield from act("send_msg_to_user", text=text)


# --- the shop -------------------------------------------------------------------------------------------------------


def open_product(title: str) -> Flow[str]:
    """From any page of the shop to a product's, through the search."""
    yield from fill('textbox "Search"', title)
    page = yield from click('button "Search"')
    must(f'link "{title}"' in page, f"no product {title}")
    return (yield from click(f'link "{title}" #1'))


def dashboard(menu: str, item: str) -> Flow[str]:
    """From any page of the dashboard to a list of its menu."""
    return (yield from click(f'button "{menu}"', f'link "{item}"'))


def open_order(number: str) -> Flow[str]:
    """From any page of the dashboard to an order's."""
    yield from dashboard("Fulfilment", "Orders")
    yield from fill('textbox "Order number: Order number"', number)
    page = yield from click('button "Search"')
    must(f"# Order #{number}" in page, f"no order {number}")
    return page


# --- the forum and the wiki -----------------------------------------------------------------------------------------


def open_topic(forum: str, subject: str) -> Flow[str]:
    """From the forum's index to a topic."""
    page = yield from click(f'link "{forum}"')
    page = yield from rest(page)
    must(f'link "{subject}"' in page, f"no topic {subject}")
    return (yield from click(f'link "{subject}"'))


def open_article(title: str) -> Flow[str]:
    """From the wiki's front page, or a section's, to an article below it."""
    return (yield from click(f'link "{title}"'))


# --- the service desk and the inventory -----------------------------------------------------------------------------


def open_ticket(title: str) -> Flow[str]:
    """From any page of the service desk to the one ticket with that title, through the search."""
    yield from fill('textbox "Search"', title)
    page = yield from click('button "Go"')
    found = re.search(rf'link "(\d+\. {re.escape(title)})"', page)
    must(found, f"no ticket {title}")
    assert found is not None  # said by must
    return (yield from click(f'link "{found[1]}"'))


def open_asset(tag: str) -> Flow[str]:
    """From the list of assets to one asset's form."""
    page = yield from find_in_list(tag)
    must(f'link "{tag}"' in page, f"no asset {tag}")
    return (yield from click(f'link "{tag}"'))


def find_in_list(words: str) -> Flow[str]:
    """Searches a list of the inventory."""
    yield from fill('textbox "Search"', words)
    return (yield from click('button "Search"'))
