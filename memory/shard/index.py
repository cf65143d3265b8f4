"""Shard-local search behind one protocol: exact up to about 10,000 vectors, FAISS HNSW above."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rebind.memory.shard import kernels
from rebind.memory.shard.segment import GRID, Grid, Rows

EXACT_UP_TO = 10_000
"""Below this an exact scan is faster than HNSW and misses nothing (design, Formulas)."""
_M, _EF_BUILD, _EF_SEARCH = 32, 100, 128


@dataclass(frozen=True, eq=False)
class Found:
    """Rows of the L best, best first (ties: the earlier row), their cosines, and how many vectors were scanned."""

    rows: Rows
    cosines: NDArray[np.float64]
    scanned: int


class ShardIndex(Protocol):
    def search(self, query: Grid, most: int) -> Found:
        """The `most` nearest items by cosine."""
        ...


class Exact:
    """Looks at every one of some rows of a vector table."""

    def __init__(self, vectors: Grid, rows: Rows) -> None:
        self._vectors, self._rows = vectors, rows

    def search(self, query: Grid, most: int) -> Found:
        rows, products = kernels.nearest(self._vectors, self._rows, query, most)
        return Found(rows, products / float(GRID**2), len(self._rows))


def faiss_alone() -> Any:
    """FAISS with one thread. Without a type: its own leave out the settings and counters of a graph."""
    import faiss

    faiss.omp_set_num_threads(1)
    return faiss


class Hnsw:
    """FAISS HNSW over all of some rows, built with one thread so that equal rows give an equal graph."""

    def __init__(self, vectors: Grid, rows: Rows) -> None:
        faiss = faiss_alone()
        self._vectors, self._rows = vectors, rows
        self._graph: Any = faiss.IndexHNSWFlat(vectors.shape[1], _M, faiss.METRIC_INNER_PRODUCT)
        self._graph.hnsw.efConstruction = _EF_BUILD
        self._graph.add(np.ascontiguousarray(vectors[rows], dtype=np.float32))

    def search(self, query: Grid, most: int, among: NDArray[np.int64] | None = None) -> Found:
        """`among`: places of the only rows that may be found."""
        faiss = faiss_alone()
        settings: dict[str, Any] = {"efSearch": max(_EF_SEARCH, most)}
        if among is not None:
            settings["sel"] = faiss.IDSelectorBatch(among)
        faiss.cvar.hnsw_stats.reset()
        _, places = self._graph.search(
            query[None].astype(np.float32), min(most, len(self._rows)), params=faiss.SearchParametersHNSW(**settings)
        )
        scanned = int(faiss.cvar.hnsw_stats.ndis)
        rows = self._rows[places[0][places[0] >= 0]]
        found = Exact(self._vectors, rows).search(query, most)
        return Found(found.rows, found.cosines, scanned)


def shard_index(vectors: Grid, rows: Rows, exact_up_to: int = EXACT_UP_TO) -> ShardIndex:
    """The index over admitted rows of one shard. A graph holds these alone: one over the whole shard would be walked
    through what is not admitted.

    Args:
        vectors: (N, d) on the grid.
        rows: the admitted rows, ascending.
        exact_up_to: most rows that are scanned.
    """
    return Hnsw(vectors, rows) if len(rows) > exact_up_to else Exact(vectors, rows)
