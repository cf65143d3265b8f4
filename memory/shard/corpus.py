"""What of a store a scope admits: shards first, by their metadata; the items of mixed shards one by one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebind.memory.shard import kernels, scope_kernels
from rebind.memory.shard.scope import Admission, Flags, Scope, Vocabulary, compile_scope
from rebind.memory.shard.segment import Grid, Rows, Segment, prototypes

_NOTHING = np.zeros(0, dtype=bool)
_NO_ROWS, _NO_EDGES = np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class View:
    """A segment as it stands now: with what was relabelled, deleted or replaced since it was written."""

    segment: Segment
    item_codes: NDArray[np.int32]
    shard_codes: NDArray[np.int32]
    deleted: Flags | None = None
    """(N,), None where nothing is."""
    partly_deleted: Flags | None = None
    """(S,): shards with deleted items."""
    replaced: Flags | None = None
    """(S,): shards that a later segment holds whole."""

    @staticmethod
    def of(segment: Segment) -> View:
        return View(segment, segment.item_codes, segment.shard_codes)

    def admits(self, admission: Admission, rows: Rows) -> Flags:
        """Which of some rows are admitted and not deleted."""
        return admission.items(self.item_codes, self.segment.item_time, rows, self.deleted)

    def admitted(self, admission: Admission) -> Part:
        """Its admitted shards, by their metadata; the items of mixed ones are asked one by one."""
        own = self.segment
        if not (admission.allowed or admission.timed) and self.replaced is None and self.partly_deleted is None:
            described = own.shard_family, own.shard_sizes, own.shard_length
            return Part(self, own.every_shard, _NO_ROWS, _NO_EDGES, _NO_ROWS, *described)
        deleted, partly, replaced = (
            _NOTHING if flags is None else flags for flags in (self.deleted, self.partly_deleted, self.replaced)
        )
        return Part(self, *scope_kernels.admitted(
            self.shard_codes, own.shard_first, own.shard_last, replaced, partly,
            own.shard_starts, self.item_codes, own.item_time, deleted,
            own.shard_family, own.shard_length, own.item_length, *admission.limits,
        ))  # fmt: skip


@dataclass(frozen=True, eq=False)
class Part:
    """The admitted shards of one view: A of them, P of which in part."""

    view: View
    shards: Rows
    """(A,) ascending."""
    partial: Rows
    """(P,) places among the A of shards that are admitted in part, ascending."""
    starts: Rows
    """(P + 1): where the admitted rows of each of these begin in `kept`."""
    kept: Rows
    family: NDArray[np.int8]
    """(A,)."""
    size: Rows
    """(A,) admitted items."""
    length: Rows
    """(A,) their words."""

    @property
    def everything(self) -> bool:
        """Whether all there is is admitted."""
        return len(self.shards) == self.view.segment.shards and not len(self.partial)

    @cached_property
    def prototypes(self) -> tuple[Grid, Grid]:
        """Of the shards that are admitted in part: centroids (P, d) and sub-centroids (P, SUBS, d) of what is."""
        return prototypes(self.view.segment.vectors, self.kept, self.starts)

    def rows(self, place: int) -> Rows:
        """Admitted rows of a shard."""
        at = self.at(place)
        if at is not None:
            return self.kept[self.starts[at] : self.starts[at + 1]]
        return self.view.segment.rows(int(self.shards[place]))

    def at(self, place: int) -> int | None:
        """Which of the P a shard is; None where all of it is admitted."""
        at = int(self.partial.searchsorted(place))
        return at if at < len(self.partial) and self.partial[at] == place else None

    def among(self, places: Rows) -> tuple[Rows, Rows]:
        """Which of some places are of shards admitted in part, and which of the P these are."""
        if not len(self.partial):
            return _NO_ROWS, _NO_ROWS
        at = np.minimum(self.partial.searchsorted(places), len(self.partial) - 1)
        mixed = np.flatnonzero(self.partial[at] == places)
        return mixed, at[mixed]


class Admitted:
    """Everything a scope admits, as one list of A shards. What it says of a shard is of its admitted items alone, so
    nothing here depends on what is not admitted."""

    def __init__(self, parts: Sequence[Part], admission: Admission) -> None:
        self.parts, self.admission = parts, admission
        self.offsets = [0]
        """Where each part's shards begin among the A."""
        for part in parts:
            self.offsets.append(self.offsets[-1] + len(part.shards))
        self.family: NDArray[np.int8] = _joined([part.family for part in parts])
        self.size: Rows = _joined([part.size for part in parts])
        """(A,) admitted items."""
        self.length: Rows = _joined([part.length for part in parts])
        """(A,) their words."""

    def __len__(self) -> int:
        return self.offsets[-1]

    @cached_property
    def items(self) -> int:
        return int(self.size.sum())

    @cached_property
    def words(self) -> int:
        """Of all admitted items."""
        return int(self.length.sum())

    def locate(self, place: int) -> tuple[Part, int]:
        """The part that holds a shard, and its place there."""
        at = bisect_right(self.offsets, place) - 1
        return self.parts[at], place - self.offsets[at]

    def name(self, place: int) -> str:
        part, inner = self.locate(place)
        return part.view.segment.name(int(part.shards[inner]))

    def centroid_dots(self, query: Grid) -> NDArray[np.int32]:
        """Inner products of all A centroids with a query on the grid, (A,)."""
        found: list[NDArray[np.int32]] = []
        for part in self.parts:
            own = kernels.dots(part.view.segment.centroids, part.shards, query)
            if len(part.partial):
                own[part.partial] = kernels.dots(part.prototypes[0], np.arange(len(part.partial)), query)
            found.append(own)
        return _joined(found)

    def sub_dots(self, query: Grid, places: Rows) -> NDArray[np.int32]:
        """Largest inner product of each of some shards' sub-centroids with a query; `places` ascending."""
        found: list[NDArray[np.int32]] = []
        for part, inner in self._inner(places):
            own = kernels.best_of_groups(part.view.segment.subs, part.shards[inner], query)
            mixed, at = part.among(inner)
            if len(mixed):
                own[mixed] = kernels.best_of_groups(part.prototypes[1], at, query)
            found.append(own)
        return _joined(found)

    def spans(self, places: Rows) -> tuple[Rows, Rows]:
        """First and last time of some shards; `places` ascending."""
        found: list[tuple[Rows, Rows]] = []
        for part, inner in self._inner(places):
            segment, shards = part.view.segment, part.shards[inner]
            first, last = segment.shard_first[shards], segment.shard_last[shards]
            mixed, at = part.among(inner)
            if len(mixed):
                first[mixed], last[mixed] = scope_kernels.group_spans(segment.item_time, part.kept, part.starts, at)
            found.append((first, last))
        return np.concatenate([first for first, _ in found]), np.concatenate([last for _, last in found])

    def _inner(self, places: Rows) -> list[tuple[Part, Rows]]:
        """Some places, ascending, as places in each part."""
        if len(self.parts) == 1:
            return [(self.parts[0], places)]
        cuts = places.searchsorted(self.offsets)
        return [
            (part, places[cuts[n] : cuts[n + 1]] - self.offsets[n]) for n, part in enumerate(self.parts)
        ]  # fmt: skip


def _joined(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def admit(
    views: Sequence[View], scope: Scope, names: Sequence[Vocabulary], held: Mapping[str, frozenset[str]]
) -> Admitted:
    """What a scope admits now. `held` are the labels each principal holds."""
    return admitted(views, compile_scope(scope, names, held))


def admitted(views: Sequence[View], admission: Admission) -> Admitted:
    """What a compiled scope admits."""
    return Admitted([view.admitted(admission) for view in views], admission)
