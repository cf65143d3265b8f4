"""Runs a skill: one call after the other, values read from what came back, until done or something does not hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from pydantic import JsonValue

from rebind.memory.skill.events import PAGE, listing, page_count
from rebind.memory.skill.induce import ALL_PAGES
from rebind.memory.skill.select import ITEMS, matching
from rebind.types import Call, Skill, SkillStep, ToolCall

Caller = Callable[[ToolCall], Call]
"""Makes one call in the environment."""


@dataclass(frozen=True)
class Execution:
    """The calls that were made, and why it stopped early; None where it ran to its end."""

    calls: tuple[Call, ...]
    problem: str | None = None
    results: tuple[tuple[JsonValue, ...], ...] = ()
    """What each finished step returned: one result, of a step over rows one a row, of a walk over pages all of it."""


class Unresolved(Exception):
    """A reference that leads to no value, or to more than one."""


def execute(skill: Skill, slots: Mapping[str, JsonValue], call: Caller) -> Execution:
    """Runs a skill with values for its slots. It stops at the first call that fails and at the first reference that
    cannot be resolved, before the call that needed it, and says why."""
    missing = [s.name for s in skill.slots if s.name not in slots]
    if missing:
        return Execution((), f"{skill.name} needs {', '.join(missing)}")
    calls: list[Call] = []
    results: list[JsonValue] = []
    returned: list[tuple[JsonValue, ...]] = []
    for number, step in enumerate(skill.steps, 1):
        try:
            given = arguments(step, slots, results)
        except Unresolved as reason:
            return Execution(tuple(calls), f"stopped before step {number}, {step.tool}: {reason}")
        made, result = run_step(step, given, call)
        calls += made
        if not made[-1].ok:
            return Execution(tuple(calls), failed(number, made[-1]))
        results.append(result)
        returned.append((result,) if _paged(step) else tuple(c.result for c in made))
    return Execution(tuple(calls), results=tuple(returned))


def arguments(
    step: SkillStep, slots: Mapping[str, JsonValue], results: Sequence[JsonValue]
) -> list[dict[str, JsonValue]]:
    """What a step is called with, once for each row; of a walk over pages without the page.

    Raises:
        Unresolved: a reference leads to no value, or to more than one.
    """
    return [
        {k: _resolve(v, slots, results, row) for k, v in step.args.items() if not (_paged(step) and k == PAGE)}
        for row in _rows(step, slots)
    ]


def run_step(step: SkillStep, given: Sequence[dict[str, JsonValue]], call: Caller) -> tuple[list[Call], JsonValue]:
    """A step's calls, up to the first that fails, and its result: the last call's, or the elements of all pages."""
    if not _paged(step):
        made = _made(step.tool, given, call)
        return made, made[-1].result
    made = _pages(step.tool, given[0], call)
    return made, {ITEMS: [item for one in made for item in listing(one.result) or ()]}


def failed(number: int, made: Call) -> str:
    """A failed call in words."""
    return f"step {number}, {made.tool}, failed with {made.status}: {made.result}"


def _paged(step: SkillStep) -> bool:
    return step.args.get(PAGE) == ALL_PAGES


def _rows(step: SkillStep, slots: Mapping[str, JsonValue]) -> Sequence[Mapping[str, JsonValue]]:
    """What a step is done for: the rows of its slot, or once."""
    if not step.each:
        return [{}]
    rows = slots[step.each]
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise Unresolved(f"{step.each} must be a list of objects, and not empty")
    return [row for row in rows if isinstance(row, dict)]


def _made(tool: str, given: Sequence[dict[str, JsonValue]], call: Caller) -> list[Call]:
    """A call for each set of arguments, up to the first that fails."""
    made: list[Call] = []
    for args in given:
        made.append(call(ToolCall(tool=tool, args=args)))
        if not made[-1].ok:
            break
    return made


def _pages(tool: str, args: Mapping[str, JsonValue], call: Caller) -> list[Call]:
    """Calls for all pages of a listing; the last has failed where one did."""
    made: list[Call] = []
    pages = 1
    while len(made) < pages:
        made.append(call(ToolCall(tool=tool, args={**args, PAGE: len(made) + 1})))
        if not made[-1].ok:
            break
        pages = page_count(made[-1].result) or 1
    return made


def _resolve(
    value: JsonValue,
    slots: Mapping[str, JsonValue],
    results: Sequence[JsonValue],
    row: Mapping[str, JsonValue] = MappingProxyType({}),
) -> JsonValue:
    """The value of a stored argument (see `SkillStep`): a constant, a slot, a field of the row, a template, or a value
    read earlier."""
    if isinstance(value, list):
        return [_resolve(v, slots, results) for v in value]
    if not isinstance(value, dict):
        return value
    if "slot" in value or "row" in value:
        return slots[str(value["slot"])] if "slot" in value else _member(row, value["row"], "the row")
    if "template" in value and isinstance(value["template"], list):
        return "".join(p if isinstance(p, str) else str(_resolve(p, slots, results)) for p in value["template"])
    if "from" in value:
        return _read(value, slots, results)
    return value


def _read(ref: Mapping[str, JsonValue], slots: Mapping[str, JsonValue], results: Sequence[JsonValue]) -> JsonValue:
    source, path = ref["from"], ref["path"]
    if not isinstance(source, int) or not isinstance(path, list):
        raise Unresolved(f"the skill is damaged: {dict(ref)}")
    value = results[source]
    for part in path:
        value = _picked(value, ref, slots, results) if part == "*" else _member(value, part)
    return f"{value / 100:.2f}" if ref.get("as") == "amount" and isinstance(value, int) else value


def _member(value: object, part: JsonValue, where: str = "what came back") -> JsonValue:
    if isinstance(value, Mapping) and isinstance(part, str) and part in value:
        found: JsonValue = value[part]
        return found
    raise Unresolved(f"there is no {part!r} in {where}")


def _picked(
    items: JsonValue, ref: Mapping[str, JsonValue], slots: Mapping[str, JsonValue], results: Sequence[JsonValue]
) -> JsonValue:
    """The element of a list that the reference's `where` finds."""
    if not isinstance(items, list):
        raise Unresolved("what came back holds no list")
    tests = ref.get("where")
    where = {
        field: slots[test] if isinstance(test, str) else _resolve(test, slots, results)
        for field, test in sorted(tests.items() if isinstance(tests, dict) else ())
    }
    fitting = matching(items, where)
    shown = ", ".join(f"{field} {value!r}" for field, value in where.items())
    if not fitting:
        raise Unresolved(f"none of {len(items)} found has {shown}" if where else "nothing was found")
    if len(fitting) > 1 and not ref.get("first"):
        raise Unresolved(f"{len(fitting)} of {len(items)} found have {shown}")
    return items[fitting[0]]
