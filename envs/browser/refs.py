"""How an action names an element: by its number in the view, or by role, name and what it stands in."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBER = re.compile(r"\[?\s*(?:(\d+)\.)?(\d+)\s*\]?")
_PART = re.compile(r'\s*(?:\[(?:\d+\.)?\d+\]\s*)?([A-Za-z]*)\s*"([^"]*)"')
_COUNT = re.compile(r"\s*#(\d+)\s*\Z")
_IN = re.compile(r"\s+in\s+")

FORM = 'an element is its number in the view, such as 12, or its role and name, such as button "Save"'


@dataclass(frozen=True)
class Numbered:
    """An element of the last view. `frame` is the iframe's number, empty for the page itself."""

    frame: str
    number: int


@dataclass(frozen=True)
class Described:
    """An element by role and name, within containers, the nearest first; `count` picks one of several, from 1."""

    parts: tuple[tuple[str, str], ...]
    count: int | None

    def as_json(self) -> list[dict[str, str]]:
        return [{"kind": kind, "name": name} for kind, name in self.parts]


def parse(text: str) -> Numbered | Described:
    """Reads an element reference. Text that is neither a number nor a description is taken as a name alone.

    Raises:
        ValueError: it is empty.
    """
    text = text.strip()
    if not text:
        raise ValueError(f"no element is named; {FORM}")
    number = _NUMBER.fullmatch(text)
    if number:
        return Numbered(number[1] or "", int(number[2]))
    count = _COUNT.search(text)
    rest = text[: count.start()] if count else text
    parts: list[tuple[str, str]] = []
    at = 0
    while found := _PART.match(rest, at):
        parts.append((found[1].lower(), found[2]))
        joint = _IN.match(rest, found.end())
        at = joint.end() if joint else found.end()
        if joint is None:
            break
    if not parts or at != len(rest):
        return Described((("", text),), None)
    return Described(tuple(parts), int(count[1]) if count else None)
