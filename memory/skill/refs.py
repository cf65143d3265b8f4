"""Where an argument of a trajectory's call came from, before slots have names and kept calls have numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue


@dataclass(frozen=True)
class Const:
    """The same in every task: an app, a folder, a flag."""

    value: JsonValue


@dataclass(frozen=True)
class Hole:
    """A value the caller of the skill must give."""

    value: JsonValue
    provenance: Literal["query", "observation"]
    key: str
    """The argument or field it stands for, which names the slot."""
    tool: str
    event: int = field(compare=False)
    """The event of the call that took it."""
    picks: bool = False
    """True for a field of an element that the tool returns, by which the element is picked."""


@dataclass(frozen=True)
class Flow:
    """A value out of an earlier event's result. Path elements are keys; the one element "*" stands for the list element
    that `where` finds: the only one that fits, or (`first`) the first."""

    event: int
    path: tuple[str | int, ...]
    where: tuple[tuple[str, Ref], ...] = ()
    first: bool = False
    amount: bool = False
    """True where cents are written out as an amount ("45.00")."""


@dataclass(frozen=True)
class Template:
    """A text with values set in: literal parts and references take turns."""

    parts: tuple[str | Ref, ...]


@dataclass(frozen=True)
class Several:
    """A list of references."""

    items: tuple[Ref, ...]


Ref = Const | Hole | Flow | Template | Several


def flows(ref: Ref) -> set[int]:
    """The events a reference reads from."""
    if isinstance(ref, Flow):
        return {ref.event}.union(*(flows(r) for _, r in ref.where))
    if isinstance(ref, Template):
        return set().union(*(flows(p) for p in ref.parts if not isinstance(p, str)))
    if isinstance(ref, Several):
        return set().union(*(flows(r) for r in ref.items))
    return set()
