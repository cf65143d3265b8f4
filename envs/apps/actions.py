"""An agent's action text: a tool call as JSON, or a block of Python."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from rebind.envs.apps.api.values import NotJson, as_json
from rebind.types import Action, Code, ToolCall

_FORM = 'a tool call is {"tool": "app_verb", "args": {…}}'


class BadAction(ValueError):
    """A text that is no action; the message tells the agent what is wrong and what is right."""


def parse(text: str) -> Action:
    """Text that begins with a brace is a tool call (or {"code": …}), anything else is Python. Raises `BadAction`."""
    if not text.strip():
        raise BadAction(f"the action is empty; {_FORM}, or write Python")
    if not text.lstrip().startswith("{"):
        return Code(code=text)
    try:
        value = as_json(json.loads(text, parse_constant=_reject))
    except (ValueError, RecursionError) as error:
        raise BadAction(f"the action is not valid JSON ({error}); {_FORM}") from None
    assert isinstance(value, dict)  # it began with a brace
    if set(value) == {"code"} and isinstance(value["code"], str):
        return Code(code=value["code"])
    tool, args = value.get("tool"), value.get("args", {})
    if not isinstance(tool, str) or not isinstance(args, dict) or set(value) - {"tool", "args"}:
        raise BadAction(f"the action has the wrong form; {_FORM}")
    return ToolCall(tool=tool, args=args)


def _reject(word: str) -> NoReturn:
    raise NotJson(f"{word} is no JSON number")


def parsed(action: Any) -> Action:
    """An Action as it is, a text parsed. Raises `BadAction`."""
    if isinstance(action, ToolCall | Code):
        return action
    if isinstance(action, str):
        return parse(action)
    raise BadAction(f"an action is a text, not {type(action).__name__}; {_FORM}, or write Python")


def parsed_call(action: Any, kind: str = "tools") -> ToolCall:
    """As `parsed`, for environments that run no Python but have tools, whatever they call them."""
    doing = parsed(action)
    if isinstance(doing, Code):
        raise BadAction(f"this environment runs no Python; call one of its {kind}")
    return doing
