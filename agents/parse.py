"""Turns a model's answer into an Action, or into a sentence that says why it is none.

Only the form is checked. Whether a tool exists and its arguments are right is the environment's to say: an agent may
have found tools that its prompt did not name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError
from rfc8785 import CanonicalizationError

from rebind.agents.settings import Protocol
from rebind.canon import canonical
from rebind.errors import did_you_mean
from rebind.types import Action, Code, Completion, Frozen, ToolCall

_FENCE = re.compile(r"```[\w-]*\n(.*?)(?:```|\Z)", re.DOTALL)
_PYTHON = re.compile(r"```(?:python|py)\s*\n(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)
_SPELLINGS = {"tool": ("tool", "name"), "args": ("args", "arguments", "parameters")}
"""Models trained on native calls write them in OpenAI's words."""


class Parsed(Frozen):
    """An action, or None with the `problem` the model is told of."""

    action: Action | None
    thought: str = ""
    problem: str = ""


class _NoAction(Exception):
    """Why an answer is no action, in words the model can use."""


def parse(completion: Completion, protocol: Protocol, only: Iterable[str] | None = None) -> Parsed:
    """The action in an answer. Of several native calls the first counts; JSON calls are taken in code mode too. `only`:
    the tools that may be named; None for any."""
    thought = ""
    action: Action
    try:
        if completion.tool_calls:
            thought, action = completion.text.strip(), _native(completion.tool_calls[0])
        elif protocol == "code" and (block := _PYTHON.search(completion.text)):
            thought, action = completion.text[: block.start()].strip(), Code(code=block[1])
        elif protocol == "native":
            raise _NoAction("it called no tool.")
        else:
            thought, action = _from_json(completion)
        if only is not None and isinstance(action, ToolCall):
            _check_name(action.tool, set(only))
    except _NoAction as reason:
        return Parsed(action=None, thought=thought, problem=str(reason))
    return Parsed(action=action, thought=thought)


def _native(call: Mapping[str, Any]) -> ToolCall:
    """An OpenAI tool call."""
    function = call["function"]
    return _call(function["name"], function.get("arguments"))


def _from_json(completion: Completion) -> tuple[str, Action]:
    """The thought and call in the first JSON object of a text; fences and words around it are let pass."""
    value = _first_object(completion)
    thought = value.get("thought", "")
    name, args = (next((value[k] for k in _SPELLINGS[part] if k in value), None) for part in ("tool", "args"))
    if not isinstance(name, str):
        raise _NoAction('the JSON object has no "tool" that names one.')
    return thought if isinstance(thought, str) else "", _call(name, args)


def _first_object(completion: Completion) -> dict[str, Any]:
    text = completion.text
    for candidate in (*_FENCE.findall(text), text):
        start = candidate.find("{")
        if start < 0:
            continue
        try:
            value, _ = json.JSONDecoder().raw_decode(candidate, start)
        except (ValueError, RecursionError):
            continue
        return dict(value)
    if completion.finish == "length":
        raise _NoAction("it was cut off at the length limit; be shorter.")
    raise _NoAction("it holds no valid JSON object." if "{" in text else "it holds no JSON object.")


def _call(name: str, args: object) -> ToolCall:
    """A call, its arguments given as an object, as JSON text (native calls) or not at all. What no ledger could hold is
    no call: NaN, integers beyond 2**53, halves of surrogate pairs, hundreds of levels."""
    if isinstance(args, str):
        try:
            args = json.loads(args or "{}")
        except (ValueError, RecursionError):
            raise _NoAction("its arguments are not valid JSON.") from None
    if args is not None and not isinstance(args, dict):
        raise _NoAction("its arguments are not a JSON object.")
    try:
        call = ToolCall(tool=name, args=args or {})
        canonical(call.model_dump(mode="json"))
    except (ValidationError, CanonicalizationError, UnicodeError, RecursionError):
        raise _NoAction("its arguments hold what JSON cannot: NaN, a huge number, half a character.") from None
    return call


def _check_name(name: str, only: set[str]) -> None:
    if name not in only:
        raise _NoAction(f"there is no tool {name!r}{did_you_mean(name, only)}")
