"""The compiled loops that build units: geometry, nearest neighbours and communities."""

from __future__ import annotations

import numpy as np

from rebind.memory.osu.jit import compiled, reordered
from rebind.memory.osu.kernels import Floats, Ints
from rebind.memory.osu.trajectory import Vectors


@compiled
def measure(vectors: Vectors, flat: Ints, starts: Ints) -> tuple[Floats, Floats]:
    norms = np.empty(len(starts) - 1)
    pulls = np.empty(len(flat))
    for u in range(len(starts) - 1):
        total = np.zeros(vectors.shape[1], dtype=np.float32)
        for m in range(starts[u], starts[u + 1]):
            for d in range(len(total)):
                total[d] += vectors[flat[m], d]
        square = 0.0
        for m in range(starts[u], starts[u + 1]):
            pulls[m] = exact_product(vectors[flat[m]], total)
            square += pulls[m]
        norms[u] = np.sqrt(max(square, 1.0))
        for m in range(starts[u], starts[u + 1]):
            pulls[m] /= norms[u]
    return norms, pulls


@reordered
def exact_product(one: Vectors, other: Vectors) -> float:
    total = 0.0
    for d in range(len(one)):
        total += np.float64(one[d]) * np.float64(other[d])
    return float(total)


@compiled
def nearest(gram: Vectors, k: int) -> tuple[Vectors, Ints]:
    n = len(gram)
    values = np.full((n, k), np.float32(-np.inf), dtype=np.float32)
    indices = np.full((n, k), np.int32(-1), dtype=np.int32)
    for i in range(n):
        for j in range(n):
            if j != i:
                _place(values[i], indices[i], gram[i, j], j)
    return values, indices


@compiled
def insert(row: Vectors, values: Vectors, indices: Ints) -> None:
    last = len(row) - 1
    for j in range(last):
        _place(values[j], indices[j], row[j], last)
        _place(values[last], indices[last], row[j], j)


@compiled
def _place(values: Vectors, indices: Ints, value: np.float32, index: int) -> None:
    """Puts a neighbour into a descending list, after equals, if it is among the best."""
    at = len(values) - 1
    if value <= values[at]:
        return
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
def communities(values: Vectors, indices: Ints, percentile: float, max_size: int) -> Ints:
    n, k = values.shape
    known = values[:, :].ravel()
    known = known[indices.ravel() >= 0]
    parent = np.arange(n).astype(np.int32)
    size = np.ones(n, dtype=np.int32)
    if len(known) > 0:
        at = (len(known) - 1) * percentile / 100.0
        low = int(at)
        split = np.partition(known, low)
        above = np.float64(split[low + 1 :].min()) if low + 1 < len(known) else np.float64(split[low])
        floor = np.float64(split[low]) + (at - low) * (above - np.float64(split[low]))
        first = np.empty(n * k, dtype=np.int32)
        second = np.empty(n * k, dtype=np.int32)
        weight = np.empty(n * k, dtype=np.float64)
        edges = 0
        for i in range(n):
            for a in range(k):
                j = indices[i, a]
                if j > i and values[i, a] > floor and (indices[j] == i).any():
                    first[edges], second[edges], weight[edges] = i, j, -values[i, a]
                    edges += 1
        # Edges stand in order of (i, rank of j); of equal weight and equal i, rank order is order of j.
        for e in np.argsort(weight[:edges], kind="mergesort"):
            a_root, b_root = _root(parent, first[e]), _root(parent, second[e])  # pyright: ignore[reportArgumentType]  # numba
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
