"""Scope as typed values: which items a request may see, decided from metadata alone (ShardMemo, section 3.2).

A predicate is data, not code: it serialises to JSON, can be logged and compared, and is evaluated over all shards at
once. A shard whose items all agree is decided by one comparison; the items of a mixed shard are decided one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import accumulate
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from rebind.errors import UserError
from rebind.types import Frozen

FIELDS = ("user", "session", "speaker", "namespace", "label")
"""Metadata that are names; every item also has a time."""
NO_TIME = np.iinfo(np.int64).min
"""Time of an item that has none: no time range admits it."""
MIXED = -1
"""Code of a shard whose items differ in a field."""
Flags = NDArray[np.bool_]
_NO_FLAGS = np.zeros(0, dtype=bool)
Codes = NDArray[np.int32]


class ScopeError(UserError):
    """A scope that cannot be read."""


class ItemMeta(Frozen):
    """What is known of an item besides its text. Empty text: the item has no such property."""

    user: str = ""
    """Tenant: whose memory it is (a person, an agent, a conversation)."""
    session: str = ""
    speaker: str = ""
    namespace: str = ""
    """Tool or topic namespace, with dots: "bank.cards"."""
    label: str = ""
    """What a principal must have been granted to read it; items without a label are open."""
    time: datetime | None = None


class UserIs(Frozen):
    kind: Literal["user"] = "user"
    names: tuple[str, ...]


class SessionIs(Frozen):
    kind: Literal["session"] = "session"
    names: tuple[str, ...]


class SpeakerIs(Frozen):
    """Items said by (or about) one of these; the empty name admits items that have no speaker."""

    kind: Literal["speaker"] = "speaker"
    names: tuple[str, ...]


class NamespaceIs(Frozen):
    """Items of one of these namespaces or of one below it: "bank" admits "bank.cards"."""

    kind: Literal["namespace"] = "namespace"
    names: tuple[str, ...]


class TimeWithin(Frozen):
    """Items of a time from `start` to `end`, both included; either may be open. Naive times are UTC."""

    kind: Literal["time"] = "time"
    start: datetime | None = None
    end: datetime | None = None

    @model_validator(mode="after")
    def _ordered(self) -> TimeWithin:
        low, high = seconds(self.start), seconds(self.end)
        if low is not None and high is not None and low > high:
            raise ValueError(f"the range begins ({self.start}) after it ends ({self.end})")
        return self


class MayRead(Frozen):
    """Items whose label the principal holds at the moment of the request, and items without a label."""

    kind: Literal["permission"] = "permission"
    principal: str


Predicate = Annotated[UserIs | SessionIs | SpeakerIs | NamespaceIs | TimeWithin | MayRead, Field(discriminator="kind")]


class Scope(Frozen):
    """The conjunction of its predicates; an empty one admits everything."""

    predicates: tuple[Predicate, ...] = ()

    def __and__(self, other: Scope) -> Scope:
        return Scope(predicates=(*self.predicates, *other.predicates))

    def without(self, kind: str) -> Scope:
        """The scope less its predicates of one kind."""
        return Scope(predicates=tuple(p for p in self.predicates if p.kind != kind))


def seconds(moment: datetime | None) -> int | None:
    """Unix seconds of a moment; naive ones are UTC."""
    if moment is None:
        return None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


@dataclass(frozen=True, eq=False)
class Admission:
    """A scope against one vocabulary: what each field's codes and which times it admits."""

    scope: Scope
    names: Sequence[Vocabulary]
    allowed: Mapping[int, Flags]
    """Admitted codes of a field (by place in `FIELDS`); fields that are not limited are absent."""
    low: int | None
    high: int | None
    events: int = 0
    """The store's last event that was taken into account."""

    def items(
        self, codes: Codes, times: NDArray[np.int64], rows: NDArray[np.int64], deleted: Flags | None = None
    ) -> Flags:
        """Whether each of some rows is admitted, by codes (fields, N) and times (N,) of all items, and not deleted."""
        from rebind.memory.shard.scope_kernels import row_flags

        return row_flags(codes, times, _NO_FLAGS if deleted is None else deleted, rows, *self.limits)

    @cached_property
    def limits(self) -> tuple[NDArray[np.int64], Flags, NDArray[np.int64], int, int]:
        """The limited fields, their flags end to end, where each begins, and the first and last time admitted."""
        limited = list(self.allowed.values())
        low, high = int(NO_TIME), int(np.iinfo(np.int64).max)
        if self.timed:
            low, high = low + 1 if self.low is None else self.low, high if self.high is None else self.high
        return (
            np.array(list(self.allowed), dtype=np.int64),
            np.concatenate(limited) if limited else np.zeros(0, dtype=bool),
            np.array([0, *accumulate(len(flags) for flags in limited)], dtype=np.int64),
            low,
            high,
        )

    @property
    def timed(self) -> bool:
        return self.low is not None or self.high is not None


class Vocabulary:
    """The names of one field, numbered in order of appearance."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._code: dict[str, int] = {}
        self._names: list[str] = []
        self._below: dict[str, list[int]] = {}
        for name in names:
            self.add(name)

    def __len__(self) -> int:
        return len(self._code)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._names)

    def name(self, code: int) -> str:
        return self._names[code]

    def add(self, name: str) -> int:
        """The code of a name, new if need be."""
        if name not in self._code:
            self._code[name] = len(self._names)
            self._names.append(name)
            self._below.clear()
        return self._code[name]

    def flags(self, names: Iterable[str]) -> Flags:
        """Which codes are those of the names, (n,); names that no item has are nobody's."""
        flags = np.zeros(len(self._code), dtype=bool)
        flags[[self._code[name] for name in names if name in self._code]] = True
        return flags

    def below(self, names: Sequence[str]) -> Flags:
        """Which codes are those of the names or of dotted names that begin with one of them, (n,)."""
        flags = np.zeros(len(self._code), dtype=bool)
        for name in names:
            if name not in self._below:
                prefix = f"{name}."
                self._below[name] = [c for c, own in enumerate(self._names) if own == name or own.startswith(prefix)]
            flags[self._below[name]] = True
        return flags


def compile_scope(
    scope: Scope, names: Sequence[Vocabulary], held: Mapping[str, frozenset[str]], events: int = 0
) -> Admission:
    """A scope against the names behind the codes.

    Args:
        scope: what to admit.
        names: the vocabulary of each of `FIELDS`.
        held: labels that each principal holds now.
        events: number of the last event that decided these.
    """
    allowed: dict[int, Flags] = {}
    low: int | None = None
    high: int | None = None
    for one in scope.predicates:
        if isinstance(one, TimeWithin):
            start, end = seconds(one.start), seconds(one.end)
            low = start if low is None else low if start is None else max(low, start)
            high = end if high is None else high if end is None else min(high, end)
            continue
        field = FIELDS.index("label" if isinstance(one, MayRead) else one.kind)
        flags = _allowed(one, names[field], held)
        allowed[field] = allowed[field] & flags if field in allowed else flags
    return Admission(scope, names, allowed, low, high, events)


def _allowed(
    one: UserIs | SessionIs | SpeakerIs | NamespaceIs | MayRead, names: Vocabulary, held: Mapping[str, frozenset[str]]
) -> Flags:
    """Which codes of its field a predicate admits."""
    if isinstance(one, NamespaceIs):
        return names.below(one.names)
    if isinstance(one, MayRead):
        return names.flags(held.get(one.principal, frozenset()) | {""})
    return names.flags(one.names)
