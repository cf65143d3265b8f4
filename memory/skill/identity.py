"""When two traces are the same procedure: by tools in order, argument names and where values flow, not by values."""

from __future__ import annotations

from pydantic import JsonValue

from rebind.canon import digest
from rebind.types import Skill, SkillStep, Slot

_LENGTH = 16
_OPERATORS = ("slot", "row", "template", "from", "all")
"""Keys by which a stored argument is told from a constant (see `SkillStep`)."""


def identity(skill: Skill) -> str:
    """First hex digits of the SHA-256 over tool sequence, argument keys and dataflow edges. Constants are left out."""
    shape: list[JsonValue] = [
        [step.tool, step.each, {key: _shape(value) for key, value in sorted(step.args.items())}] for step in skill.steps
    ]
    return digest(shape)[:_LENGTH]


def is_constant(value: JsonValue) -> bool:
    """Whether a stored argument holds no slot, row or reference anywhere."""
    if isinstance(value, list):
        return all(map(is_constant, value))
    return not isinstance(value, dict) or not any(name in value for name in _OPERATORS)


def _shape(value: JsonValue) -> JsonValue:
    if isinstance(value, list) and not is_constant(value):
        return [_shape(item) for item in value]
    if not isinstance(value, dict) or is_constant(value):
        return "="
    if "template" in value and isinstance(value["template"], list):
        return {"template": ["…" if isinstance(part, str) else _shape(part) for part in value["template"]]}
    if "from" not in value:
        return value
    tests = value.get("where")
    where = {f: t if isinstance(t, str) else _shape(t) for f, t in tests.items()} if isinstance(tests, dict) else {}
    return {"from": value["from"], "path": value["path"], "where": where}


def generalised(earlier: Skill, later: Skill) -> Skill:
    """The later skill, with every constant that is not the earlier one's made a slot: what differs between two traces
    of one procedure is a value of the task. Both must have the same identity; what the earlier one already gave up for
    a slot stays one."""
    slots = {s.name: s for s in later.slots}
    steps: list[SkillStep] = []
    for before, step in zip(earlier.steps, later.steps, strict=True):
        args = dict(step.args)
        for key, value in step.args.items():
            slot = _lifted(before.args[key], value, step.tool, key, {*slots, *(s.name for s in earlier.slots)})
            if slot is not None:
                slots[slot.name] = slot
                args[key] = {"slot": slot.name}
        steps.append(step.model_copy(update={"args": args}))
    return later.model_copy(update={"slots": tuple(slots.values()), "steps": tuple(steps)})


def _lifted(before: JsonValue, value: JsonValue, tool: str, key: str, taken: set[str]) -> Slot | None:
    if not is_constant(value) or (is_constant(before) and before == value):
        return None
    if isinstance(before, dict) and isinstance(before.get("slot"), str):
        name = str(before["slot"])
    else:
        name = next(n for n in (key, f"{tool}_{key}", *(f"{tool}_{key}_{i}" for i in range(2, 1000))) if n not in taken)
    return Slot(
        name=name,
        type="bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "enum",
        provenance="query",
        example=value,
        description=f"{key} for {tool}; from the task",
    )
