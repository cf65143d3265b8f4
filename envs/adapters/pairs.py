"""The bindings of a sequence of calls, and how far one instance of a template is from another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from rebind.envs.levels import LARGE
from rebind.types import Binding, BindingKind, ShiftLevel, ToolCall

_KINDS: tuple[tuple[BindingKind, tuple[str, ...]], ...] = (
    ("user", ("user_id", "first_name", "last_name", "email", "customer_id", "phone_number", "username")),
    ("location", ("address", "city", "state", "country", "zip", "origin", "destination")),
    ("date", ("date", "dob")),
    ("record", ("_id", "_ids", "flight_number")),
)
"""Kinds of bindings by how an argument's name begins or ends; any other is a parameter."""


def bindings(calls: Sequence[ToolCall]) -> tuple[Binding, ...]:
    """The values of the calls: one binding for each argument name and distinct value, in order of calls."""
    found: dict[str, JsonValue] = {}
    for call in calls:
        for name, value in _leaves(call.args):
            same = [key for key in found if key.split("#")[0] == name]
            if all(found[key] != value for key in same):
                found[name if not same else f"{name}#{len(same) + 1}"] = value
    return tuple(
        Binding(name=k, kind=_kind(k.split("#")[0]), value=v, central=len(found) == 1) for k, v in found.items()
    )


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, JsonValue]]:
    """Argument values by name; lists of plain values stay whole, lists of objects are walked."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _leaves(one, str(key))
    elif isinstance(value, list) and any(isinstance(one, dict) for one in value):
        for one in value:
            yield from _leaves(one, name)
    else:
        yield name, value


def _kind(name: str) -> BindingKind:
    for kind, words in _KINDS:
        if any(name.endswith(word) or name.startswith(word) for word in words):
            return kind
    return "parameter"


def changed(source: Mapping[str, JsonValue], target: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """Names whose values differ, in the target's order; a name that only one of the two has counts."""
    return tuple(name for name in {**target, **source} if source.get(name) != target.get(name))


def level(changed_names: Sequence[str], of: int) -> ShiftLevel:
    """`none` where nothing changed; `large` from four changed bindings on; `small` for one of several; else `medium`,
    which a template's only binding is, too: it is the task's central constraint (QCR, A.1)."""
    count = len(changed_names)
    if count == 0:
        return "none"
    if count >= LARGE:
        return "large"
    return "small" if count == 1 < of else "medium"
