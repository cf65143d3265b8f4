"""BM25 whose statistics come from admissible items alone: neither an IDF nor a mean length tells of the others.

bm25s computes scores when it builds its index, with the IDF of the whole; a scope of its own for each request would
need an index each. These are bm25s's scores (its "lucene" form) over exactly the admitted items, held to it by a test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rebind.memory.shard import term_kernels
from rebind.memory.shard.corpus import Admitted, Part
from rebind.memory.shard.segment import Rows, Segment
from rebind.memory.shard.terms import Terms

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Postings:
    """T terms at the admitted shards of one part."""

    inside: slice
    """Where the part's shards lie among the A."""
    edges: Rows
    """(2, T): where each term's postings begin and end in `places` and `tf`."""
    places: NDArray[np.int32]
    """Of shards admitted whole, within the part."""
    tf: NDArray[np.int32]
    partial: Rows
    """(P,) places of shards admitted in part."""
    partial_tf: NDArray[np.int32]
    """(T, P) how often a term occurs in their admitted items."""


@dataclass(frozen=True, eq=False)
class Lexical:
    """A query's terms over what is admitted: T terms, A shards."""

    terms: Terms
    postings: Sequence[Postings]
    item_idf: Floats
    """(T,) over admitted items."""
    item_mean_length: float
    shard_idf: Floats
    """(T,) over admitted shards."""
    shard_mean_length: float
    shard_length: Rows
    read: int
    """Postings read."""

    def shard_scores(self) -> Floats:
        """BM25 of each admitted shard taken as one document, (A,)."""
        scores = np.zeros(len(self.shard_length))
        for own in self.postings:
            term_kernels.add_shard_scores(
                scores[own.inside], self.shard_length[own.inside], self.shard_mean_length, self.shard_idf,
                own.edges, own.places, own.tf, own.partial, own.partial_tf,
            )  # fmt: skip
        return scores

    def item_scores(self, segment: Segment, rows: Rows) -> Floats:
        """BM25 of some items of a segment."""
        held = segment.term_starts, segment.item_terms, segment.item_counts, segment.item_length
        return term_kernels.item_scores(rows, *held, self.terms, self.item_idf, self.item_mean_length)


def lexical(terms: Terms, admitted: Admitted) -> Lexical:
    """The statistics of a query's terms over what is admitted."""
    postings: list[Postings] = []
    in_items, in_shards = np.zeros((2, len(terms)), dtype=np.int64)
    for begin, part in zip(admitted.offsets, admitted.parts, strict=False):
        own, df = _postings(terms, part, slice(begin, begin + len(part.shards)))
        postings.append(own)
        in_items += df
        in_shards += own.edges[1] - own.edges[0]
        if len(part.partial):
            in_shards += np.count_nonzero(own.partial_tf, axis=1)
    items, shards = admitted.items, len(admitted)
    return Lexical(
        terms=terms,
        postings=postings,
        item_idf=term_kernels.idf(in_items, items),
        item_mean_length=admitted.words / items if items else 0.0,
        shard_idf=term_kernels.idf(in_shards, shards),
        shard_mean_length=admitted.words / shards if shards else 0.0,
        shard_length=admitted.length,
        read=int(in_shards.sum()),
    )


def _postings(terms: Terms, part: Part, inside: slice) -> tuple[Postings, NDArray[np.int64]]:
    """The postings of one part, and how many of its admitted items hold each term: from the store's postings, and for
    shards admitted in part from the items themselves."""
    segment = part.view.segment
    edges, places, tf, df = term_kernels.postings(
        segment.terms, segment.post_starts, segment.post_shard, segment.post_df, segment.post_tf,
        terms, part.shards, part.partial, part.everything,
    )  # fmt: skip
    counts = np.zeros((2, len(terms), len(part.partial)), dtype=np.int32)
    if len(part.partial):
        held = segment.term_starts, segment.item_terms, segment.item_counts
        term_kernels.group_counts(part.kept, part.starts, *held, terms, *counts)
        df += counts[0].sum(axis=1)
    return Postings(inside, edges, places, tf, part.partial, counts[1]), df
