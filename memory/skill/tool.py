"""A skill as a tool: what the actor is told of it, and what it reads after a call."""

from __future__ import annotations

import json

from pydantic import JsonValue

from rebind.memory.skill.events import PAGE, listing
from rebind.memory.skill.execute import Execution
from rebind.memory.skill.select import PAGES
from rebind.types import Call, Skill, Slot, ToolSpec

_JSON_TYPES = {"int": "integer", "float": "number", "bool": "boolean"}
_FORMS = {"date": " (like 2026-03-14)", "email": " (an e-mail address)", "path": " (a path)"}
_SHOWN = 600
"""Characters of a call's result that the account of a run gives."""


def skill_tool(skill: Skill) -> ToolSpec:
    """The skill with its slots as parameters, all required. No value of the source is in it."""
    properties: dict[str, JsonValue] = {s.name: _parameter(s) for s in skill.slots}
    return ToolSpec(
        name=skill.name,
        description=skill.description,
        parameters={
            "type": "object",
            "properties": properties,
            "required": [s.name for s in skill.slots],
            "additionalProperties": False,
        },
    )


def _parameter(slot: Slot) -> dict[str, JsonValue]:
    schema: dict[str, JsonValue] = {"description": slot.description + _FORMS.get(slot.type, "")}
    if slot.type != "json":
        schema["type"] = _JSON_TYPES.get(slot.type, "string")
    return schema


def account(execution: Execution, problem: str | None = None) -> str:
    """What the actor reads after a skill ran: one line a call, the last result at more length, and what stopped it."""
    lines = [f"{n}. {c.tool}: {_short(c)}" for n, c in enumerate(execution.calls, 1)]
    problem = problem or execution.problem
    if problem:
        lines.append(f"Not finished: {problem}")
    elif execution.calls:
        lines.append(f"All calls succeeded. Last result: {_cut(_text(execution.calls[-1].result), _SHOWN)}")
    return "\n".join(lines)


def _short(call: Call) -> str:
    result = call.result
    if not call.ok:
        return f"failed with {call.status}: {_cut(_text(result), _SHOWN // 3)}"
    items = listing(result)
    if items is not None and isinstance(result, dict):
        return f"{len(items)} items" + (f", page {result.get(PAGE)} of {result[PAGES]}" if PAGES in result else "")
    return _cut(_text(result), _SHOWN // 5)


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}… ({len(text)} characters)"
