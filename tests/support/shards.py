"""Small made-up stores of evidence: vectors are bags of hashed words, so no model is loaded."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from rebind.memory.shard.corpus import Admitted, View, admit
from rebind.memory.shard.query import Query, make_query
from rebind.memory.shard.scope import FIELDS, ItemMeta, Scope, Vocabulary
from rebind.memory.shard.segment import Family, Item, build_segment, on_grid

DIMENSIONS = 32
WORDS = (
    "apple",
    "boat",
    "cedar",
    "dance",
    "ember",
    "falcon",
    "guitar",
    "harbor",
    "island",
    "jacket",
    "kitten",
    "lemon",
)
START = datetime(2023, 5, 8, tzinfo=UTC)


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors (n, DIMENSIONS) of length 1; texts that share words are near."""
    vectors = np.full((len(texts), DIMENSIONS), 0.05, dtype=np.float32)
    for row, text in enumerate(texts):
        for word in text.split():
            vectors[row, zlib.crc32(word.encode()) % DIMENSIONS] += 1.0
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def an_item(
    number: int, shard: str, text: str, family: Family = "observation", days: int | None = 0, **meta: str
) -> Item:
    """An item with its metadata; `days` after the start, or without a time."""
    time = None if days is None else START + timedelta(days=days)
    return Item(id=f"i{number:04}", text=text, shard=shard, family=family, meta=ItemMeta(**meta, time=time))  # type: ignore[arg-type]  # meta are texts


def ask(text: str) -> Query:
    return make_query(text, embed([text])[0])


class Small:
    """Items as a store of one segment."""

    def __init__(self, items: Sequence[Item], held: dict[str, frozenset[str]] | None = None) -> None:
        self.items, self.held = list(items), held or {}
        self.names = [Vocabulary() for _ in FIELDS]
        vectors = on_grid(embed([item.text for item in items])) if items else np.empty((0, DIMENSIONS), np.int16)
        self.segment = build_segment(self.items, vectors, self.names)

    def admit(self, scope: Scope) -> Admitted:
        return admit([View.of(self.segment)], scope, self.names, self.held)
