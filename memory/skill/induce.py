"""A verified trajectory becomes a callable procedure: failed calls and detours go, constants become typed slots."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from pydantic import JsonValue

from rebind.memory.descriptor import fold
from rebind.memory.skill.events import PAGE, Event, events
from rebind.memory.skill.fold import Planned, folded
from rebind.memory.skill.forms import form
from rebind.memory.skill.origins import origins
from rebind.memory.skill.reads import finishes, only_reads
from rebind.memory.skill.refs import Const, Hole, Ref, Several, Template, flows
from rebind.memory.values import says
from rebind.types import Record, Skill, SkillStep, Slot

SlotType = Literal["enum", "int", "float", "date", "id", "path", "email", "str", "bool", "json"]
Provenance = Literal["query", "observation"]

ALL_PAGES: dict[str, JsonValue] = {"all": "pages"}
"""Value of a step's `page`: the step walks every page, and its result holds the elements of all."""
_SHAPES: tuple[tuple[SlotType, re.Pattern[str]], ...] = (
    ("email", re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+")),
    ("date", re.compile(r"\d{4}-\d{2}-\d{2}")),
    ("path", re.compile(r"/\S+")),
    ("id", re.compile(r"[a-z]+_\d+")),
)
_NAME_LENGTH = 56


def induce(
    record: Record, *, keep: Iterable[str] = (), late: bool = False, apart: bool = False, least: int = 2
) -> Skill | None:
    """The procedure in a record; None where fewer than `least` calls are left of it.

    What stays: every call that may write, and what it reads from. `keep` names tools that stay although their names
    say that they only read. The call that declares the task done stays only if its answer is read from a result;
    otherwise the actor judges and declares. Repeated calls are folded, with `late` put last, with `apart` left as they
    are (see `fold.folded`).
    """
    happened = events(record.steps)
    references = _pruned(record.instruction, happened, frozenset(keep))
    if len(references) < least:
        return None
    naming = _Naming(record.instruction)
    plan = folded(happened, references, late=late, apart=apart)
    number = {step.event: at for at, step in enumerate(plan)}
    steps = tuple(_step(happened[p.event], p, naming, number) for p in plan)
    return Skill(
        name=_skill_name(steps),
        description=_description(steps),
        slots=tuple(naming.slots.values()),
        steps=steps,
        record_id=record.id,
        expects=tuple(form(happened[p.event].result) for p in plan),
    )


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
    """Slots by name."""

    def __init__(self, instruction: str) -> None:
        self.slots: dict[str, Slot] = {}
        self._instruction = instruction
        self._holes: dict[tuple[int, str, str], str] = {}
        self._said: dict[tuple[str, str], str] = {}

    def name(self, hole: Hole) -> str:
        """A hole that several arguments share has one slot, and so has a value that the task says; equal values that
        are not taken from there are equal by chance."""
        value = (type(hole.value).__name__, str(hole.value))
        own = (hole.event, hole.key, value[1])
        known = self._holes.get(own) or (self._said.get(value) if hole.provenance == "query" else None)
        if known:
            return known
        base = re.sub(r"\W", "_", hole.key) or "value"
        options = (base, f"{hole.tool}_{base}", *(f"{hole.tool}_{base}_{n}" for n in range(2, 1000)))
        name = next(option for option in options if option not in self.slots)
        self._add(name, _type(hole.value), hole.provenance, hole.value, _slot_description(hole))
        self._holes[own] = name
        if hole.provenance == "query" and says(self._instruction, hole.value):
            self._said[value] = name
        return name

    def rows(self, tool: str, rows: Sequence[Mapping[str, JsonValue]]) -> str:
        """A slot for what a repeated call is made with, one row a call."""
        options = (f"{tool}_rows", *(f"{tool}_rows_{n}" for n in range(2, 1000)))
        name = next(option for option in options if option not in self.slots)
        says = f"list of objects with {', '.join(rows[0])}: one for each call of {tool}, in order"
        self._add(name, "json", "observation", [dict(row) for row in rows], says)
        return name

    def _add(self, name: str, kind: SlotType, provenance: Provenance, example: JsonValue, description: str) -> None:
        self.slots[name] = Slot(name=name, type=kind, provenance=provenance, example=example, description=description)


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


def _step(event: Event, planned: Planned, naming: _Naming, number: Mapping[int, int]) -> SkillStep:
    args = {key: _written(ref, naming, number) for key, ref in planned.args.items()}
    if event.paged:
        args[PAGE] = dict(ALL_PAGES)
    if not planned.rows:
        return SkillStep(tool=event.tool, args=args)
    args |= {key: {"row": key} for key in planned.rows[0]}
    return SkillStep(tool=event.tool, args=args, each=naming.rows(event.tool, planned.rows))


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
