"""The inner loops of routers: features of shards, scores, and which shards are probed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebind.memory.shard.jit import compiled, reordered

Floats = NDArray[np.float64]
Families = NDArray[np.int8]
Rows = NDArray[np.int64]


@compiled
def _moments(values: NDArray[Any], family: Families, families: int) -> tuple[Floats, Floats]:
    """Mean and inverse standard deviation of each family's values; the latter is 0 where these are all equal.

    Sums are kept in four lanes, so that an addition need not wait for the one before it.
    """
    count, mean, spread = np.zeros((4, families)), np.zeros((4, families)), np.zeros((4, families))
    for place in range(len(values)):
        count[place & 3, family[place]] += 1.0
        mean[place & 3, family[place]] += values[place]
    centre, scale = np.zeros(families), np.zeros(families)
    for one in range(families):
        if count[:, one].sum() > 0:
            centre[one] = mean[:, one].sum() / count[:, one].sum()
    for place in range(len(values)):
        spread[place & 3, family[place]] += (values[place] - centre[family[place]]) ** 2
    for one in range(families):
        if count[:, one].sum() > 0:
            deviation = np.sqrt(spread[:, one].sum() / count[:, one].sum())
            scale[one] = 1.0 / deviation if deviation > 1e-12 else 0.0
    return centre, scale


@compiled
def _sink(values: Floats, places: Rows, root: int) -> None:
    """Restores a heap whose root is the worst: the smallest value, of equal ones the latest place."""
    while True:
        worst = root
        for child in (2 * root + 1, 2 * root + 2):
            if child < len(values) and (
                values[child] < values[worst] or (values[child] == values[worst] and places[child] > places[worst])
            ):
                worst = child
        if worst == root:
            return
        values[root], values[worst] = values[worst], values[root]
        places[root], places[worst] = places[worst], places[root]
        root = worst


@compiled
def largest(values: Floats, most: int) -> Rows:
    """Places of the `most` largest values, ascending; of equal ones, the earlier."""
    if len(values) <= most:
        return np.arange(len(values))
    heap, places = values[:most].copy(), np.arange(most)
    for root in range(most // 2, -1, -1):
        _sink(heap, places, root)
    for place in range(most, len(values)):
        if values[place] > heap[0]:
            heap[0], places[0] = values[place], place
            _sink(heap, places, 0)
    return np.sort(places)


@compiled
def shortlist(
    products: NDArray[np.int32], bm25: Floats, family: Families, families: int, most: int
) -> tuple[Rows, Floats, Floats]:
    """Places of the `most` shards whose inner product and BM25, each standardised within its family over all, have the
    largest sum; and both of these."""
    middle, scale = _moments(products, family, families)
    mean, factor = _moments(bm25, family, families)
    total = np.empty(len(products), dtype=np.float64)
    for place in range(len(total)):
        own = family[place]
        total[place] = (products[place] - middle[own]) * scale[own] + (bm25[place] - mean[own]) * factor[own]
    places = largest(total, most)
    of = family[places]
    return places, (products[places] - middle[of]) * scale[of], (bm25[places] - mean[of]) * factor[of]


@compiled
def feature_rows(
    cosine: Floats,
    products: NDArray[np.int32],
    bm25: Floats,
    dated: NDArray[np.bool_],
    size: Rows,
    family: Families,
    families: int,
) -> NDArray[np.float32]:
    """Features of n shards, (n, 5 + families): cosine and BM25 as they are, the best inner product of a sub-centroid
    standardised, whether dated, the logarithm of the size, which family."""
    mean, scale = _moments(products, family, families)
    rows = np.zeros((len(family), 5 + families), dtype=np.float32)
    for place in range(len(family)):
        rows[place, 0] = cosine[place]
        rows[place, 1] = (products[place] - mean[family[place]]) * scale[family[place]]
        rows[place, 2] = bm25[place]
        rows[place, 3] = dated[place]
        rows[place, 4] = np.log(size[place])
        rows[place, 5 + family[place]] = 1.0
    return rows


@compiled
def network_scores(
    seen: NDArray[np.float32], w1: NDArray[np.float32], b1: NDArray[np.float32], w2: NDArray[np.float32]
) -> Floats:
    """Mean over E two-layer networks of `w2 · relu(w1ᵀ x + b1)` for each row x of `seen` (n, F)."""
    scores = np.zeros(len(seen), dtype=np.float64)
    hidden = np.empty(w1.shape[2], dtype=np.float64)
    for place in range(len(seen)):
        total = 0.0
        for network in range(w1.shape[0]):
            for unit in range(len(hidden)):
                hidden[unit] = b1[network, unit]
            for feature in range(seen.shape[1]):
                for unit in range(len(hidden)):  # innermost, so that it is vectorised
                    hidden[unit] += seen[place, feature] * w1[network, feature, unit]
            for unit in range(len(hidden)):
                if hidden[unit] > 0:
                    total += hidden[unit] * w2[network, unit]
        scores[place] = total / w1.shape[0]
    return scores


@reordered
def hidden_scores(
    query: NDArray[np.float32],
    shards: NDArray[np.float32],
    rows: Rows,
    output: NDArray[np.float32],
    bias: float,
) -> Floats:
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


@reordered
def first_layer(
    vectors: NDArray[np.int16], rows: Rows, weights: NDArray[np.float32], scale: float
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


@compiled
def probes(scores: Floats, temperature: float, most: int) -> tuple[Rows, Floats, float]:
    """Places of the `most` largest finite scores, best first, of equal ones the earlier; the softmax of all scores over
    the temperature, 0 for -inf; and its entropy over the largest it could be."""
    probabilities = np.zeros(len(scores), dtype=np.float64)
    best = np.empty(min(most, len(scores)), dtype=np.int64)
    filled = 0
    for place in range(len(scores)):
        if scores[place] == -np.inf or (filled == len(best) and scores[place] <= scores[best[-1]]):
            continue
        filled += filled < len(best)
        at = filled - 1
        while at > 0 and scores[best[at - 1]] < scores[place]:
            best[at] = best[at - 1]
            at -= 1
        best[at] = place
    total = entropy = 0.0
    for place in range(len(scores)):
        if scores[place] > -np.inf:
            probabilities[place] = np.exp((scores[place] - scores[best[0]]) / temperature)
            total += probabilities[place]
    for place in range(len(scores)):
        if probabilities[place] > 0:
            probabilities[place] /= total
            entropy -= probabilities[place] * np.log(probabilities[place])
    return best[:filled], probabilities, entropy / np.log(len(scores)) if len(scores) > 1 else 0.0


@compiled
def _add_scaled(total: Floats, weight: float, values: Floats) -> None:
    low, high = values.min(), values.max()
    if high > low:
        for place in range(len(total)):
            total[place] += weight * ((values[place] - low) / (high - low))


@compiled
def ranked(bm25: Floats, cosine: Floats, routed: Floats, weights: Floats, most: int) -> tuple[Floats, Rows]:
    """Weighted sum of three scores of n candidates, each min-maxed over them (0 where all are equal); and the places of
    the `most` largest sums, with all that equal the least of these."""
    total = np.zeros(len(bm25), dtype=np.float64)
    _add_scaled(total, weights[0], bm25)
    _add_scaled(total, weights[1], cosine)
    _add_scaled(total, weights[2], routed)
    bar = np.sort(total)[max(0, len(total) - most)]
    return total, np.flatnonzero(total >= bar)
