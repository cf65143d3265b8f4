"""BM25 whose statistics come from admissible items alone: neither an IDF nor a mean length tells of the others.

bm25s computes scores when it builds its index, with the IDF of the whole; a scope of its own for each request would
need an index each. These are bm25s's scores (its "lucene" form) over exactly the admitted items, held to it by a test.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rebind.memory.shard import term_kernels
from rebind.memory.shard.corpus import Admitted
from rebind.memory.shard.segment import Rows, Segment
from rebind.memory.shard.terms import Terms

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Lexical:
    """A query's terms over what is admitted: T terms, A shards."""

    terms: Terms
    tf: NDArray[np.int32]
    """(T, A)."""
    item_idf: Floats
    """(T,) over admitted items."""
    item_mean_length: float
    shard_idf: Floats
    """(T,) over admitted shards."""
    shard_length: Rows
    read: int
    """Postings read."""

    def shard_scores(self) -> Floats:
        """BM25 of each admitted shard taken as one document, (A,)."""
        mean = float(self.shard_length.mean()) if len(self.shard_length) else 0.0
        return term_kernels.bm25(np.ascontiguousarray(self.tf.T), self.shard_length, mean, self.shard_idf)

    def item_scores(self, segment: Segment, rows: Rows) -> Floats:
        """BM25 of some items of a segment."""
        held = segment.item_terms, segment.item_counts
        counts = term_kernels.item_counts(rows, segment.term_starts, *held, self.terms)
        lengths = segment.item_length[rows].astype(np.int64)
        return term_kernels.bm25(counts, lengths, self.item_mean_length, self.item_idf)


def lexical(terms: Terms, admitted: Admitted) -> Lexical:
    """The statistics of a query's terms over what is admitted."""
    df, tf, read = admitted.counts(terms)
    items = admitted.items
    return Lexical(
        terms=terms,
        tf=tf,
        item_idf=_idf(df.sum(axis=1), items),
        item_mean_length=float(admitted.length.sum()) / items if items else 0.0,
        shard_idf=_idf((df > 0).sum(axis=1), len(admitted)),
        shard_length=admitted.length,
        read=read,
    )


def _idf(frequency: NDArray[np.int64], documents: int) -> Floats:
    idf: Floats = np.log(1.0 + (documents - frequency + 0.5) / (frequency + 0.5))
    return idf
