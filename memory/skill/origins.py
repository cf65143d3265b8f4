"""Finds where the arguments of a trajectory's calls came from: the instruction, an earlier result, or neither."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import JsonValue

from rebind.memory.skill.events import Event
from rebind.memory.skill.places import LEAST_LETTERS, LEAST_NUMBER, Leaf, Places
from rebind.memory.skill.refs import Const, Flow, Hole, Ref, Several, Template
from rebind.memory.values import bindings_in, mentions, says

_FIXED_KEYS = frozenset({"page", "page_size", "limit", "offset", "sort"})
_WORD = re.compile(r"[\w@$'’.:/-]*\w")
_PROSE_WORDS = 3
"""A text of at least so many words whose origin is unknown is written anew for each task."""


def origins(instruction: str, events: Sequence[Event], kept: frozenset[int]) -> dict[int, dict[str, Ref]]:
    """A reference for every argument of the events to be kept, which may read only from one another."""
    places = Places(instruction, events, kept)
    found: dict[int, dict[str, Ref]] = {}
    for number in sorted(kept):
        given = events[number].args
        found[number] = {key: _origin(places, number, key, value) for key, value in given.items()}
        for key, ref in found[number].items():
            _note(places, ref, given[key])
    return found


def _note(places: Places, ref: Ref, value: JsonValue) -> None:
    """Lets later events find what this one was called with, also inside lists and texts."""
    if isinstance(ref, Several) and isinstance(value, list):
        for inner, v in zip(ref.items, value, strict=True):
            places.note(inner, v)
    elif isinstance(ref, Template):
        for part in ref.parts:
            if isinstance(part, Hole):
                places.note(part, part.value)
    else:
        places.note(ref, value)


def _origin(places: Places, event: int, key: str, value: JsonValue) -> Ref:
    """The instruction comes first, then what was used before, then earlier results. What is left is a constant if it
    looks like one, and else a hole: the source's own value must not be carried into another task."""
    if isinstance(value, list) and value:
        return _several(places, event, key, value)
    if not isinstance(value, str | int | float) or isinstance(value, bool) or value == "" or key in _FIXED_KEYS:
        return Const(value)
    said = says(places.instruction, value)
    chance = said and not isinstance(value, str) and places.elsewhere(event, key)
    if said and not chance:
        return Hole(value, "query", key, places.events[event].tool, event)
    known = places.again(event, key, value) or places.find(event, key, value)
    if known:
        return known
    if chance:
        return Hole(value, "observation", key, places.events[event].tool, event)
    found = _text(places, event, key, value) if isinstance(value, str) else _number(places, event, key, value)
    return _hole(places, event, key, value) if isinstance(found, Const) and places.varies(event, key) else found


def _several(places: Places, event: int, key: str, values: list[JsonValue]) -> Ref:
    """A list: of several elements that are no constants one hole, for how many there are is then as much the task's as
    which they are."""
    items = tuple(_origin(places, event, key, v) for v in values)
    if len(items) == 1 or all(isinstance(one, Const) for one in items):
        return Several(items)
    told = all(isinstance(one, Hole) and one.provenance == "query" for one in items)
    return Hole(values, "query" if told else "observation", key, places.events[event].tool, event)


def _number(places: Places, event: int, key: str, value: int | float) -> Ref:
    """A small number is a constant, a large one a value."""
    return _hole(places, event, key, value) if abs(value) >= LEAST_NUMBER else Const(value)


def _text(places: Places, event: int, key: str, text: str) -> Ref:
    """A text made of values and words: a template if every part that may be a value has an origin, and else a hole."""
    parts: list[str | Ref] = [text]
    for value, ref in _pieces(places, event, key, text):
        parts = [new for part in parts for new in (_split(part, value, ref) if isinstance(part, str) else [part])]
    if len(parts) > 1:
        parts = [_quoted(places, event, key, p) if isinstance(p, str) else p for p in parts]
    rest = " ".join(p for p in parts if isinstance(p, str))
    unknown = _has_values(places, event, rest)
    if len(parts) > 1 and not unknown:
        return Template(tuple(parts))
    return _hole(places, event, key, text) if unknown or len(text.split()) >= _PROSE_WORDS else Const(text)


def _quoted(places: Places, event: int, key: str, words: str) -> str | Hole:
    """Words that the instruction has in quotes are a value of the task."""
    said = any(f"{mark}{words.strip()}" in places.instruction for mark in "\"'“‘«")
    return Hole(words, "query", key, places.events[event].tool, event) if words.strip() and said else words


def _hole(places: Places, event: int, key: str, value: Leaf) -> Hole:
    """A value for the caller to give: one that results showed must be looked up, another made from the task."""
    provenance: Literal["query", "observation"] = "observation" if places.seen(event, value) else "query"
    return Hole(value, provenance, key, places.events[event].tool, event)


def _has_values(places: Places, event: int, rest: str) -> bool:
    """Whether words may be values of this task: binding-like, numbers, or words that an earlier result showed."""
    if any(True for _ in bindings_in("", rest.strip())) or re.search(r"\d", rest):
        return True
    words = {w for w in re.findall(r"\w+", rest.casefold()) if len(w) >= LEAST_LETTERS}
    return bool(words & places.words(event))


def _pieces(places: Places, event: int, key: str, text: str) -> list[tuple[str, Ref]]:
    """Values in a text that have an origin, longest first."""
    pieces: dict[str, Ref] = {}
    for span in _spans(text, places.instruction):
        pieces.setdefault(span, Hole(span, "query", key, places.events[event].tool, event))
    for number, path, leaf in places.leaves(event):
        for spelt, amount in _spelt(leaf):
            if spelt not in pieces and mentions(text, spelt):
                flow = places.reference(number, path)
                if flow:
                    pieces[spelt] = Flow(flow.event, flow.path, flow.where, flow.first, amount)
    return sorted(pieces.items(), key=lambda pair: -len(pair[0]))


def _spelt(leaf: Leaf) -> list[tuple[str, bool]]:
    """How a leaf may stand in a text, and whether that is as an amount."""
    if isinstance(leaf, str):
        return [(leaf, False)] if len(leaf) >= LEAST_LETTERS else []
    if isinstance(leaf, int) and abs(leaf) >= LEAST_NUMBER:
        return [(f"{leaf / 100:.2f}", True), (str(leaf), False)]
    return []


def _spans(text: str, instruction: str) -> Iterator[str]:
    """Runs of words, the first with a capital or a digit, that the instruction has too; the longest from each start."""
    taken = 0
    words = list(_WORD.finditer(text))
    for start, first in enumerate(words):
        if first.start() < taken or not re.search(r"[A-Z\d]", first.group()):
            continue
        for last in reversed(words[start:]):
            span = text[first.start() : last.end()]
            if len(span) > 1 and mentions(instruction, span):
                yield span
                taken = last.end()
                break


def _split(text: str, value: str, ref: Ref) -> list[str | Ref]:
    """The text with the value's occurrences, as whole words, replaced by its reference."""
    pieces = re.split(rf"(?<!\w){re.escape(value)}(?!\w)", text)
    found: list[str | Ref] = [pieces[0]]
    for piece in pieces[1:]:
        found += [ref, piece]
    return [p for p in found if p != ""]
