"""The border of the world: only JSON values get in, and they leave as compact JSON."""

from __future__ import annotations

import json
from typing import Any

from pydantic import JsonValue

MAX_INTEGER = 2**53 - 1
"""Largest integer that JSON carries without loss (RFC 8785)."""
_MAX_DEPTH = 16


class NotJson(ValueError):
    """A value that JSON cannot hold; the message says why and can be shown to the agent."""


def as_json(value: Any, depth: int = 0) -> JsonValue:
    """The value as JSON (a tuple becomes a list). Raises `NotJson` for other types, NaN and infinities, integers beyond
    2**53 - 1, half surrogate pairs, keys that are no text, and nesting deeper than 16."""
    if depth > _MAX_DEPTH:
        raise NotJson(f"nested deeper than {_MAX_DEPTH} levels")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int | float):
        if not abs(value) <= MAX_INTEGER:  # true of NaN too
            raise NotJson("a number that JSON cannot hold")
        return value
    if isinstance(value, list | tuple):
        return [as_json(item, depth + 1) for item in value]
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise NotJson("an object whose keys are not all text")
        return {_text(key): as_json(item, depth + 1) for key, item in value.items()}
    raise NotJson(f"no JSON value but of type {type(value).__name__}")


def compact(value: JsonValue) -> str:
    """JSON text without spaces, letters beyond ASCII as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise NotJson(f"a text with half a surrogate pair at {error.start}") from None
    return text
