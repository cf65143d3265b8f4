"""The k-NN lists of one similarity window, kept up to date as steps are appended."""

from __future__ import annotations

import numpy as np

from rebind.memory.osu.kernels import Ints, kernels
from rebind.memory.osu.trajectory import Vectors


class NearestWindow:
    """Inner products and nearest neighbours of up to `size` steps; equal to `Kernels.nearest` over all of them."""

    def __init__(self, size: int, k: int) -> None:
        self._gram = np.zeros((size, size), dtype=np.float32)
        self._values = np.full((size, k), -np.inf, dtype=np.float32)
        self._indices = np.full((size, k), -1, dtype=np.int32)
        self._count = 0

    @property
    def gram(self) -> Vectors:
        """(n, n) inner products."""
        return self._gram[: self._count, : self._count]

    @property
    def values(self) -> Vectors:
        """(n, k), descending; -inf where there are fewer neighbours."""
        return self._values[: self._count]

    @property
    def indices(self) -> Ints:
        """(n, k); -1 where there are fewer neighbours."""
        return self._indices[: self._count]

    def clear(self) -> None:
        """Starts the next window."""
        self._values[:] = -np.inf
        self._indices[:] = -1
        self._count = 0

    def add(self, vectors: Vectors) -> None:
        """Takes in the last of the window's vectors (n, d)."""
        row, last = vectors @ vectors[-1], self._count
        self._gram[last, : last + 1] = row
        self._gram[: last + 1, last] = row
        self._count += 1
        kernels().insert(row, self.values, self.indices)
