"""The communities of one similarity window, kept up to date as steps are appended."""

from __future__ import annotations

import math
from bisect import insort

import numpy as np

from rebind.memory.osu.config import OsuConfig
from rebind.memory.osu.kernels import Ints, kernels
from rebind.memory.osu.trajectory import Vectors, Whole

_PADDING = 16
"""Keeps the entries of a column apart in the processor's cache, which rows of 2 KiB would not."""


def floor_of(ranked: Vectors, percentile: float) -> float:
    """A percentile of ascending values, in between by linear interpolation; infinite where there are none."""
    if not len(ranked):
        return math.inf
    at = (len(ranked) - 1) * percentile / 100.0
    low = int(at)
    below, above = ranked[low : low + 2].tolist() if low + 1 < len(ranked) else (float(ranked[low]),) * 2
    return below + (at - low) * (above - below)


def labelled(gram: Vectors, config: OsuConfig) -> Ints:
    """`Kernels.communities` of the steps whose inner products are `gram` (n, n)."""
    values, indices = kernels().nearest(gram, config.neighbours)
    floor = floor_of(np.sort(values[indices >= 0]), config.edge_percentile)
    return kernels().communities(values, indices, floor, config.max_size)


class SimilarWindow:
    """Inner products, nearest neighbours and communities of up to `config.window` steps; equal to `labelled` over
    all of them."""

    def __init__(self, config: OsuConfig) -> None:
        self._config = config
        size, k = config.window, config.neighbours
        self._gram = np.zeros((size, size + _PADDING), dtype=np.float32)
        self._values = np.full((size, k), -np.inf, dtype=np.float32)
        self._indices = np.full((size, k), -1, dtype=np.int32)
        self._ranked = np.zeros(size * k, dtype=np.float32)
        self._known = 0
        self._labels = np.full(size, -1, dtype=np.int32)
        self._members: dict[int, list[int]] = {}
        self._count = 0

    @property
    def gram(self) -> Vectors:
        """(n, n) inner products."""
        return self._gram[: self._count, : self._count]

    def clear(self) -> None:
        """Starts the next window."""
        self._values[:] = -np.inf
        self._indices[:] = -1
        self._labels[:] = -1
        self._members = {}
        self._count = self._known = 0

    def add(self, vectors: Whole) -> dict[int, list[int]]:
        """Takes in the last of the window's vectors (n, d); the members of every community that changed, by its label:
        its first member. A label without members is gone."""
        n = self._count = self._count + 1
        values, indices, config = self._values[:n], self._indices[:n], self._config
        self._known = kernels().insert(vectors, self._gram, values, indices, self._ranked, self._known)
        floor = floor_of(self._ranked[: self._known], config.edge_percentile)
        labels = kernels().communities(values, indices, floor, config.max_size)
        before = self._labels[:n]
        moved = (labels != before).nonzero()[0]
        changed: set[int] = set()
        if len(moved):
            for step, old, new in zip(moved.tolist(), before[moved].tolist(), labels[moved].tolist(), strict=True):
                if old >= 0:
                    self._members[old].remove(step)
                    changed.add(old)
                if new >= 0:
                    insort(self._members.setdefault(new, []), step)
                    changed.add(new)
            before[moved] = labels[moved]
        return {label: self._members[label] for label in changed}
