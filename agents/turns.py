"""How turns look in a prompt: the one form for an actor's history, a worked trajectory and a correction."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import msgspec

from rebind.agents.settings import Protocol
from rebind.prompts import render
from rebind.types import Action, Code, Completion, Message, Step, ToolSpec

NAMES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list", "object": "dict"}
"""JSON schema types as the tool lines write them."""
_LINES = 4_096
"""Tools whose arguments are remembered as written."""


def worked(goal: str, observation: str, steps: tuple[Step, ...], protocol: Protocol) -> list[Message]:
    """A finished trajectory as the turns of an earlier task. What came back after its last action ends that task and is
    left out (except where native calls demand an answer): the next message states the task at hand."""
    messages = [Message(role="user", content=render("actor_task", goal=goal, observation=observation).rstrip())]
    taken = [step for step in steps if step.action is not None]
    for number, step in enumerate(taken):
        assert step.action is not None  # filtered above
        said = _said(step.action, step.thought, protocol, number)
        messages.append(said)
        if step is not taken[-1] or said.tool_calls:
            messages.append(returned(said, step.observation))
    return messages


def answered(completion: Completion, understood: bool) -> Message:
    """A model's own answer, as it stays in the history: the very text it gave, so that a prefix cache knows it again.
    Of native calls the one that is carried out stays; one not understood stays as text, since providers refuse a
    history with malformed calls."""
    if completion.tool_calls and understood:
        return Message(role="assistant", content=completion.text, tool_calls=completion.tool_calls[:1])
    called = json.dumps(completion.tool_calls) if completion.tool_calls else ""
    return Message(role="assistant", content=(completion.text + called) or "(no answer)")


def returned(said: Message, observation: str) -> Message:
    """What came back, as the answer to an assistant's message."""
    if said.tool_calls:
        return Message(role="tool", content=observation, tool_call_id=str(said.tool_calls[0]["id"]))
    return Message(role="user", content=observation)


def _said(action: Action, thought: str, protocol: Protocol, number: int) -> Message:
    """An action as an assistant of this protocol would have said it."""
    if isinstance(action, Code):
        return Message(role="assistant", content=f"{thought}\n```python\n{action.code.rstrip()}\n```".lstrip())
    if protocol == "native":
        function = {"name": action.tool, "arguments": json.dumps(action.args, ensure_ascii=False)}
        call: dict[str, Any] = {"id": f"past_{number}", "type": "function", "function": function}
        return Message(role="assistant", content=thought, tool_calls=(call,))
    if protocol == "code":
        args = ", ".join(f"{key}={value!r}" for key, value in action.args.items())
        return Message(role="assistant", content=f"{thought}\n```python\nprint({action.tool}({args}))\n```".lstrip())
    said = {**({"thought": thought} if thought else {}), "tool": action.tool, "args": action.args}
    return Message(role="assistant", content=json.dumps(said, ensure_ascii=False, separators=(",", ":")))


def tool_line(tool: ToolSpec) -> str:
    """A tool in one line: `name(arg: type, optional: type = ?) - summary`; choices stand for the type."""
    return f"{tool.name}({_arguments(msgspec.json.encode(tool.parameters))}) - {tool.description}"


@lru_cache(_LINES)
def _arguments(parameters: bytes) -> str:
    """The arguments of a JSON schema, which comes as JSON so that what was written once is known again."""
    schema: Any = msgspec.json.decode(parameters)
    required: Any = schema.get("required", [])
    properties: Any = schema.get("properties", {})
    return ", ".join(f"{k}{'' if k in required else '?'}: {_type(v)}" for k, v in properties.items())


def _type(schema: Any) -> str:
    if "enum" in schema:
        return "|".join(map(str, schema["enum"]))
    kind = schema.get("type", "any")
    if kind == "array":
        return f"list[{_type(schema.get('items', {}))}]"
    return NAMES.get(kind, "any") if isinstance(kind, str) else "|".join(NAMES.get(k, "any") for k in kind)
