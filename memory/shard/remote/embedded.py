"""The embedded store behind the protocol: a folder on this machine (see `rebind.memory.shard.store`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rebind.memory.shard import kernels
from rebind.memory.shard.corpus import Part
from rebind.memory.shard.generation import MANIFEST, create
from rebind.memory.shard.log import StoreError
from rebind.memory.shard.remote.batch import asked, near, row, rows_of, unwritten
from rebind.memory.shard.remote.protocol import Embedding, Near
from rebind.memory.shard.scope import Scope
from rebind.memory.shard.segment import Item, Rows
from rebind.memory.shard.store import Store


class EmbeddedShards:
    """A `ShardStore` in a folder. Every search is an exact scan over the admitted rows."""

    def __init__(self, store: Store) -> None:
        self.store = store

    @staticmethod
    def open(folder: Path, dimensions: int) -> EmbeddedShards:
        """Opens the store of a folder, or makes one where there is none.

        Raises:
            StoreError: the folder holds something else, or vectors of other dimensions.
        """
        if not (folder / MANIFEST).exists():
            create(folder, dimensions, "not said")
        opened = EmbeddedShards(Store(folder))
        if opened.dimensions != dimensions:
            raise StoreError(f"{folder} holds vectors of {opened.dimensions} dimensions, not of {dimensions}")
        return opened

    @property
    def dimensions(self) -> int:
        return int(self.store.base.vectors.shape[1])

    def ingest(self, items: Sequence[Item], embeddings: Embedding) -> int:
        batch = rows_of(items, embeddings, self.dimensions)
        known = {shard: self.store.written(shard) for shard in {one.item.shard for one in batch}}
        digests = {(shard, item.id): row(item, vector).digest for shard, own in known.items() for item, vector in own}
        fresh = unwritten(batch, digests, {shard: own[0][0].family for shard, own in known.items() if own})
        if fresh:
            self.store.append([items[place] for place in fresh], embeddings[fresh])
        return len(fresh)

    def grant(self, principal: str, label: str) -> None:
        self.store.grant(principal, label)

    def revoke(self, principal: str, label: str) -> None:
        self.store.revoke(principal, label)

    def relabel(self, shard: str, label: str, item: str | None = None) -> None:
        self.store.relabel(shard, label, item)

    def delete(self, shard: str, item: str | None = None) -> None:
        self.store.delete(shard, item)

    def admissible(self, scope: Scope) -> dict[str, int]:
        admitted = self.store.admit(scope)
        return dict(sorted((admitted.name(place), int(size)) for place, size in enumerate(admitted.size)))

    def search(self, scope: Scope, vector: Embedding, k: int, shards: Sequence[str] | None = None) -> tuple[Near, ...]:
        query = asked(vector, self.dimensions, k)
        admitted = self.store.admit(scope)
        probed = None if shards is None else frozenset(shards)
        found: list[tuple[int, str, int, Part]] = []
        for part in admitted.parts:
            segment = part.view.segment
            rows, products = kernels.nearest(segment.vectors, _rows(part, probed), query, k)
            still = part.view.admits(self.store.admission(scope, admitted.admission), rows)
            for at, product in zip(rows[still].tolist(), products[still].tolist(), strict=True):
                found.append((-product, segment.name(segment.shard_of(at)), at, part))
        found.sort(key=lambda one: one[:3])
        return tuple(near(shard, part.view.segment.line(at), -less) for less, shard, at, part in found[:k])

    def close(self) -> None:
        """Nothing to let go of: its files are mapped, and go with it."""


def _rows(part: Part, probed: frozenset[str] | None) -> Rows:
    """The admitted rows of a part that lie in the probed shards, ascending."""
    if part.everything and probed is None:
        return np.arange(part.view.segment.items)
    name = part.view.segment.name
    places = range(len(part.shards))
    chosen = [p for p in places if probed is None or name(int(part.shards[p])) in probed]
    return np.concatenate([part.rows(place) for place in chosen] or [np.empty(0, dtype=np.int64)])
