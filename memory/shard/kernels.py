"""The inner loops of the read path over vectors.

Vectors are whole multiples of 1/`GRID` held as int16, so every inner product is an exact integer: it is the same
whatever else lies in the store, on every machine, in every order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rebind.memory.shard.jit import compiled


@compiled
def dots(vectors: NDArray[np.int16], rows: NDArray[np.int64], query: NDArray[np.int16]) -> NDArray[np.int32]:
    """Inner products of some rows of `vectors` (N, d) with `query` (d,)."""
    found = np.empty(len(rows), dtype=np.int32)
    for place in range(len(rows)):
        vector = vectors[rows[place]]
        total = np.int32(0)
        for column in range(query.shape[0]):
            total += np.int32(vector[column]) * np.int32(query[column])
        found[place] = total
    return found


@compiled
def nearest(
    vectors: NDArray[np.int16], rows: NDArray[np.int64], query: NDArray[np.int16], most: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The `most` rows of largest inner product with `query`, best first, and these; ties go to the earlier row."""
    products = dots(vectors, rows, query)  # apart from the choice, so that this loop is vectorised
    best = np.empty(min(most, len(rows)), dtype=np.int64)
    value = np.empty(len(best), dtype=np.int32)
    filled = 0
    for place in range(len(rows)):
        product = products[place]
        if filled < len(best):
            filled += 1
        elif product <= value[filled - 1]:
            continue
        at = filled - 1
        while at > 0 and value[at - 1] < product:
            value[at], best[at] = value[at - 1], best[at - 1]
            at -= 1
        value[at], best[at] = product, rows[place]
    return best, value


@compiled
def best_of_groups(
    vectors: NDArray[np.int16], groups: NDArray[np.int64], query: NDArray[np.int16]
) -> NDArray[np.int32]:
    """Largest inner product of `query` (d,) with the vectors of each of some groups of `vectors` (S, n, d)."""
    found = np.empty(len(groups), dtype=np.int32)
    for place in range(len(groups)):
        best = np.int32(-(2**31))
        for piece in range(vectors.shape[1]):
            vector = vectors[groups[place], piece]
            total = np.int32(0)
            for column in range(query.shape[0]):
                total += np.int32(vector[column]) * np.int32(query[column])
            best = max(best, total)
        found[place] = best
    return found


@compiled
def _scale(sums: NDArray[np.int32], grid: int, result: NDArray[np.int16]) -> None:
    """A sum scaled to length 1 on the grid."""
    square = 0.0
    for column in range(len(sums)):
        square += float(sums[column]) * float(sums[column])
    if square > 0:
        scale = grid / np.sqrt(square)
        for column in range(len(sums)):
            result[column] = np.int16(np.rint(sums[column] * scale))


@compiled
def directions(
    vectors: NDArray[np.int16], rows: NDArray[np.int64], starts: NDArray[np.int64], pieces: int, grid: int
) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Means of groups of rows, (groups, d), and of their `pieces` even runs, (groups, pieces, d), each scaled to length
    1 on the grid.

    Group g is `rows[starts[g]:starts[g + 1]]`, at least one row; fewer rows than pieces: the last repeats. Cuts are
    those of numpy's `array_split`. Sums are exact. A mean without direction is zeros.
    """
    width = vectors.shape[1]
    wholes = np.zeros((len(starts) - 1, width), dtype=np.int16)
    runs = np.zeros((len(starts) - 1, pieces, width), dtype=np.int16)
    whole = np.zeros(width, dtype=np.int32)  # good for half a million rows of one direction
    part = np.zeros(width, dtype=np.int32)
    for group in range(len(starts) - 1):
        whole[:] = 0
        size = starts[group + 1] - starts[group]
        parts = min(size, pieces)
        at = starts[group]
        for piece in range(parts):
            part[:] = 0
            end = at + size // parts + (1 if piece < size % parts else 0)
            for place in range(at, end):
                vector = vectors[rows[place]]
                for column in range(width):
                    part[column] += vector[column]
            at = end
            for column in range(width):
                whole[column] += part[column]
            _scale(part, grid, runs[group, piece])
        for piece in range(parts, pieces):
            runs[group, piece] = runs[group, parts - 1]
        _scale(whole, grid, wholes[group])
    return wholes, runs
