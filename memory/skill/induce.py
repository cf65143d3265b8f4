"""A verified trajectory becomes a callable procedure: failed calls and detours go, constants become typed slots."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import JsonValue

from rebind.memory.descriptor import fold
from rebind.memory.skill.events import PAGE, Event, events
from rebind.memory.skill.origins import origins
from rebind.memory.skill.reads import only_reads
from rebind.memory.skill.refs import Const, Hole, Ref, Several, Template, flows
from rebind.types import Record, Skill, SkillStep, Slot

SlotType = Literal["enum", "int", "float", "date", "id", "path", "email", "str", "bool", "json"]

ALL_PAGES: dict[str, JsonValue] = {"all": "pages"}
"""Value of a step's `page`: the step walks every page, and its result holds the elements of all."""
_FINISH = "complete_task"
_LEAST_STEPS = 2
_SHAPES: tuple[tuple[SlotType, re.Pattern[str]], ...] = (
    ("email", re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+")),
    ("date", re.compile(r"\d{4}-\d{2}-\d{2}")),
    ("path", re.compile(r"/\S+")),
    ("id", re.compile(r"[a-z]+_\d+")),
)
_NAME_LENGTH = 56


def induce(record: Record, *, keep: Iterable[str] = ()) -> Skill | None:
    """The procedure in a record; None where fewer than two calls are left of it.

    What stays: every call that may write, and what it reads from. `keep` names tools that stay although their names
    say that they only read. The call that declares the task done stays only if its answer is read from a result;
    otherwise the actor judges and declares.
    """
    happened = events(record.steps)
    references = _pruned(record.instruction, happened, frozenset(keep))
    if len(references) < _LEAST_STEPS:
        return None
    naming = _Naming()
    number = {event: at for at, event in enumerate(references)}
    steps = tuple(
        SkillStep(tool=happened[e].tool, args=_step_args(happened[e], args, naming, number))
        for e, args in references.items()
    )
    return Skill(
        name=_skill_name(steps),
        description=_description(steps),
        slots=tuple(naming.slots.values()),
        steps=steps,
        record_id=record.id,
    )


def finishes(tool: str) -> bool:
    """Whether a tool declares a task done."""
    return tool.endswith(_FINISH)


def _pruned(instruction: str, happened: list[Event], keep: frozenset[str]) -> dict[int, dict[str, Ref]]:
    """The events that stay, in order, with the origins of their arguments. Origins are found again after events went:
    what only a detour was called with must not decide anything."""
    wanted = frozenset(range(len(happened)))
    while True:
        references = origins(instruction, happened, wanted)
        _fix_plumbing(happened, references)
        left = _needed(happened, references, keep)
        if left == wanted:
            return references
        wanted = left


def _fix_plumbing(happened: list[Event], references: dict[int, dict[str, Ref]]) -> None:
    """Calls of which only an access token is used take constants: which app is logged in to is no binding."""
    used: dict[int, set[str]] = {}
    for args in references.values():
        for key, ref in args.items():
            for event in flows(ref):
                used.setdefault(event, set()).add(key)
    for event, keys in used.items():
        if all("token" in key for key in keys):
            references[event] = {key: Const(value) for key, value in happened[event].args.items()}


def _needed(happened: list[Event], references: dict[int, dict[str, Ref]], keep: frozenset[str]) -> frozenset[int]:
    """Events that act, and those they read from."""
    wanted: set[int] = set()
    for number in sorted(references, reverse=True):
        tool, args = happened[number].tool, references[number]
        read = set().union(*(flows(ref) for ref in args.values()))
        acts = bool(read) if finishes(tool) else not only_reads(tool) or tool in keep
        if acts or number in wanted:
            wanted |= {number, *read}
    return frozenset(wanted)


class _Naming:
    """Slots by name; one slot for one value."""

    def __init__(self) -> None:
        self.slots: dict[str, Slot] = {}
        self._by_value: dict[tuple[str, str], str] = {}

    def name(self, hole: Hole) -> str:
        known = self._by_value.get((type(hole.value).__name__, str(hole.value)))
        if known:
            return known
        base = re.sub(r"\W", "_", hole.key) or "value"
        options = (base, f"{hole.tool}_{base}", *(f"{hole.tool}_{base}_{n}" for n in range(2, 1000)))
        name = next(option for option in options if option not in self.slots)
        self.slots[name] = Slot(
            name=name,
            type=_type(hole.value),
            provenance=hole.provenance,
            example=hole.value,
            description=_slot_description(hole),
        )
        self._by_value[type(hole.value).__name__, str(hole.value)] = name
        return name


def _slot_description(hole: Hole) -> str:
    """What to fill in, from names alone."""
    if hole.picks:
        return f"{hole.key} of the one to take from what {hole.tool} returns, as the task names it"
    where = "from the task" if hole.provenance == "query" else "look it up before"
    return f"{hole.key} for {hole.tool}; {where}"


def _type(value: JsonValue) -> SlotType:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "int" if isinstance(value, int) else "float"
    if not isinstance(value, str):
        return "json"
    for kind, shape in _SHAPES:
        if shape.fullmatch(value):
            return kind
    return "str"


def _step_args(
    event: Event, args: Mapping[str, Ref], naming: _Naming, number: Mapping[int, int]
) -> dict[str, JsonValue]:
    found = {key: _written(ref, naming, number) for key, ref in args.items()}
    if event.paged:
        found[PAGE] = dict(ALL_PAGES)
    return found


def _written(ref: Ref, naming: _Naming, number: Mapping[int, int]) -> JsonValue:
    """A reference in the form that a `SkillStep` stores."""
    if isinstance(ref, Const):
        return ref.value
    if isinstance(ref, Hole):
        return {"slot": naming.name(ref)}
    if isinstance(ref, Several):
        return [_written(item, naming, number) for item in ref.items]
    if isinstance(ref, Template):
        return {"template": [p if isinstance(p, str) else _written(p, naming, number) for p in ref.parts]}
    flow: dict[str, JsonValue] = {"from": number[ref.event], "path": list(ref.path)}
    if ref.where:
        flow["where"] = {field: _test(r, naming, number) for field, r in ref.where}
    if ref.first:
        flow["first"] = True
    if ref.amount:
        flow["as"] = "amount"
    return flow


def _test(ref: Ref, naming: _Naming, number: Mapping[int, int]) -> JsonValue:
    """A slot's name, or a reference where the field must fit a value read earlier."""
    return naming.name(ref) if isinstance(ref, Hole) else _written(ref, naming, number)


def _skill_name(steps: Iterable[SkillStep]) -> str:
    acts = list(dict.fromkeys(s.tool for s in steps if not only_reads(s.tool))) or ["answer"]
    return "skill_" + "_and_".join(acts)[:_NAME_LENGTH].rstrip("_")


def _description(steps: Iterable[SkillStep]) -> str:
    """What the skill does, from tool names alone."""
    return f"Does in one call what worked for a similar task: {fold([s.tool for s in steps])}."
