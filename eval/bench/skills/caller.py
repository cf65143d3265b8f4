"""A caller that reads perfectly: what a skill's slots should hold on a task, worked out from the task's own solution.

It stands in for a model's reading, so that what is measured is the memory: which skills are found, and whether they
run. It knows the calls that solve the task and what they returned, and nothing of the skill but its steps. It declines
a skill that does not do all that the task needs written, as anybody would who has read the task.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from rebind.memory.skill.events import PAGE, Event, events
from rebind.memory.skill.reads import finishes, only_reads
from rebind.memory.values import leaves, mentions, says
from rebind.types import Call, Record, Skill, SkillStep

Values = dict[str, JsonValue]
_MOST_TRIES = 3_000
"""Steps laid over events before a skill is taken not to fit."""


@dataclass(frozen=True)
class Filled:
    """Values for a skill, and the calls of the solution that the caller still has to make before, in order."""

    values: Values
    before: tuple[Call, ...]


class PerfectCaller:
    """Fills skills for one task."""

    def __init__(self, solution: Record, *, whole: bool = True) -> None:
        """`solution`: a run that solves the task, without detours. `whole`: whether a skill must do all that the task
        needs written."""
        self._goal = solution.instruction
        self.calls = [c for s in solution.steps for c in s.calls if c.ok]
        self._events = events(solution.steps)
        self._tries = 0

        self._must = frozenset(
            n for n, e in enumerate(self._events) if whole and not only_reads(e.tool) and not finishes(e.tool)
        )

    def fill(self, skill: Skill, known: Mapping[str, JsonValue]) -> Filled | None:
        """Values for a skill's slots, those that are known among them; None where the skill does not fit the task."""
        self._tries = 0
        for values, used in self._aligned(skill, dict(known)):
            if self._must <= used and all(s.name in values for s in skill.slots):
                return Filled(values, self._before(values, used))
        return None

    def _aligned(self, skill: Skill, known: Values) -> Iterator[tuple[Values, frozenset[int]]]:
        """Ways to lay a skill's steps over the solution's events: values, and the events that are covered."""
        singles = [n for n, step in enumerate(skill.steps) if not step.each]
        for values, places in self._laid(skill.steps, singles, known, {}):
            rows = self._rows(skill.steps, values, places)
            if rows is not None:
                yield rows

    def _laid(
        self, steps: Sequence[SkillStep], left: Sequence[int], values: Values, places: dict[int, int]
    ) -> Iterator[tuple[Values, dict[int, int]]]:
        if not left:
            yield values, places
            return
        step = steps[left[0]]
        for at, event in enumerate(self._events):
            if at in places.values() or not _same_call(step, event) or self._tries >= _MOST_TRIES:
                continue
            self._tries += 1
            found = self._unified(step.args, event, values, places)
            if found is not None:
                yield from self._laid(steps, left[1:], found, {**places, left[0]: at})

    def _rows(
        self, steps: Sequence[SkillStep], values: Values, places: Mapping[int, int]
    ) -> tuple[Values, frozenset[int]] | None:
        """Steps over rows take every event of their kind that is left."""
        used = frozenset(places.values())
        for step in steps:
            if not step.each:
                continue
            own = [n for n, e in enumerate(self._events) if n not in used and _same_call(step, e)]
            fields = [key for key, value in step.args.items() if isinstance(value, dict) and "row" in value]
            shared = {key: value for key, value in step.args.items() if key not in fields}
            found = self._unified(shared, self._events[own[0]], values, places) if own else None
            if found is None:
                return None
            rows: list[JsonValue] = [{key: self._events[n].args[key] for key in fields} for n in own]
            values, used = {**found, step.each: rows}, used | frozenset(own)
        return values, used

    def _unified(
        self, args: Mapping[str, JsonValue], event: Event, values: Values, places: Mapping[int, int]
    ) -> Values | None:
        """The values under which a step makes the event's call; None where none do. Constants are not compared: a
        caller does not see them."""
        found: Values | None = dict(values)
        for key, stored in args.items():
            if key != PAGE and found is not None:
                found = self._match(stored, event.args[key], found, places)
        return found

    def _match(self, stored: JsonValue, actual: JsonValue, values: Values, places: Mapping[int, int]) -> Values | None:
        if not isinstance(stored, dict):
            return self._listed(stored, actual, values, places) if isinstance(stored, list) else values
        if "slot" in stored:
            return _bound(values, str(stored["slot"]), actual)
        if "template" in stored and isinstance(stored["template"], list):
            parts = [self._literal(part, places) for part in stored["template"]]
            return _templated(parts, actual, values)
        if "from" in stored:
            return self._picked(stored, actual, values, places)
        return values

    def _literal(self, part: JsonValue, places: Mapping[int, int]) -> JsonValue:
        """A part of a text; a value read from a result as the text that it was."""
        if not isinstance(part, dict) or "from" not in part or "as" in part:
            return part
        source, path = part["from"], part["path"]
        if not isinstance(source, int) or source not in places or not isinstance(path, list) or "*" in path:
            return part
        return str(_reached(self._events[places[source]].result, path))

    def _listed(
        self, stored: Sequence[JsonValue], actual: JsonValue, values: Values, places: Mapping[int, int]
    ) -> Values | None:
        if not isinstance(actual, list) or len(actual) != len(stored):
            return None if any(isinstance(one, dict) for one in stored) else values
        found: Values | None = values
        for one, value in zip(stored, actual, strict=True):
            found = self._match(one, value, found, places) if found is not None else None
        return found

    def _picked(
        self, ref: Mapping[str, JsonValue], actual: JsonValue, values: Values, places: Mapping[int, int]
    ) -> Values | None:
        """Slots by which an element is picked take its own fields; None where the result that is read from does not
        hold the value."""
        tests, path, source = ref.get("where"), ref["path"], ref["from"]
        if not isinstance(path, list) or not isinstance(source, int) or source not in places or "as" in ref:
            return values
        result = self._events[places[source]].result
        if "*" not in path:
            return values if _reached(result, path) == actual else None
        elements = list(_elements(result, path, actual))
        if not elements or not isinstance(tests, dict):
            return values if elements else None
        open_ = {f: t for f, t in tests.items() if isinstance(t, str) and t not in values}
        element = next((e for e in elements if all(field in e for field in open_)), None)
        return None if element is None else {**values, **{slot: element[field] for field, slot in open_.items()}}

    def _before(self, values: Values, used: frozenset[int]) -> tuple[Call, ...]:
        """The calls that the caller makes itself: the reads that the skill does not cover, and those, covered or not,
        that first showed a value which it must give or a read needs."""
        reads = {n for n, e in enumerate(self._events) if n not in used and only_reads(e.tool)}
        for value in self._to_find(list(values.values())):
            reads |= self._first_showing(value, len(self._events))
        waiting = list(reads)
        while waiting:
            at = waiting.pop()
            for value in self._to_find(list(self._events[at].args.values())):
                more = self._first_showing(value, at) - reads
                reads |= more
                waiting += more
        return tuple(c for n in sorted(reads) for c in self._calls_of(self._events[n]))

    def _to_find(self, given: Sequence[JsonValue]) -> list[str]:
        """Values that the goal does not tell."""
        found = (leaf for value in given for _, leaf in leaves(value))
        return [str(leaf) for leaf in found if len(str(leaf)) > 2 and not says(self._goal, leaf)]

    def _first_showing(self, value: str, before: int) -> set[int]:
        for at in range(before):
            if only_reads(self._events[at].tool) and any(
                mentions(str(leaf), value) for _, leaf in leaves(self._events[at].result)
            ):
                return {at}
        return set()

    def _calls_of(self, event: Event) -> list[Call]:
        """The event's calls; all pages of a listing."""
        return (
            [
                c
                for c in self.calls
                if c.tool == event.tool
                and {k: v for k, v in c.args.items() if k != PAGE} == {k: v for k, v in event.args.items() if k != PAGE}
            ]
            if event.paged
            else [c for c in self.calls if c.tool == event.tool and c.args == event.args][:1]
        )


def _same_call(step: SkillStep, event: Event) -> bool:
    return step.tool == event.tool and set(step.args) - {PAGE} == set(event.args) - {PAGE}


def _bound(values: Values, slot: str, actual: JsonValue) -> Values | None:
    """The values with one more; None where the slot holds something else. Upper and lower case are the same."""
    if slot not in values:
        return {**values, slot: actual}
    known = values[slot]
    same = known == actual or str(known).strip().casefold() == str(actual).strip().casefold()
    return values if same else None


def _templated(parts: Sequence[JsonValue], actual: JsonValue, values: Values) -> Values | None:
    """Slots within a text take what stands in their place."""
    if not isinstance(actual, str):
        return None
    names: dict[str, str] = {}
    pattern = ""
    for part in parts:
        if isinstance(part, str):
            pattern += re.escape(part)
        elif isinstance(part, dict) and isinstance(part.get("slot"), str):
            group = f"v{len(names)}"
            names[group] = str(part["slot"])
            pattern += f"(?P<{group}>.+)"
        else:
            pattern += ".+"
    match = re.fullmatch(pattern, actual, re.DOTALL)
    if match is None:
        return None
    found: Values | None = values
    for group, slot in names.items():
        found = _bound(found, slot, match[group]) if found is not None else None
    return found


def _elements(result: JsonValue, path: Sequence[JsonValue], actual: JsonValue) -> Iterator[dict[str, JsonValue]]:
    """Elements of a list in a result that hold a value at the end of a path."""
    star = path.index("*")
    items = _reached(result, path[:star])
    for item in items if isinstance(items, list) else []:
        if isinstance(item, dict) and _reached(item, path[star + 1 :]) == actual:
            yield item


def _reached(value: JsonValue, path: Sequence[JsonValue]) -> JsonValue:
    for part in path:
        value = value.get(str(part)) if isinstance(value, dict) else None
    return value
