"""Entities, tool signature and subgoal of every step, from trajectories of Rebind, τ-bench and ToolBench (section
3.3)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rebind.memory.osu.trajectory import Note
from rebind.types import Record, Step, ToolCall

_SHORTEST, _LONGEST = 2, 80
"""Length of a string value that counts as an entity."""


class Annotated(NamedTuple):
    """A step as text, with its annotation."""

    text: str
    note: Note


def token_cost(text: str) -> int:
    """The papers' estimate: a quarter of the characters, between 5 and 40 (section 3.2)."""
    return max(5, min(40, len(text) // 4))


def entities(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """String values of 2 to 80 characters and numbers among the arguments, nested one level deep, each once."""
    return tuple(dict.fromkeys(_values(arguments.values(), 1)))


def _values(values: Any, depth: int) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            if _SHORTEST <= len(value) <= _LONGEST:
                yield value
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield str(value)
        elif depth > 0 and isinstance(value, Mapping):
            yield from _values(value.values(), depth - 1)
        elif depth > 0 and isinstance(value, list | tuple):
            yield from _values(value, depth - 1)


def annotate_record(record: Record, texts: Sequence[str]) -> list[Annotated]:
    """Our own trajectories. A record has no user turns, so a subgoal is a run of steps in one app (the first word of a
    tool's name); `texts` are the steps as they would be delivered."""
    annotated, subgoal, app = [], -1, None
    for step, text in zip(record.steps, texts, strict=True):
        tools = _tools(step)
        here = re.split("[._]", tools[0])[0] if tools else app
        if subgoal < 0 or here != app:
            subgoal, app = subgoal + 1, here
        values = tuple(dict.fromkeys(entity for call in step.calls for entity in entities(call.args)))
        if not values and isinstance(step.action, ToolCall):
            values = entities(step.action.args)
        annotated.append(Annotated(text, Note(values, "+".join(tools) or None, subgoal)))
    return annotated


def _tools(step: Step) -> list[str]:
    """The tools of a step, each once in order; a code block has those of its calls."""
    if isinstance(step.action, ToolCall):
        return [step.action.tool]
    return list(dict.fromkeys(call.tool for call in step.calls))


def annotate_messages(messages: Sequence[Mapping[str, Any]]) -> list[Annotated]:
    """τ-bench: one step a message, without the system prompt. Calls carry entities and the tool's name; the subgoal
    rises at each user turn (Stage B)."""
    annotated, subgoal = [], 0
    for message in messages:
        if message["role"] == "system":
            continue
        subgoal += message["role"] == "user"
        calls = tool_calls(message)
        parts = [message["content"]] if message.get("content") else []
        parts += [f"{name}({json.dumps(arguments, ensure_ascii=False)})" for name, arguments in calls]
        values = tuple(dict.fromkeys(entity for _, arguments in calls for entity in entities(arguments)))
        annotated.append(Annotated("\n".join(parts), Note(values, calls[0][0] if calls else None, subgoal)))
    return annotated


def tool_calls(message: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Name and arguments of a message's calls (OpenAI wire form); arguments that are no JSON object count as none."""
    return [
        (call["function"]["name"], _arguments(call["function"]["arguments"]))
        for call in message.get("tool_calls") or ()
    ]


def annotate_toolbench(chain: Sequence[Mapping[str, Any]]) -> list[Annotated]:
    """ToolBench: one step a function call, with the assistant's words before it. The tool signature is what follows
    `_for_` in a function's name, or what precedes its first underscore; the subgoal is the call's place (Appendix
    G.1)."""
    annotated: list[Annotated] = []
    words = ""
    for message in chain:
        if message.get("role") != "assistant":
            continue
        words = message.get("content") or words
        call = message.get("function_call")
        if not call:
            continue
        name, arguments = call["name"], _arguments(call["arguments"])
        signature = name.split("_for_")[-1] if "_for_" in name else name.split("_")[0]
        text = f"{words}\n{name}({json.dumps(arguments, ensure_ascii=False)})".strip()
        annotated.append(Annotated(text, Note(entities(arguments), signature, len(annotated))))
        words = ""
    return annotated


def _arguments(raw: Any) -> dict[str, Any]:
    if isinstance(raw, str):
        try:
            raw = json.loads(raw)
        except json.JSONDecodeError:
            return {}
    return raw if isinstance(raw, dict) else {}
