"""Items as every store writes them, and what of a batch is new to a store."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic_core import from_json

from rebind.canon import canonical
from rebind.memory.shard.log import StoreError
from rebind.memory.shard.remote.protocol import Embedding, Near
from rebind.memory.shard.scope import FIELDS, seconds
from rebind.memory.shard.segment import GRID, Grid, Item, line_of, on_grid

Key = tuple[str, str]
"""Shard and id."""


@dataclass(frozen=True, eq=False)
class Row:
    """One item. `vector` (d,) is on the grid; `digest` is of all but the label."""

    item: Item
    vector: Grid
    digest: str

    @property
    def key(self) -> Key:
        return self.item.shard, self.item.id

    @property
    def time(self) -> int | None:
        return seconds(self.item.meta.time)

    @property
    def line(self) -> str:
        """What is read back of the item."""
        return line_of(self.item).decode()


def rows_of(items: Sequence[Item], embeddings: Embedding, dimensions: int) -> list[Row]:
    """A batch as rows.

    Raises:
        StoreError: nothing to add, or other dimensions.
        ItemError: an embedding has no direction.
    """
    if not len(items) or embeddings.shape != (len(items), dimensions):
        raise StoreError(
            f"{len(items)} items with embeddings of shape {embeddings.shape}: expected at least one item and "
            f"{dimensions} dimensions each, which is what the store was made with"
        )
    return [row(item, vector) for item, vector in zip(items, on_grid(embeddings), strict=True)]


def row(item: Item, vector: Grid) -> Row:
    """An item and its vector on the grid."""
    named = {field: getattr(item.meta, field) for field in FIELDS if field != "label"}
    content = {
        "shard": item.shard,
        "id": item.id,
        "family": item.family,
        "text": item.text,
        "cites": list(item.cites),
        "context": item.context,
        "time": seconds(item.meta.time),
        **named,
    }
    digest = hashlib.sha256(canonical(content) + np.ascontiguousarray(vector, dtype="<i2").tobytes())
    return Row(item, vector, digest.hexdigest())


def unwritten(batch: Sequence[Row], known: Mapping[Key, str], families: Mapping[str, str]) -> list[int]:
    """The places of those rows of a batch that a store does not have; of equal ones, the first.

    Args:
        batch: in the order they are to be written.
        known: the digest of each item of the batch that the store has.
        families: the family of each shard of the batch that the store has.

    Raises:
        StoreError: an id's content differs from what is there, or a shard is of another family.
    """
    digests, kinds = dict(known), dict(families)
    fresh: list[int] = []
    for place, one in enumerate(batch):
        shard, item = one.key
        family = kinds.setdefault(shard, one.item.family)
        if family != one.item.family:
            raise StoreError(f"shard {shard!r} is a {family} shard; {item!r} is {one.item.family}: nothing was written")
        if one.key not in digests:
            digests[one.key] = one.digest
            fresh.append(place)
        elif digests[one.key] != one.digest:
            raise StoreError(
                f"shard {shard!r} has an item {item!r} with other content: ids are unique; nothing was written. "
                "Delete the item first if it is to be replaced"
            )
    return fresh


def asked(vector: Embedding, dimensions: int, k: int) -> Grid:
    """A request's vector on the grid.

    Raises:
        StoreError: other dimensions, or k below 1.
        ItemError: it has no direction.
    """
    if vector.shape != (dimensions,):
        raise StoreError(f"a vector of shape {vector.shape}: this store's vectors have {dimensions} dimensions")
    if k < 1:
        raise StoreError(f"k = {k}: ask for at least one item")
    return on_grid(vector)


def near(shard: str, line: str | bytes, product: float) -> Near:
    """A found item, from its line and the inner product on the grid."""
    kept: dict[str, Any] = from_json(line)
    return Near(kept["id"], shard, kept["text"], tuple(kept["cites"]), product / GRID**2)


def names(batch: Sequence[Row]) -> Iterator[tuple[Key, str]]:
    """Every text of a batch that a scope or a key is matched against, with the item it is of."""
    for one in batch:
        for text in (*one.key, *(getattr(one.item.meta, field) for field in FIELDS)):
            yield one.key, text
