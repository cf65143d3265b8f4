"""What must hold before a skill is begun: every slot filled with a value of its type, every tool to be had."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from rebind.memory.skill.request import says_word
from rebind.types import Skill, Slot


def precondition(skill: Skill, values: Mapping[str, JsonValue], tools: frozenset[str] | None = None) -> str | None:
    """Why a skill must not be begun: a slot is empty or of the wrong type, or a tool is not to be had; else None."""
    missing = [s.name for s in skill.slots if s.name not in values]
    if missing:
        return f"{skill.name} needs {', '.join(missing)}"
    wrong = next((s for s in skill.slots if not fits(s, values[s.name])), None)
    if wrong is not None:
        return f"{wrong.name} must be of type {wrong.type}"
    absent = sorted({s.tool for s in skill.steps} - tools) if tools is not None else []
    return f"{', '.join(absent)} cannot be called here" if absent else None


def otherwise_flagged(skill: Skill, requests: Sequence[str], goal: str) -> bool:
    """Whether a goal names a flag that the skill has fixed where no request that it was made from or held for did, or
    does not name one that all of them did: "a public list" of a skill is not the private one that is asked for."""
    flags = {key for step in skill.steps for key, value in step.args.items() if isinstance(value, bool)}
    return any(all(says_word(text, key) != says_word(goal, key) for text in requests) for key in flags)


def fits(slot: Slot, value: JsonValue) -> bool:
    """Whether a value is of a slot's type."""
    if slot.type in ("int", "float", "bool"):
        kinds: Mapping[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "bool": (bool,)}
        return isinstance(value, kinds[slot.type]) and (slot.type == "bool" or not isinstance(value, bool))
    if slot.type == "json":
        return isinstance(value, list | dict)
    if not isinstance(value, str) or not value:
        return False
    shapes = {"date": r"\d{4}-\d{2}-\d{2}", "email": r"[^\s@]+@[^\s@]+\.[^\s@]+", "path": r"/\S.*", "id": r"\S+"}
    return slot.type not in shapes or re.fullmatch(shapes[slot.type], value) is not None
