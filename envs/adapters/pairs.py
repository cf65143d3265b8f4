"""How far one instance of a template is from another: the shift level of a pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from rebind.types import ShiftLevel

_LARGE = 4
"""Fewest changed bindings of a large shift, as in the environments of our own."""


def changed(source: Mapping[str, JsonValue], target: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """Names whose values differ, in the target's order; a name that only one of the two has counts."""
    return tuple(name for name in {**target, **source} if source.get(name) != target.get(name))


def level(changed_names: Sequence[str], of: int) -> ShiftLevel:
    """`none` where nothing changed; `large` from four changed bindings on; `small` for one of several; else `medium`,
    which a template's only binding is, too: it is the task's central constraint (QCR, A.1)."""
    count = len(changed_names)
    if count == 0:
        return "none"
    if count >= _LARGE:
        return "large"
    return "small" if count == 1 < of else "medium"
