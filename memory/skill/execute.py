"""Runs a skill: one call after the other, values read from what came back, until done or something does not hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from rebind.memory.skill.events import PAGE, listing, page_count
from rebind.memory.skill.induce import ALL_PAGES
from rebind.memory.skill.select import ITEMS, matching
from rebind.types import Call, Skill, ToolCall

Caller = Callable[[ToolCall], Call]
"""Makes one call in the environment."""


@dataclass(frozen=True)
class Execution:
    """The calls that were made, and why it stopped early; None where it ran to its end."""

    calls: tuple[Call, ...]
    problem: str | None = None


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
    for number, step in enumerate(skill.steps, 1):
        paged = step.args.get(PAGE) == ALL_PAGES
        try:
            args = {k: _resolve(v, slots, results) for k, v in step.args.items() if not (paged and k == PAGE)}
        except Unresolved as reason:
            return Execution(tuple(calls), f"stopped before step {number}, {step.tool}: {reason}")
        made = _pages(step.tool, args, call) if paged else [call(ToolCall(tool=step.tool, args=args))]
        calls += made
        last = made[-1]
        if not last.ok:
            return Execution(tuple(calls), f"step {number}, {step.tool}, failed with {last.status}: {last.result}")
        results.append({ITEMS: [i for c in made for i in listing(c.result) or ()]} if paged else last.result)
    return Execution(tuple(calls))


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


def _resolve(value: JsonValue, slots: Mapping[str, JsonValue], results: list[JsonValue]) -> JsonValue:
    """The value of a stored argument (see `SkillStep`): a constant, a slot, a template, or a value read earlier."""
    if isinstance(value, list):
        return [_resolve(v, slots, results) for v in value]
    if not isinstance(value, dict):
        return value
    if "slot" in value:
        return slots[str(value["slot"])]
    if "template" in value and isinstance(value["template"], list):
        return "".join(p if isinstance(p, str) else str(_resolve(p, slots, results)) for p in value["template"])
    if "from" in value:
        return _read(value, slots, results)
    return value


def _read(ref: Mapping[str, JsonValue], slots: Mapping[str, JsonValue], results: list[JsonValue]) -> JsonValue:
    source, path = ref["from"], ref["path"]
    if not isinstance(source, int) or not isinstance(path, list):
        raise Unresolved(f"the skill is damaged: {dict(ref)}")
    value = results[source]
    for part in path:
        value = _picked(value, ref, slots, results) if part == "*" else _member(value, part)
    return f"{value / 100:.2f}" if ref.get("as") == "amount" and isinstance(value, int) else value


def _member(value: JsonValue, part: JsonValue) -> JsonValue:
    if isinstance(value, dict) and isinstance(part, str) and part in value:
        return value[part]
    raise Unresolved(f"there is no {part!r} in what came back")


def _picked(
    items: JsonValue, ref: Mapping[str, JsonValue], slots: Mapping[str, JsonValue], results: list[JsonValue]
) -> JsonValue:
    """The element of a list that the reference's `where` finds."""
    if not isinstance(items, list):
        raise Unresolved("what came back holds no list")
    tests = ref.get("where")
    where = {
        field: slots[test] if isinstance(test, str) else _resolve(test, slots, results)
        for field, test in (tests.items() if isinstance(tests, dict) else ())
    }
    fitting = matching(items, where)
    shown = ", ".join(f"{field} {value!r}" for field, value in where.items())
    if not fitting:
        raise Unresolved(f"none of {len(items)} found has {shown}" if where else "nothing was found")
    if len(fitting) > 1 and not ref.get("first"):
        raise Unresolved(f"{len(fitting)} of {len(items)} found have {shown}")
    return items[fitting[0]]
