"""What of a store a scope admits: shards first, by their metadata; the items of mixed shards one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rebind.memory.shard import kernels, term_kernels
from rebind.memory.shard.scope import ALL, NONE, SOME, Admission, Columns, Flags, Scope, Vocabulary, compile_scope
from rebind.memory.shard.segment import SUBS, Grid, Rows, Segment, prototypes
from rebind.memory.shard.terms import Terms


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

    def states(self, admission: Admission) -> NDArray[np.int8]:
        """How much of each shard is admitted, (S,); `SOME` where its items decide."""
        segment = self.segment
        state = admission.shards(Columns(self.shard_codes, segment.shard_first, segment.shard_last))
        if self.replaced is not None:
            state[self.replaced] = NONE
        if self.partly_deleted is not None:
            state[self.partly_deleted & (state == ALL)] = SOME
        return state

    def admits(self, admission: Admission, rows: Rows) -> Flags:
        """Which of some rows are admitted and not deleted."""
        kept = admission.items(self.item_codes, self.segment.item_time, rows)
        if self.deleted is not None:
            kept &= ~self.deleted[rows]
        return kept


@dataclass(frozen=True, eq=False)
class Part:
    """The admitted shards of one view: A of them, P of which in part."""

    view: View
    shards: NDArray[np.int32]
    """(A,) ascending."""
    partial: Rows
    """(P,) places among the A of shards that are admitted in part, ascending."""
    starts: Rows
    """(P + 1): where the admitted rows of each of these begin in `kept`."""
    kept: Rows

    @cached_property
    def prototypes(self) -> Grid:
        """Of the shards that are admitted in part: centroids and sub-centroids of what is, (1 + SUBS, P, d)."""
        return prototypes(self.view.segment.vectors, self.kept, self.starts)

    def rows(self, place: int) -> Rows:
        """Admitted rows of a shard."""
        at = self.at(place)
        if at is not None:
            return self.kept[self.starts[at] : self.starts[at + 1]]
        return self.view.segment.rows(int(self.shards[place]))

    def at(self, place: int) -> int | None:
        """Which of the P a shard is; None where all of it is admitted."""
        at = int(np.searchsorted(self.partial, place))
        return at if at < len(self.partial) and self.partial[at] == place else None


@dataclass(eq=False)
class Admitted:
    """Everything a scope admits, as one list of A shards. What it says of a shard is of its admitted items alone, so
    nothing here depends on what is not admitted."""

    parts: Sequence[Part]
    admission: Admission
    family: NDArray[np.int8] = field(init=False)
    size: Rows = field(init=False)
    """(A,) admitted items."""
    length: Rows = field(init=False)
    """(A,) their words."""
    first: Rows = field(init=False)
    last: Rows = field(init=False)
    offsets: Rows = field(init=False)
    """Where each part's shards begin among the A."""

    def __post_init__(self) -> None:
        described = [_describe(part) for part in self.parts]
        self.family, self.size, self.length, self.first, self.last = (
            np.concatenate(columns) for columns in zip(*described, strict=True)
        )
        self.offsets = np.concatenate([[0], np.cumsum([len(part.shards) for part in self.parts])])

    def __len__(self) -> int:
        return len(self.size)

    @property
    def items(self) -> int:
        return int(self.size.sum())

    def locate(self, place: int) -> tuple[Part, int]:
        """The part that holds a shard, and its place there."""
        at = int(np.searchsorted(self.offsets, place, side="right")) - 1
        return self.parts[at], place - int(self.offsets[at])

    def name(self, place: int) -> str:
        part, inner = self.locate(place)
        return part.view.segment.name(int(part.shards[inner]))

    def centroid_dots(self, query: Grid) -> NDArray[np.int32]:
        """Inner products of all A centroids with a query on the grid."""
        found = np.empty(len(self), dtype=np.int32)
        for begin, part in zip(self.offsets, self.parts, strict=False):
            flat = _flat(part.view.segment)
            inside = found[begin : begin + len(part.shards)]
            inside[:] = kernels.dots(flat, part.shards.astype(np.int64), query)
            if len(part.partial):
                inside[part.partial] = kernels.dots(part.prototypes[0], np.arange(len(part.partial)), query)
        return found

    def sub_dots(self, query: Grid, places: Rows) -> NDArray[np.int32]:
        """Inner products of some shards' sub-centroids with a query, (places, SUBS); `places` ascending."""
        found = np.empty((len(places), SUBS), dtype=np.int32)
        for begin, part in zip(self.offsets, self.parts, strict=False):
            low, high = np.searchsorted(places, [begin, begin + len(part.shards)])
            inner = places[low:high] - begin
            rows = part.shards[inner].astype(np.int64)[:, None] + np.arange(1, 1 + SUBS) * part.view.segment.shards
            found[low:high] = kernels.dots(_flat(part.view.segment), rows.ravel(), query).reshape(-1, SUBS)
            mixed = np.flatnonzero(np.isin(inner, part.partial))
            if len(mixed):
                made = part.prototypes[1:, np.searchsorted(part.partial, inner[mixed])]
                products = kernels.dots(made.reshape(-1, made.shape[-1]), np.arange(SUBS * len(mixed)), query)
                found[low + mixed] = products.reshape(SUBS, -1).T
        return found

    def counts(self, terms: Terms) -> tuple[NDArray[np.int32], NDArray[np.int32], int]:
        """For each term and shard, how many admitted items hold it and how often in all, (T, A) each; and how many
        postings were read."""
        df = np.zeros((len(terms), len(self)), dtype=np.int32)
        tf = np.zeros_like(df)
        read = 0
        for begin, part in zip(self.offsets, self.parts, strict=False):
            inside = slice(int(begin), int(begin) + len(part.shards))
            read += _shard_counts(part, terms, df[:, inside], tf[:, inside])
        return df, tf, read


def _flat(segment: Segment) -> Grid:
    """All prototypes, one a row."""
    return segment.prototypes.reshape(-1, segment.vectors.shape[1])


def admit(
    views: Sequence[View], scope: Scope, names: Sequence[Vocabulary], held: Mapping[str, frozenset[str]]
) -> Admitted:
    """What a scope admits now. `held` are the labels each principal holds."""
    admission = compile_scope(scope, names, held)
    return Admitted([_part(view, admission) for view in views], admission)


def _part(view: View, admission: Admission) -> Part:
    """Shards by their metadata; the items of mixed ones all at once."""
    state = view.states(admission)
    mixed = np.flatnonzero(state == SOME)
    if not len(mixed):
        empty = np.empty(0, dtype=np.int64)
        return Part(view, np.flatnonzero(state != NONE).astype(np.int32), empty, np.zeros(1, np.int64), empty)
    begin, size = view.segment.shard_starts[mixed], np.diff(view.segment.shard_starts)[mixed]
    ends = np.cumsum(size)
    rows = np.arange(ends[-1]) + np.repeat(begin - (ends - size), size)
    flags = view.admits(admission, rows)
    kept = np.add.reduceat(flags.astype(np.int64), ends - size)
    state[mixed] = np.where(kept == size, ALL, np.where(kept > 0, SOME, NONE))
    some = (kept > 0) & (kept < size)
    shards = np.flatnonzero(state != NONE).astype(np.int32)
    return Part(
        view,
        shards,
        np.searchsorted(shards, mixed[some]).astype(np.int64),
        np.concatenate([[0], np.cumsum(kept[some])]),
        rows[flags & np.repeat(some, size)],
    )


def _describe(part: Part) -> tuple[NDArray[np.int8], Rows, Rows, Rows, Rows]:
    """Family, size, length, first and last time of each admitted shard."""
    segment, shards = part.view.segment, part.shards
    size = segment.shard_starts[shards + 1] - segment.shard_starts[shards]
    length, first, last = segment.shard_length[shards], segment.shard_first[shards], segment.shard_last[shards]
    if len(part.partial):
        at, begin = part.partial, part.starts[:-1]
        times = segment.item_time[part.kept]
        size[at] = np.diff(part.starts)
        length[at] = np.add.reduceat(segment.item_length[part.kept].astype(np.int64), begin)
        first[at], last[at] = np.minimum.reduceat(times, begin), np.maximum.reduceat(times, begin)
    return segment.shard_family[shards], size, length, first, last


def _shard_counts(part: Part, terms: Terms, df: NDArray[np.int32], tf: NDArray[np.int32]) -> int:
    """Fills in one part's columns: from postings, and for shards admitted in part from the items themselves."""
    segment = part.view.segment
    at = np.searchsorted(segment.terms, terms)
    known = np.flatnonzero(at < len(segment.terms))
    known = known[segment.terms[at[known]] == terms[known]]
    whole = np.ones(len(part.shards), dtype=bool)
    whole[part.partial] = False
    inner_df = np.zeros((len(known), len(part.shards)), dtype=np.int32)
    inner_tf = np.zeros_like(inner_df)
    read = term_kernels.shard_counts(
        segment.post_starts[at[known]], segment.post_starts[at[known] + 1],
        segment.post_shard, segment.post_df, segment.post_tf, part.shards, whole, inner_df, inner_tf,
    )  # fmt: skip
    df[known], tf[known] = inner_df, inner_tf
    if len(part.partial):
        inner = np.zeros((2, len(terms), len(part.partial)), dtype=np.int32)
        term_kernels.group_counts(
            part.kept, part.starts, segment.term_starts, segment.item_terms, segment.item_counts, terms, *inner
        )
        df[:, part.partial], tf[:, part.partial] = inner
        read += int((df[:, part.partial] > 0).sum())
    return read
