"""The inner loops of the read path over vectors, metadata and router weights.

Vectors are whole multiples of 1/`GRID` held as int16, so every inner product is an exact integer: it is the same
whatever else lies in the store, on every machine, in every order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rebind.memory.shard.jit import compiled, reordered


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
) -> NDArray[np.int64]:
    """The `most` rows of largest inner product with `query`, best first; ties go to the earlier row."""
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
    return best


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
) -> NDArray[np.int16]:
    """Means of groups of rows and of their `pieces` even runs, scaled to length 1 on the grid, (1 + pieces, groups, d).

    Group g is `rows[starts[g]:starts[g + 1]]`, at least one row; fewer rows than pieces: the last repeats. Cuts are
    those of numpy's `array_split`. Sums are exact. A mean without direction is zeros.
    """
    width = vectors.shape[1]
    found = np.zeros((1 + pieces, len(starts) - 1, width), dtype=np.int16)
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
            _scale(part, grid, found[1 + piece, group])
        for piece in range(parts, pieces):
            found[1 + piece, group] = found[parts, group]
        _scale(whole, grid, found[0, group])
    return found


@compiled
def shard_states(
    codes: NDArray[np.int32],
    fields: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    begins: NDArray[np.int64],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    low: int,
    high: int,
) -> NDArray[np.int8]:
    """0 where nothing of a shard is admitted, 2 where all is, 1 where its items decide.

    `allowed[begins[i] + code]` says whether field `fields[i]` admits a code; a code below 0 is a mixed shard's.
    """
    found = np.empty(codes.shape[1], dtype=np.int8)
    for shard in range(len(found)):
        state = 2
        for i in range(len(fields)):
            code = codes[fields[i], shard]
            if code < 0:
                state = min(state, 1)
            elif not allowed[begins[i] + code]:
                state = 0
                break
        if last[shard] < low or first[shard] > high:
            state = 0
        elif first[shard] < low or last[shard] > high:
            state = min(state, 1)
        found[shard] = state
    return found


@compiled
def row_flags(
    codes: NDArray[np.int32],
    times: NDArray[np.int64],
    rows: NDArray[np.int64],
    fields: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    begins: NDArray[np.int64],
    low: int,
    high: int,
) -> NDArray[np.bool_]:
    """Whether some items are admitted; arguments as in `shard_states`."""
    found = np.ones(len(rows), dtype=np.bool_)
    for place in range(len(rows)):
        row = rows[place]
        if times[row] < low or times[row] > high:
            found[place] = False
            continue
        for i in range(len(fields)):
            if not allowed[begins[i] + codes[fields[i], row]]:
                found[place] = False
                break
    return found


@compiled
def standardised(values: NDArray[np.float64], group: NDArray[np.int8], groups: int) -> NDArray[np.float64]:
    """Values less their group's mean, over its standard deviation; 0 where a group's values are all equal."""
    count, mean, spread = np.zeros(groups), np.zeros(groups), np.zeros(groups)
    for place in range(len(values)):
        count[group[place]] += 1.0
        mean[group[place]] += values[place]
    for one in range(groups):
        if count[one] > 0:
            mean[one] /= count[one]
    for place in range(len(values)):
        spread[group[place]] += (values[place] - mean[group[place]]) ** 2
    for one in range(groups):
        if count[one] > 0:
            spread[one] = np.sqrt(spread[one] / count[one])
    result = np.zeros(len(values), dtype=np.float64)
    for place in range(len(values)):
        if spread[group[place]] > 1e-12:
            result[place] = (values[place] - mean[group[place]]) / spread[group[place]]
    return result


@reordered
def hidden_scores(
    query: NDArray[np.float32],
    shards: NDArray[np.float32],
    rows: NDArray[np.int64],
    output: NDArray[np.float32],
    bias: float,
) -> NDArray[np.float64]:
    """Second layer of a factorised router: `bias + output · relu(query + shards[row])` for some rows (hidden,)."""
    scores = np.empty(len(rows), dtype=np.float64)
    for place in range(len(rows)):
        row = rows[place]
        total = np.float32(0.0)
        for unit in range(query.shape[0]):
            value = query[unit] + shards[row, unit]
            if value > 0:
                total += value * output[unit]
        scores[place] = bias + total
    return scores


@compiled
def network_scores(
    seen: NDArray[np.float32], w1: NDArray[np.float32], b1: NDArray[np.float32], w2: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Mean over E two-layer networks of `w2 · relu(w1ᵀ x + b1)` for each row x of `seen` (n, F)."""
    scores = np.zeros(len(seen), dtype=np.float64)
    for place in range(len(seen)):
        for network in range(w1.shape[0]):
            for unit in range(w1.shape[2]):
                value = np.float64(b1[network, unit])
                for feature in range(seen.shape[1]):
                    value += seen[place, feature] * w1[network, feature, unit]
                if value > 0:
                    scores[place] += value * w2[network, unit]
        scores[place] /= w1.shape[0]
    return scores


@reordered
def first_layer(
    vectors: NDArray[np.int16], rows: NDArray[np.int64], weights: NDArray[np.float32], scale: float
) -> NDArray[np.float32]:
    """`scale` · weights · vector for some rows: weights (H, d), result (rows, H)."""
    found = np.empty((len(rows), weights.shape[0]), dtype=np.float32)
    for place in range(len(rows)):
        for unit in range(weights.shape[0]):
            total = np.float32(0.0)
            for column in range(weights.shape[1]):
                total += weights[unit, column] * vectors[rows[place], column]
            found[place, unit] = total * scale
    return found
