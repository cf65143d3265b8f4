"""The JSON schema an answer must follow in JSON mode: one branch per tool, each with that tool's own arguments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from pydantic import JsonValue

from rebind.types import ToolSpec

Schema = dict[str, JsonValue]

_THOUGHT: Schema = {"type": "string", "maxLength": 160}
_MOST_SEEN = 500
"""Values or names kept: each is a branch of the grammar."""
_LONGEST_VALUE = 80
_LONGEST_PHRASE = 4
"""Words."""
_EDGES = ".,;:!?()[]'\"“”‘’"
_REMEMBERED = 1024
"""Observations whose parts are kept: all of them are asked for anew at each step of an episode."""
_TOOL_NAME = re.compile(r"[a-z][a-z0-9]*(?:[_.][a-z0-9]+)+")


def action_schema(
    tools: Sequence[ToolSpec],
    *,
    thought: bool = True,
    found: Sequence[str] = (),
    grounded: Sequence[str] | None = None,
) -> Schema:
    """The schema of `{"thought", "tool", "args"}` over the prompt's tools.

    `found` are names of tools the agent came across that the prompt does not name: one more branch, any arguments.
    `grounded`: text arguments without choices of their own may only take these values; None for free text.
    """
    shared: Schema = {"$defs": {"seen": {"enum": list(grounded)}}} if grounded else {}
    branches: list[JsonValue] = [
        _branch({"const": tool.name}, _grounded(tool.parameters) if grounded else tool.parameters, thought)
        for tool in tools
    ]
    if found:
        branches.append(_branch({"enum": list(found)}, {"type": "object"}, thought))
    return {"anyOf": branches, **shared}


def _branch(tool: Schema, parameters: Schema, thought: bool) -> Schema:
    properties: Schema = {**({"thought": _THOUGHT} if thought else {}), "tool": tool, "args": parameters}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _grounded(parameters: Schema) -> Schema:
    """A tool's parameters with every free text limited to the values seen."""
    properties = parameters.get("properties")
    if not isinstance(properties, dict):
        return parameters
    return {**parameters, "properties": {k: _limit(v) for k, v in properties.items()}}


def _limit(schema: Any) -> JsonValue:
    """A property's schema, limited where it is free text, a list of free texts, or may be either or null."""
    if not isinstance(schema, dict) or "enum" in schema or "const" in schema:
        return schema
    if schema.get("type") == "string":
        return {"$ref": "#/$defs/seen"}
    if schema.get("type") == "array":
        return {**schema, "items": _limit(schema.get("items", {}))}
    if isinstance(schema.get("type"), list) and "string" in schema["type"]:
        others: list[JsonValue] = [{"type": t} for t in schema["type"] if t != "string"]
        return {"anyOf": [{"$ref": "#/$defs/seen"}, *others]}
    for key in ("anyOf", "oneOf"):
        if isinstance(options := schema.get(key), list):
            return {**schema, key: [_limit(o) for o in options]}
    return schema


def values_seen(goal: str, observations: Sequence[str]) -> tuple[str, ...]:
    """Values that an argument may be grounded in: phrases of up to four words of the goal, then the leaves of the
    observations and the words in them, the latest first. At most 500."""
    values = [*_phrases(goal), *(value for text in reversed(observations) for value in _values(text))]
    return tuple(dict.fromkeys(v for v in values if 0 < len(v) <= _LONGEST_VALUE))[:_MOST_SEEN]


def tools_found(texts: Iterable[str], named: Iterable[str]) -> tuple[str, ...]:
    """What looks like the name of a tool among the JSON leaves of observations and is none of the prompt's."""
    names = dict.fromkeys(name for text in texts for name in _names(text))
    known = set(named)
    return tuple(n for n in names if n not in known)[-_MOST_SEEN:]


@lru_cache(_REMEMBERED)
def _names(observation: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(leaf for leaf in _leaves(observation) if _TOOL_NAME.fullmatch(leaf)))


@lru_cache(_REMEMBERED)
def _values(observation: str) -> tuple[str, ...]:
    leaves = list(_leaves(observation))
    words = (word.strip(_EDGES) for text in leaves or [observation] for word in text.split())
    return (*leaves, *words)


def _phrases(text: str) -> Iterator[str]:
    """Runs of words as they stand, without the punctuation around them."""
    words = text.split()
    for length in range(1, _LONGEST_PHRASE + 1):
        for start in range(len(words) - length + 1):
            yield " ".join(words[start : start + length]).strip(_EDGES)


def _leaves(text: str) -> Iterator[str]:
    """Texts and numbers in a JSON text, as text; nothing where it is no JSON object or list."""
    if text.lstrip()[:1] not in ("{", "["):
        return
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return
    yield from _walk(value)


def _walk(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _walk(item)
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item)
    elif isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool)):
        yield str(value)
