"""What a store of shards offers wherever it is kept: items in, rights changed, scoped search out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from rebind.memory.shard.scope import Scope
from rebind.memory.shard.segment import Item

Embedding = NDArray[np.float32]
Index = Literal["exact", "hnsw"]


@dataclass(frozen=True)
class Near:
    """An admitted item that was found."""

    id: str
    shard: str
    text: str
    cites: tuple[str, ...]
    cosine: float


class ShardStore(Protocol):
    """A store of shards. A change that was acknowledged is in force in every search that begins after it, in every
    process. All methods raise `StoreError` where the store cannot be reached or is asked for what it cannot do."""

    @property
    def dimensions(self) -> int:
        """Of its vectors."""
        ...

    def ingest(self, items: Sequence[Item], embeddings: Embedding) -> int:
        """Adds items with their embeddings (n, d), all of them or, where it raises, none; returns how many were added.

        An item is known by shard and id. One that is there already, with the same content, is passed over, so that an
        ingest whose acknowledgement was lost may be sent again. Its label stays: `relabel` changes that.

        Raises:
            StoreError: other dimensions, an id whose content differs, or a shard of another family.
            ItemError: an embedding has no direction.
        """
        ...

    def grant(self, principal: str, label: str) -> None:
        """Lets a principal read a label."""
        ...

    def revoke(self, principal: str, label: str) -> None:
        """Takes a label from a principal."""
        ...

    def relabel(self, shard: str, label: str, item: str | None = None) -> None:
        """Gives a shard's items, or one of them, another label. Raises `StoreError` where there is none such."""
        ...

    def delete(self, shard: str, item: str | None = None) -> None:
        """Deletes a shard's items, or one of them. Raises `StoreError` where there is none such."""
        ...

    def admissible(self, scope: Scope) -> Mapping[str, int]:
        """The shards that hold an admitted item, by name, with how many they hold: what a router may choose among."""
        ...

    def search(self, scope: Scope, vector: Embedding, k: int, shards: Sequence[str] | None = None) -> tuple[Near, ...]:
        """The `k` admitted items that are nearest to a vector (d,) by cosine, best first.

        Equally near items come in the order of their shards' names, within a shard in the order they were written; at
        the cut, a graph ("hnsw") may take another of them.

        Args:
            scope: what to admit; it is part of the search, not applied to what was found.
            vector: an embedding.
            k: at least 1.
            shards: the shards to probe; all where not given.
        """
        ...

    def close(self) -> None:
        """Lets go of connections and files."""
        ...
