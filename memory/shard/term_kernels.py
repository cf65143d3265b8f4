"""The inner loops of the read path over terms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rebind.memory.shard.jit import compiled

_K1, _B = 1.5, 0.75
"""bm25s's defaults."""


@compiled
def _gallop(values: NDArray[np.int32], start: int, stop: int, wanted: int) -> int:
    """First place in the ascending `values[start:stop]` that holds at least `wanted`."""
    step, low, high = 1, start, start
    while high < stop and values[high] < wanted:
        low = high + 1
        high = start + step
        step *= 2
    high = min(high, stop)
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def shard_counts(  # noqa: PLR0913, PLR0917  # compiled code takes arrays, not objects
    begin: NDArray[np.int64],
    end: NDArray[np.int64],
    posted: NDArray[np.int32],
    posted_df: NDArray[np.int32],
    posted_tf: NDArray[np.int32],
    shards: NDArray[np.int32],
    whole: NDArray[np.bool_],
    df: NDArray[np.int32],
    tf: NDArray[np.int32],
) -> int:
    """How many items of each shard hold each term, and how often in all; how many postings were read.

    Postings of term t are `posted[begin[t]:end[t]]`, ascending. Only those of `shards` (ascending) that are `whole` are
    read: what lies between two of them is leapt over. Row t of `df` and `tf` has a place for each shard.
    """
    read = 0
    for t in range(len(begin)):
        at, stop, place = begin[t], end[t], 0
        while at < stop and place < len(shards):
            wanted = shards[place]
            at = _gallop(posted, at, stop, wanted)
            if at == stop:
                break
            if posted[at] == wanted:
                if whole[place]:
                    df[t, place] = posted_df[at]
                    tf[t, place] = posted_tf[at]
                    read += 1
                at += 1
                place += 1
            else:
                place = _gallop(shards, place, len(shards), posted[at])
    return read


@compiled
def item_counts(
    rows: NDArray[np.int64],
    starts: NDArray[np.int64],
    terms: NDArray[np.uint64],
    counts: NDArray[np.uint16],
    wanted: NDArray[np.uint64],
) -> NDArray[np.int32]:
    """How often each wanted term (ascending) occurs in each of some items, (rows, wanted)."""
    found = np.zeros((len(rows), len(wanted)), dtype=np.int32)
    for place in range(len(rows)):
        t = 0
        for at in range(starts[rows[place]], starts[rows[place] + 1]):
            while t < len(wanted) and wanted[t] < terms[at]:
                t += 1
            if t == len(wanted):
                break
            if wanted[t] == terms[at]:
                found[place, t] = counts[at]
    return found


@compiled
def group_counts(
    rows: NDArray[np.int64],
    begins: NDArray[np.int64],
    starts: NDArray[np.int64],
    terms: NDArray[np.uint64],
    counts: NDArray[np.uint16],
    wanted: NDArray[np.uint64],
    df: NDArray[np.int32],
    tf: NDArray[np.int32],
) -> None:
    """How many items of each group hold each wanted term (ascending), and how often in all; group g is
    `rows[begins[g]:begins[g + 1]]`, `df` and `tf` are (wanted, groups) and zero."""
    for group in range(len(begins) - 1):
        for place in range(begins[group], begins[group + 1]):
            t = 0
            for at in range(starts[rows[place]], starts[rows[place] + 1]):
                while t < len(wanted) and wanted[t] < terms[at]:
                    t += 1
                if t == len(wanted):
                    break
                if wanted[t] == terms[at]:
                    df[t, group] += 1
                    tf[t, group] += counts[at]


@compiled
def bm25(
    counts: NDArray[np.int32], lengths: NDArray[np.int64], mean_length: float, idf: NDArray[np.float64]
) -> NDArray[np.float64]:
    """BM25 scores (bm25s's "lucene" form) of documents with `counts` (documents, terms) and `lengths` (documents,)."""
    scores = np.zeros(len(counts), dtype=np.float64)
    for place in range(len(counts)):
        norm = _K1 * (1.0 - _B + _B * lengths[place] / mean_length) if mean_length > 0 else _K1
        for t in range(len(idf)):
            tf = counts[place, t]
            if tf > 0:
                scores[place] += idf[t] * tf / (tf + norm)
    return scores
