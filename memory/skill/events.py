"""A trajectory's successful calls, with the walk over a listing's pages folded into one event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from rebind.memory.skill.reads import only_reads
from rebind.memory.skill.select import ITEMS, PAGES
from rebind.types import Call, Step

PAGE = "page"


@dataclass(frozen=True)
class Event:
    """One call, or all pages of a listing (`paged`), whose result then holds the elements of all of them."""

    tool: str
    args: dict[str, JsonValue]
    result: JsonValue
    paged: bool = False


def events(steps: Sequence[Step]) -> list[Event]:
    """The events of a trajectory; failed calls are left out."""
    calls = [c for s in steps for c in s.calls if c.ok]
    found: list[Event] = []
    folded: set[int] = set()
    for at, call in enumerate(calls):
        if at in folded:
            continue
        walk = _walk(calls, at)
        folded.update(walk)
        if walk:
            items = [item for n in walk for item in listing(calls[n].result) or ()]
            args = {k: v for k, v in call.args.items() if k != PAGE}
            found.append(Event(call.tool, args, {ITEMS: items}, paged=True))
        else:
            found.append(Event(call.tool, dict(call.args), call.result))
    return found


def listing(result: JsonValue) -> list[JsonValue] | None:
    """The elements of a page; None for what is no page."""
    items = result.get(ITEMS) if isinstance(result, dict) else None
    return items if isinstance(items, list) else None


def page_count(result: JsonValue) -> int | None:
    """How many pages a listing has; None for what is no page."""
    pages = result.get(PAGES) if isinstance(result, dict) else None
    return pages if isinstance(pages, int) and listing(result) is not None else None


def _walk(calls: Sequence[Call], start: int) -> list[int]:
    """Positions of the calls that ask for pages 1, 2, … to the last of one listing, with nothing but reading between
    them; none where no such walk starts here."""
    first = calls[start]
    pages = page_count(first.result)
    if first.args.get(PAGE) != 1 or pages is None:
        return []
    walk = [start]
    for at in range(start + 1, len(calls)):
        if len(walk) >= pages or not only_reads(calls[at].tool):
            break
        if calls[at].tool == first.tool and calls[at].args == {**first.args, PAGE: len(walk) + 1}:
            walk.append(at)
    return walk if len(walk) >= pages else []
