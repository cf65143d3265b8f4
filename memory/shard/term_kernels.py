"""The inner loops of the read path over terms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebind.memory.shard.jit import compiled

_K1, _B = 1.5, 0.75
"""bm25s's defaults."""


@compiled
def _gallop(values: NDArray[np.integer[Any]], start: int, stop: int, wanted: int) -> int:
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
def postings(  # noqa: PLR0913, PLR0917  # compiled code takes arrays, not objects
    terms: NDArray[np.uint64],
    starts: NDArray[np.int64],
    posted: NDArray[np.int32],
    posted_df: NDArray[np.int32],
    posted_tf: NDArray[np.int32],
    wanted: NDArray[np.uint64],
    shards: NDArray[np.int64],
    partial: NDArray[np.int64],
    everything: bool,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """The postings of T wanted terms (ascending) at shards that are admitted whole.

    Postings of the store's term v are `posted[starts[v]:starts[v + 1]]`, ascending. Only those of `shards` (ascending)
    are read: what lies between two of them is leapt over. `partial` are places of shards to leave out, ascending;
    `everything` says that `shards` are all there are, and none to be left out.

    Returns: where each term's postings begin and end, (2, T); of each posting the place of its shard and how often the
    term occurs in it; and how many items of these shards hold each term, (T,).
    """
    first = np.searchsorted(terms, wanted)
    edges, df = np.zeros((2, len(wanted)), dtype=np.int64), np.zeros(len(wanted), dtype=np.int64)
    most = 0
    for t in range(len(wanted)):
        if first[t] < len(terms) and terms[first[t]] == wanted[t]:
            edges[0, t], edges[1, t] = starts[first[t]], starts[first[t] + 1]
            most += min(edges[1, t] - edges[0, t], len(shards))
    if everything:
        for t in range(len(wanted)):
            df[t] = posted_df[edges[0, t] : edges[1, t]].sum()
        return edges, posted, posted_tf, df
    places, tf = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)
    found = 0
    for t in range(len(wanted)):
        at, stop, place, part = edges[0, t], edges[1, t], 0, 0
        edges[0, t] = found
        while at < stop and place < len(shards):
            if posted[at] < shards[place]:
                at = _gallop(posted, at, stop, shards[place])
                if at == stop:
                    break
            if posted[at] > shards[place]:
                place = _gallop(shards, place, len(shards), posted[at])
                continue
            while part < len(partial) and partial[part] < place:
                part += 1
            if part == len(partial) or partial[part] != place:
                places[found], tf[found] = place, posted_tf[at]
                df[t] += posted_df[at]
                found += 1
            at += 1
            place += 1
        edges[1, t] = found
    return edges, places, tf, df


@compiled
def idf(frequency: NDArray[np.int64], documents: int) -> NDArray[np.float64]:
    """Of terms that so many of the documents hold (bm25s's "lucene" form)."""
    found: NDArray[np.float64] = np.log(1.0 + (documents - frequency + 0.5) / (frequency + 0.5))
    return found


@compiled
def _norm(length: Any, mean_length: float) -> float:
    """What BM25 (bm25s's "lucene" form) adds to a count below the line."""
    return _K1 * (1.0 - _B + _B * length / mean_length) if mean_length > 0 else _K1


@compiled
def add_shard_scores(  # noqa: PLR0913, PLR0917  # compiled code takes arrays, not objects
    scores: NDArray[np.float64],
    lengths: NDArray[np.int64],
    mean_length: float,
    idf: NDArray[np.float64],
    edges: NDArray[np.int64],
    places: NDArray[np.int32],
    tf: NDArray[np.int32],
    partial: NDArray[np.int64],
    partial_tf: NDArray[np.int32],
) -> None:
    """Adds BM25 to shards as documents: `edges`, `places` and `tf` as `postings` gives them, `partial_tf` (T, P)."""
    for t in range(len(idf)):
        for at in range(edges[0, t], edges[1, t]):
            scores[places[at]] += idf[t] * tf[at] / (tf[at] + _norm(lengths[places[at]], mean_length))
        for part in range(len(partial)):
            if partial_tf[t, part] > 0:
                norm = _norm(lengths[partial[part]], mean_length)
                scores[partial[part]] += idf[t] * partial_tf[t, part] / (partial_tf[t, part] + norm)


@compiled
def item_scores(
    rows: NDArray[np.int64],
    starts: NDArray[np.int64],
    terms: NDArray[np.uint64],
    counts: NDArray[np.uint16],
    lengths: NDArray[np.int32],
    wanted: NDArray[np.uint64],
    idf: NDArray[np.float64],
    mean_length: float,
) -> NDArray[np.float64]:
    """BM25 of some items for wanted terms (ascending)."""
    scores = np.zeros(len(rows), dtype=np.float64)
    for place in range(len(rows)):
        row, t = rows[place], 0
        norm = _norm(lengths[row], mean_length)
        for at in range(starts[row], starts[row + 1]):
            while t < len(wanted) and wanted[t] < terms[at]:
                t += 1
            if t == len(wanted):
                break
            if wanted[t] == terms[at]:
                scores[place] += idf[t] * counts[at] / (counts[at] + norm)
    return scores


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
