"""The inner loops of OSU-Mem in numpy and, where numba is installed (extra `osu`), compiled: same results bit for bit.

The compiled ones stand in `compiled.py`; both are reached through the names below. Set `REBIND_OSU_NUMPY=1` to keep
numba out (read once, at import).
"""

from __future__ import annotations

import importlib.util
import os
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rebind.memory.osu.trajectory import GRID, Vectors, Whole

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]
Codes = NDArray[np.int8]


class Layout(NamedTuple):
    """What Algorithm 1 reads of a pool, or of part of one: U units of at most S members, and n steps."""

    members: Ints
    """(U, S), each row ascending and padded with -1."""
    sizes: Ints
    norms: Floats
    """Length of the sum of each unit's member vectors."""
    costs: NDArray[np.int64]
    vectors: Whole
    gram: Vectors
    """(n, n) inner products of `vectors`, or (0, 0): then those that are needed are computed."""
    entity_starts: Ints
    """(n + 1): where each step's entities begin in `entities`."""
    entities: Ints
    tools: Ints
    """Tool number of each step, or -1."""
    entity_count: int
    """Above every number in `entities`."""
    tool_count: int


class Ask(NamedTuple):
    """One retrieval."""

    query: Vectors
    k: int
    """How many units the coarse stage selects."""
    budget: int
    candidates: int
    novelty: float
    """λ_nov, or 0 where the term is off."""
    structural: float


class Kernels(Protocol):
    """What `compiled` and `PLAIN` both offer."""

    def expand(self, layout: Layout, ask: Ask) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Steps in descending similarity to the query (equals in the order taken), and the units in the order
        expanded."""
        ...

    def screen(self, codes: Codes, query: Whole, scale: float) -> Vectors:
        """Inner products of the rows of `codes` (U, c) with `query` (c,), rounded to float32, times `scale`."""
        ...

    def measure(self, vectors: Whole, flat: Ints, starts: Ints) -> tuple[Floats, Floats]:
        """Geometry of units whose members are `flat[starts[u]:starts[u + 1]]` of `vectors` (n, d).

        Returns each unit's length of the sum of its members (U,), at least 1, and each member's inner product with the
        unit's centroid (len(flat),), both on the grid.
        """
        ...

    def lay(
        self, vectors: Whole, flat: Ints, starts: Ints, rows: Ints, members: Ints, sizes: Ints, norms: Floats
    ) -> None:
        """Writes the units that `measure` takes into those rows of `members`, `sizes` and `norms` (see `Layout`)."""
        ...

    def nearest(self, gram: Vectors, k: int) -> tuple[Vectors, Ints]:
        """Values and indices (n, k) of each row's k largest off-diagonal entries, ties to the lower index; -inf and
        -1 where there are fewer."""
        ...

    def insert(self, vectors: Whole, gram: Vectors, values: Vectors, indices: Ints, ranked: Vectors, count: int) -> int:
        """Updates `gram` (≥ n, ≥ n) and the lists (n, k) of `nearest` in place for the last of `vectors` (n, d), and
        `ranked`, whose first `count` entries are all known values, ascending. Returns how many are known then."""
        ...

    def communities(self, values: Vectors, indices: Ints, floor: float, max_size: int) -> Ints:
        """For each step the smallest member of its community over edges above `floor`, or -1 where it is alone (design:
        similarity view)."""
        ...


EPSILON = 1e-6
"""ε of the cost-normalised score (design)."""


def _load() -> Kernels:
    if os.environ.get("REBIND_OSU_NUMPY") != "1" and importlib.util.find_spec("numba") is not None:
        from rebind.memory.osu.compiled import COMPILED

        return COMPILED  # pyright: ignore[reportReturnType]  # numba
    from rebind.memory.osu.plain import PLAIN

    return PLAIN  # pyright: ignore[reportReturnType]  # numba


def kernels() -> Kernels:
    """The kernels in use: compiled where numba is there."""
    global _loaded  # noqa: PLW0603  # loaded once, on first use: importing numba takes half a second
    if _loaded is None:
        _loaded = _load()
    return _loaded


_loaded: Kernels | None = None

__all__ = ["EPSILON", "GRID", "Ask", "Codes", "Floats", "Ints", "Kernels", "Layout", "kernels"]
