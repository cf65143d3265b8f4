"""Earlier results as a store of values: where a value stands, and a reference that finds it again in another world."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

from pydantic import JsonValue

from rebind.memory.skill.events import Event
from rebind.memory.skill.reads import only_reads
from rebind.memory.skill.refs import Flow, Hole, Ref
from rebind.memory.skill.request import masked
from rebind.memory.skill.select import alike, matching
from rebind.memory.values import mentions, says, stands_in

LEAST_NUMBER = 100
"""Smaller numbers turn up everywhere: an equal one in a result is no sign that it came from there."""
LEAST_LETTERS = 3
_LONGEST_LABEL = 80
"""Longer fields are prose, by which no element is picked."""
_LABEL_KEY = re.compile(r"(?:^|_)(?:e?mail|id|body|content|text|description)$")
"""Fields by which an element is picked only if they are equal to a value, not if one merely names the other."""

_ORDER = re.compile(
    r"\b(?:(?:new|lat|old|earli|near|clos|low|high|cheap|larg|bigg|small|long|short|great)est"
    r"|most|least|recent|first|last|next|previous|best|worst|top)\b",
    re.IGNORECASE,
)
"""Words by which a task asks for one of several by their order."""

Path = tuple[str | int, ...]
Leaf = str | int | float
Tests = dict[str, tuple[Ref, JsonValue]]
"""Fields, each with the reference and the value it must fit."""


@dataclass
class Places:
    """The results of a trajectory's events, and the values that its calls were made with so far."""

    instruction: str
    events: Sequence[Event]
    kept: frozenset[int]
    """Events that a reference may read from; the others only show what could be seen."""
    _given: list[tuple[Hole, Leaf]] = field(default_factory=list)
    _flows: list[tuple[Flow, Leaf]] = field(default_factory=list)

    @cached_property
    def _asked_first(self) -> list[int]:
        """For every event the first one with the same tool and arguments."""
        first: dict[str, int] = {}
        return [first.setdefault(f"{e.tool} {sorted(e.args.items())}", n) for n, e in enumerate(self.events)]

    def note(self, ref: Ref, value: JsonValue) -> None:
        """Remembers what a call was made with: elements may be picked by it, and the value is found there again."""
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            if isinstance(ref, Hole):
                self._given.append((ref, value))
            elif isinstance(ref, Flow):
                self._flows.append((ref, value))

    def varies(self, event: int, key: str) -> bool:
        """Whether other calls of the tool hold something else there: then it is a value, however plain it looks."""
        own = self.events[event]
        others = (self.events[n] for n in self.kept if self.events[n].tool == own.tool)
        return any(key in e.args and e.args[key] != own.args[key] for e in others)

    def elsewhere(self, event: int, key: str) -> bool:
        """Whether other calls of the tool hold a number there that the task does not say: then one that it says is
        equal by chance ("five of each", and five of something in a list)."""
        own = self.events[event]
        others = (self.events[n].args.get(key) for n in self.kept if self.events[n].tool == own.tool)
        numbers = (v for v in others if isinstance(v, int | float) and not isinstance(v, bool))
        return any(not says(self.instruction, v) for v in numbers)

    def again(self, event: int, key: str, value: Leaf) -> Flow | Hole | None:
        """The reference that gave the same telling value to an earlier call. That an earlier call of the same tool held
        the same is no sign where the task does not say it: two things may cost the same."""
        if (isinstance(value, str) and len(value) < LEAST_LETTERS) or (isinstance(value, int) and value < LEAST_NUMBER):
            return None
        tool = self.events[event].tool
        given = [(ref, v) for ref, v in self._given if (ref.tool, ref.key) != (tool, key)]
        known: Sequence[tuple[Flow | Hole, Leaf]] = [*self._flows, *given]
        return next((ref for ref, v in known if v == value and type(v) is type(value)), None)

    def find(self, before: int, key: str, value: Leaf) -> Flow | None:
        """A reference to a result before an event that held the value; None where none did, or none can be told apart.

        Results outside lists come first, the earliest of them: later ones may be re-checks. Then lists, the latest
        question first: earlier ones may be searches that went wrong; but of a question that was repeated, the first
        time. Fields of the argument's name go before others.
        """
        found = [
            (number, path)
            for number, path, leaf in self.leaves(before)
            if leaf == value
            and type(leaf) is type(value)
            and self._telling(number, leaf, key, path)
            and not self._echoes(number, value)
        ]
        found.sort(
            key=lambda at: (not _same_key(key, at[1]), -self._asked_first[at[0]] if _in_list(at[1]) else 0, at[0])
        )
        found.sort(key=lambda at: _in_list(at[1]))
        references = (self.reference(number, path) for number, path in found)
        return next((r for r in references if r), None)

    def _telling(self, number: int, leaf: Leaf, key: str, path: Path) -> bool:
        """Whether an equal value is a sign of an origin: a text of some length, a large number, a field of that name
        in what was read."""
        long = len(leaf) >= LEAST_LETTERS if isinstance(leaf, str) else abs(leaf) >= LEAST_NUMBER
        return long or (_same_key(key, path) and only_reads(self.events[number].tool))

    def _echoes(self, number: int, value: Leaf) -> bool:
        """Whether a result may only show what a call was given: that call's own, or a later look at what it did."""
        given = self.events[number].args.values()
        own = any(value in one if isinstance(one, list) else value == one for one in given)
        return own or any(ref.event < number and v == value for ref, v in self._given)

    def seen(self, before: int, value: Leaf) -> bool:
        """Whether any earlier result showed the value, as a whole or inside a text."""
        said = str(value)
        return any(mentions(str(leaf), said) for n in range(before) for _, leaf in _leaves(self.events[n].result))

    def words(self, before: int) -> set[str]:
        """All words, in lower case, that earlier results showed."""
        texts = (str(leaf) for n in range(before) for _, leaf in _leaves(self.events[n].result))
        return {word for text in texts for word in re.findall(r"\w+", text.casefold())}

    def leaves(self, before: int) -> Iterator[tuple[int, Path, Leaf]]:
        """Every text and number in the results of earlier events that may be read from, latest event first."""
        for number in sorted(self.kept, reverse=True):
            if number < before:
                for path, leaf in _leaves(self.events[number].result):
                    yield number, path, leaf

    def reference(self, number: int, path: Path) -> Flow | None:
        """A reference that reads a path of an event's result; an element of a list is picked by what its fields say,
        not by its place. None where its fields do not tell it from the others."""
        at = next((n for n, part in enumerate(path) if isinstance(part, int)), None)
        if at is None:
            return Flow(number, path)
        items = _follow(self.events[number].result, path[:at])
        if not isinstance(items, list) or _in_list(path[at + 1 :]):
            return None
        picked = self._pick(number, items, cast(int, path[at]))
        if picked is None:
            return None
        where, first = picked
        return Flow(number, (*path[:at], "*", *path[at + 1 :]), where, first)

    def _pick(
        self, number: int, items: Sequence[JsonValue], position: int
    ) -> tuple[tuple[tuple[str, Ref], ...], bool] | None:
        """Fields with what they must fit, and whether the first of several is meant.

        That needs a task that asks for an order, and a field that is equal to a value and leaves some elements out; the
        API's order then decides. Otherwise the first is the one that was meant by chance. An element that is alone
        needs no test.
        """
        element = items[position]
        if not isinstance(element, dict):
            return None
        tests: Tests = self._by_query(element)
        for more in (self._by_instruction(number, element), self._by_flow(number, element)):
            if len(_fitting(items, tests)) == 1:
                break
            tests = {**more, **tests}
        fitting = _fitting(items, tests)
        several = len(fitting) > 1
        telling = len(fitting) < len(items) and any(element[name] == v for name, (_, v) in tests.items())
        if fitting[0] != position or (several and not (telling and _ORDER.search(masked(self.instruction)))):
            return None
        return tuple((name, ref) for name, (ref, _) in tests.items()), several

    def _by_query(self, element: Mapping[str, JsonValue]) -> Tests:
        """Fields that are values which earlier calls took from the task; failing that, fields that name or are named by
        such a value."""
        queries = [(ref, v) for ref, v in self._given if ref.provenance == "query" and isinstance(v, str)]
        equal: Tests = {}
        near: Tests = {}
        for name, value in _labels(element):
            for ref, v in queries:
                if value.casefold() == str(v).casefold():
                    equal.setdefault(name, (ref, v))
                elif alike(value, v) and not _LABEL_KEY.search(name):
                    near.setdefault(name, (ref, v))
        return equal or near

    def _by_instruction(self, number: int, element: Mapping[str, JsonValue]) -> Tests:
        """Fields that the task's own words name."""
        tool = self.events[number].tool
        return {
            name: (Hole(value, "query", name, tool, number, picks=True), value)
            for name, value in _labels(element)
            if self._spells(value) and not _LABEL_KEY.search(name)
        }

    def _spells(self, value: str) -> bool:
        """Whether the task says a field's value. A single word must have its capitals: the category "home" is not the
        address "Home"."""
        if " " in value.strip():
            return says(self.instruction, value)
        return stands_in(self.instruction, value)

    def _by_flow(self, number: int, element: Mapping[str, JsonValue]) -> Tests:
        """Fields equal to a value that an earlier call took from a result before this one."""
        found: Tests = {}
        for name, value in _labels(element):
            known = next((ref for ref, v in self._flows if v == value and ref.event < number), None)
            if known:
                found[name] = (known, value)
        return found


def _fitting(items: Sequence[JsonValue], tests: Tests) -> list[int]:
    return matching(items, {name: value for name, (_, value) in tests.items()})


def _labels(element: Mapping[str, JsonValue]) -> Iterator[tuple[str, str]]:
    """Short text fields."""
    for name, value in element.items():
        if isinstance(value, str) and 1 < len(value) <= _LONGEST_LABEL:
            yield name, value


def _leaves(value: JsonValue, path: Path = ()) -> Iterator[tuple[Path, Leaf]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, (*path, name))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from _leaves(inner, (*path, at))
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield path, value


def _follow(value: JsonValue, path: Path) -> JsonValue:
    for part in path:
        value = value[part]  # type: ignore[index]  # the path was found in this very value
    return value


def _in_list(path: Path) -> bool:
    return any(isinstance(part, int) for part in path)


def _same_key(key: str, path: Path) -> bool:
    """Whether an argument's name is the name of the field it came from ("mail_id": "id" or "mail_id")."""
    last = path[-1] if path else ""
    return last == key or (last == "id" and key.endswith("id"))
