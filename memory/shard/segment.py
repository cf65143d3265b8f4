"""Shards as arrays: everything the read path needs, laid out so that it can be mapped from a file and shared.

Items of one shard are consecutive rows, in the order they were written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rebind.errors import UserError
from rebind.memory.shard.scope import FIELDS, MIXED, NO_TIME, ItemMeta, Vocabulary, seconds
from rebind.memory.shard.terms import Terms, counted
from rebind.types import Frozen

Family = Literal["profile", "observation", "session"]
FAMILIES: tuple[Family, ...] = get_args(Family)
GRID = 4000
"""Embeddings are held as whole multiples of 1/4000: inner products are whole numbers below 2²⁴, exact in any order."""
SUBS = 4
"""Sub-centroids of a shard: one for each quarter of its items, in the order they were written."""
_HEADER = 128
"""Bytes of a `.npy` file without data, which cannot be mapped."""
Rows = NDArray[np.int64]
Grid = NDArray[np.int16]


class ItemError(UserError):
    """An item that cannot be stored."""


class Item(Frozen):
    """A piece of evidence."""

    id: str
    text: str
    shard: str
    """Name of its shard. A shard is of one family."""
    family: Family = "observation"
    meta: ItemMeta = ItemMeta()
    cites: tuple[str, ...] = ()
    """Ids of items it was made from: a summary's or a fact's sources."""
    context: str = ""
    """Text by which it is found too, never returned: what was said before it, the facts drawn from it. It is read under
    the item's own metadata, so it must not tell of what these do not admit."""

    @property
    def indexed(self) -> str:
        """The text whose terms find it."""
        return f"{self.text}\n{self.context}" if self.context else self.text


@dataclass(frozen=True, eq=False)
class Segment:
    """N items in S shards; d dimensions, V terms. All arrays may be read-only maps of files."""

    shard_starts: Rows
    """(S + 1): rows of shard j are `shard_starts[j]` to `shard_starts[j + 1]`."""
    shard_family: NDArray[np.int8]
    shard_codes: NDArray[np.int32]
    """(len(FIELDS), S), `MIXED` where its items differ."""
    shard_first: Rows
    shard_last: Rows
    shard_length: Rows
    """(S,) words."""
    centroids: Grid
    """(S, d), each of length 1. All of a scope's are read."""
    subs: Grid
    """(S, SUBS, d): sub-centroids, each of length 1, those of a shard together. A shortlist's are read."""
    item_codes: NDArray[np.int32]
    item_time: Rows
    vectors: Grid
    """(N, d)."""
    item_length: NDArray[np.int32]
    """(N,) words."""
    term_starts: Rows
    """(N + 1): where each item's terms begin in `item_terms`."""
    item_terms: Terms
    item_counts: NDArray[np.uint16]
    terms: Terms
    """(V,) ascending."""
    post_starts: Rows
    """(V + 1): where each term's shards begin in `post_shard`, ascending."""
    post_shard: NDArray[np.int32]
    post_df: NDArray[np.int32]
    post_tf: NDArray[np.int32]
    text_starts: Rows
    text_bytes: NDArray[np.uint8]
    """UTF-8 of one JSON line an item: id, text, cites, context."""
    name_starts: Rows
    name_bytes: NDArray[np.uint8]
    """UTF-8 of the shards' names."""

    @property
    def shards(self) -> int:
        return len(self.shard_family)

    @property
    def items(self) -> int:
        return len(self.item_time)

    @cached_property
    def every_shard(self) -> Rows:
        return np.arange(self.shards)

    @cached_property
    def shard_sizes(self) -> Rows:
        return np.diff(self.shard_starts)

    def rows(self, shard: int) -> Rows:
        return np.arange(self.shard_starts[shard], self.shard_starts[shard + 1])

    def shard_of(self, row: int) -> int:
        return int(self.shard_starts.searchsorted(row, side="right")) - 1

    def name(self, shard: int) -> str:
        return self.name_bytes[self.name_starts[shard] : self.name_starts[shard + 1]].tobytes().decode()

    def line(self, row: int) -> bytes:
        """An item's JSON line."""
        return self.text_bytes[self.text_starts[row] : self.text_starts[row + 1]].tobytes()

    def save(self, folder: Path) -> list[str]:
        """Writes one `.npy` an array into a folder; returns their names."""
        for field in fields(self):
            np.save(folder / f"{field.name}.npy", getattr(self, field.name), allow_pickle=False)
        return [f"{field.name}.npy" for field in fields(self)]


def open_segment(folder: Path) -> Segment:
    """A segment whose arrays are read-only maps of its files, shared by all processes that open it."""
    return Segment(**{f.name: _mapped(folder / f"{f.name}.npy") for f in fields(Segment)})


def _mapped(path: Path) -> Any:
    array = np.load(path, mmap_mode="r", allow_pickle=False) if path.stat().st_size > _HEADER else np.load(path)
    return array.view(np.ndarray)  # a plain array over the map: numba and numpy are quicker with it


def on_grid(embeddings: NDArray[np.float32]) -> Grid:
    """Embeddings (..., d) scaled to length 1, as whole multiples of 1/`GRID`.

    Raises:
        ItemError: one is zero or not finite, so it has no direction.
    """
    raw = np.asarray(embeddings, dtype=np.float64)
    norms = np.sqrt((raw * raw).sum(axis=-1, keepdims=True))
    if not np.isfinite(norms).all() or (norms == 0).any():
        raise ItemError("an embedding is zero or not finite, so it has no direction")
    grid: Grid = np.rint(raw * (GRID / norms)).astype(np.int16)
    return grid


def prototypes(vectors: Grid, rows: Rows, starts: Rows) -> tuple[Grid, Grid]:
    """Centroids (groups, d) and sub-centroids (groups, SUBS, d) of groups of rows, in their order.

    Group g is `rows[starts[g]:starts[g + 1]]`, at least one row. Fewer rows than quarters: the last repeat. A mean
    without direction is zeros.
    """
    from rebind.memory.shard.kernels import directions

    return directions(vectors, rows, starts, SUBS, GRID)


def build_segment(items: Sequence[Item], vectors: Grid, names: Sequence[Vocabulary]) -> Segment:
    """A segment of items with their vectors (N, d) on the grid; new names are added to the vocabularies.

    Shards are laid out by name, items within one in the order given.

    Raises:
        ItemError: a shard has items of two families, or an id is in it twice.
    """
    order = sorted(range(len(items)), key=lambda i: items[i].shard)  # stable: an item keeps its place in its shard
    items = [items[i] for i in order]
    _checked(items)
    starts = [i for i, item in enumerate(items) if i == 0 or item.shard != items[i - 1].shard]
    codes = np.array([[names[f].add(getattr(i.meta, field)) for i in items] for f, field in enumerate(FIELDS)])
    bags = [counted(item.indexed) for item in items]
    return assemble(
        shard_starts=np.array([*starts, len(items)], dtype=np.int64),
        family=np.array([FAMILIES.index(items[a].family) for a in starts], dtype=np.int8),
        codes=codes.reshape(len(FIELDS), len(items)).astype(np.int32),
        times=np.array([NO_TIME if (t := seconds(i.meta.time)) is None else t for i in items], dtype=np.int64),
        vectors=np.ascontiguousarray(vectors[order]),
        bags=(
            np.array([len(terms) for terms, _ in bags], dtype=np.int64),
            np.concatenate([terms for terms, _ in bags] or [np.empty(0, np.uint64)]),
            np.concatenate([counts for _, counts in bags] or [np.empty(0, np.uint16)]),
        ),
        lines=(line_of(item) for item in items),
        shard_names=(items[a].shard for a in starts),
    )


Bags = tuple[Rows, Terms, NDArray[np.uint16]]
"""How many distinct terms each item has; then all items' terms, ascending within an item, and how often each occurs."""


def assemble(
    shard_starts: Rows,
    family: NDArray[np.int8],
    codes: NDArray[np.int32],
    times: Rows,
    vectors: Grid,
    bags: Bags,
    lines: Iterable[bytes],
    shard_names: Iterable[str],
) -> Segment:
    """A segment from columns of N items that lie shard by shard, and S shards."""
    parts = [slice(a, b) for a, b in pairwise(shard_starts)]
    centroids, subs = prototypes(vectors, np.arange(len(vectors)), shard_starts)
    return Segment(
        shard_starts=shard_starts,
        shard_family=family,
        shard_codes=shared_codes(codes, shard_starts),
        shard_first=np.array([times[p].min() for p in parts], dtype=np.int64),
        shard_last=np.array([times[p].max() for p in parts], dtype=np.int64),
        centroids=centroids,
        subs=subs,
        item_codes=codes,
        item_time=times,
        vectors=vectors,
        **_lexical(bags, shard_starts),
        **_texts("text", lines),
        **_texts("name", (name.encode() for name in shard_names)),
    )


def line_of(item: Item) -> bytes:
    """What a segment keeps of an item besides its metadata."""
    return item.model_dump_json(include={"id", "text", "cites", "context"}).encode()


def shared_codes(codes: NDArray[np.int32], shard_starts: Rows) -> NDArray[np.int32]:
    """Per field and shard, the code that all its items share, or `MIXED`; (fields, S)."""
    if len(shard_starts) < 2:
        return np.empty((len(codes), 0), dtype=np.int32)
    low = np.minimum.reduceat(codes, shard_starts[:-1], axis=1)
    high = np.maximum.reduceat(codes, shard_starts[:-1], axis=1)
    return np.where(low == high, low, MIXED).astype(np.int32)


def _checked(items: Sequence[Item]) -> None:
    seen: set[str] = set()
    for before, item in zip([None, *items], items, strict=False):
        if before is None or before.shard != item.shard:
            seen = set()
        if item.id in seen:
            raise ItemError(f"shard {item.shard!r} has an item {item.id!r} twice; ids are unique")
        seen.add(item.id)
        if before is not None and before.shard == item.shard and before.family != item.family:
            raise ItemError(
                f"shard {item.shard!r} has {before.family} items ({before.id!r}) and {item.family} items "
                f"({item.id!r}): a shard is of one family"
            )


def _lexical(bags: Bags, shard_starts: Rows) -> dict[str, Any]:
    """Forward lists of items, and postings of shards."""
    sizes, item_terms, item_counts = bags
    term_starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    words = np.concatenate([[0], np.cumsum(item_counts.astype(np.int64))])
    length = words[term_starts[1:]] - words[term_starts[:-1]]
    shard_of_item = np.repeat(np.arange(len(shard_starts) - 1), np.diff(shard_starts))
    shard_of_entry = np.repeat(shard_of_item, sizes)
    order = np.lexsort((shard_of_entry, item_terms))
    key_terms, key_shards = item_terms[order], shard_of_entry[order]
    change = np.ones(len(order), dtype=bool)
    change[1:] = (key_terms[1:] != key_terms[:-1]) | (key_shards[1:] != key_shards[:-1])
    begin = np.flatnonzero(change)
    terms, first = np.unique(key_terms[begin], return_index=True)
    df = np.diff(np.append(begin, len(order)))
    tf = np.add.reduceat(item_counts[order].astype(np.int64), begin) if len(begin) else np.empty(0)
    return {
        "shard_length": np.add.reduceat(length, shard_starts[:-1]) if len(sizes) else np.empty(0, np.int64),
        "item_length": length.astype(np.int32),
        "term_starts": term_starts,
        "item_terms": item_terms,
        "item_counts": item_counts,
        "terms": terms,
        "post_starts": np.append(first, len(begin)).astype(np.int64),
        "post_shard": key_shards[begin].astype(np.int32),
        "post_df": df.astype(np.int32),
        "post_tf": tf.astype(np.int32),
    }


def _texts(kind: str, lines: Iterable[bytes]) -> dict[str, Any]:
    """Byte strings end to end, with where each begins."""
    made = list(lines)
    starts = np.concatenate([[0], np.cumsum([len(line) for line in made])]).astype(np.int64)
    return {f"{kind}_starts": starts, f"{kind}_bytes": np.frombuffer(b"".join(made), dtype=np.uint8)}
