"""The compiled loops that build units: geometry, nearest neighbours and communities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rebind.memory.osu.jit import compiled, reordered
from rebind.memory.osu.kernels import Floats, Ints
from rebind.memory.osu.trajectory import Vectors, Whole


@compiled
def measure(vectors: Whole, flat: Ints, starts: Ints) -> tuple[Floats, Floats]:
    norms = np.empty(len(starts) - 1)
    pulls = np.empty(len(flat))
    total = np.empty(vectors.shape[1], dtype=np.int32)
    for u in range(len(starts) - 1):
        total[:] = 0
        for m in range(starts[u], starts[u + 1]):
            _add(total, vectors[flat[m]])
        square = 0.0
        for m in range(starts[u], starts[u + 1]):
            pulls[m] = np.float64(_pull(vectors[flat[m]], total))
            square += pulls[m]
        norms[u] = np.sqrt(max(square, 1.0))
        for m in range(starts[u], starts[u + 1]):
            pulls[m] /= norms[u]
    return norms, pulls


@compiled
def lay(vectors: Whole, flat: Ints, starts: Ints, rows: Ints, members: Ints, sizes: Ints, norms: Floats) -> None:
    total = np.empty(vectors.shape[1], dtype=np.int32)
    for u in range(len(rows)):
        row, first, size = rows[u], starts[u], starts[u + 1] - starts[u]
        total[:] = 0
        for j in range(members.shape[1]):
            members[row, j] = flat[first + j] if j < size else -1
            if j < size:
                _add(total, vectors[flat[first + j]])
        sizes[row] = size
        norms[row] = np.sqrt(max(np.float64(_square(total)), 1.0))


@reordered
def _square(total: Ints) -> np.int64:
    product = np.int64(0)
    for d in range(len(total)):
        product += np.int64(total[d]) * np.int64(total[d])
    return product


@reordered
def _add(total: Ints, vector: Whole) -> None:
    for d in range(len(total)):
        total[d] += vector[d]


@reordered
def _pull(vector: Whole, total: Ints) -> np.int64:
    product = np.int64(0)
    for d in range(len(total)):
        product += np.int64(vector[d]) * np.int64(total[d])
    return product


@reordered
def _products(vectors: Whole, other: Whole) -> Ints:
    products = np.empty(len(vectors), dtype=np.int32)
    for i in range(vectors.shape[0]):
        total = np.int32(0)
        for d in range(vectors.shape[1]):
            total += np.int32(vectors[i, d]) * np.int32(other[d])
        products[i] = total
    return products


@compiled
def nearest(gram: Vectors, k: int) -> tuple[Vectors, Ints]:
    n = len(gram)
    values = np.full((n, k), np.float32(-np.inf), dtype=np.float32)
    indices = np.full((n, k), np.int32(-1), dtype=np.int32)
    for i in range(n):
        for j in range(n):
            if gram[i, j] > values[i, k - 1] and j != i:
                _place(values[i], indices[i], gram[i, j], j)
    return values, indices


@compiled
def insert(vectors: Whole, gram: Vectors, values: Vectors, indices: Ints, ranked: Vectors, count: int) -> int:
    last, k = len(vectors) - 1, values.shape[1]
    products = _products(vectors, vectors[last])
    row = gram[last]
    for j in range(last + 1):
        gram[last, j] = gram[j, last] = np.float32(products[j])
    for j in range(last):
        if row[j] > values[j, k - 1]:
            if indices[j, k - 1] >= 0:
                count = _unrank(ranked, count, values[j, k - 1])
            count = _rank(ranked, count, row[j])
            _place(values[j], indices[j], row[j], last)
        if row[j] > values[last, k - 1]:
            _place(values[last], indices[last], row[j], j)
    for a in range(min(k, last)):
        count = _rank(ranked, count, values[last, a])
    return count


@compiled
def _rank(ranked: Vectors, count: int, value: np.float32) -> int:
    at = np.searchsorted(ranked[:count], value)
    ranked[at + 1 : count + 1] = ranked[at:count].copy()
    ranked[at] = value
    return count + 1


@compiled
def _unrank(ranked: Vectors, count: int, value: np.float32) -> int:
    at = np.searchsorted(ranked[:count], value)
    ranked[at : count - 1] = ranked[at + 1 : count].copy()
    return count - 1


@compiled
def _place(values: Vectors, indices: Ints, value: np.float32, index: int) -> None:
    """Puts a neighbour that is among the best into a descending list, after equals."""
    at = len(values) - 1
    while at > 0 and values[at - 1] < value:
        values[at] = values[at - 1]
        indices[at] = indices[at - 1]
        at -= 1
    values[at] = value
    indices[at] = index


@compiled
def _root(parent: Ints, i: int) -> int:
    while parent[i] != i:
        i = parent[i]
    return i


@compiled
def communities(values: Vectors, indices: Ints, floor: float, max_size: int) -> Ints:
    n = len(values)
    parent, size = np.arange(n).astype(np.int32), np.ones(n, dtype=np.int32)
    for edge in _edges(values, indices, floor):
        a_root, b_root = _root(parent, edge // n), _root(parent, edge % n)
        if a_root != b_root and size[a_root] + size[b_root] <= max_size:
            low_root, high_root = min(a_root, b_root), max(a_root, b_root)
            parent[high_root] = low_root
            size[low_root] += size[high_root]
    labels = np.full(n, np.int32(-1), dtype=np.int32)
    for i in range(n):
        root = _root(parent, i)
        if size[root] > 1:
            labels[i] = root
    return labels


@compiled
def _edges(values: Vectors, indices: Ints, floor: float) -> NDArray[np.int64]:
    """Mutual neighbours above the floor as i · n + j, i < j: best first, equals in order of (i, j)."""
    n, k = values.shape
    edges, weights = np.empty(n * k, dtype=np.int64), np.empty(n * k, dtype=np.float32)
    count = 0
    for i in range(n):
        for a in range(k):
            j = indices[i, a]
            if j > i and values[i, a] > floor:
                for b in range(k):
                    if indices[j, b] == i:
                        edges[count], weights[count] = i * n + j, -values[i, a]
                        count += 1
                        break
    # Of equal weight and equal i, rank order is order of j.
    return edges[np.argsort(weights[:count], kind="mergesort")]
