"""How every memory, OSU-Mem and baselines alike, spends its token budget (paper, section 5.3: one packing policy)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rebind.memory.osu.trajectory import Steps, Vectors


class Memory(Protocol):
    """Anything that retrieves steps of one trajectory into a budget."""

    def retrieve(self, query: Vectors, budget: int) -> Steps:
        """Steps whose costs sum to at most `budget` tokens, each at most once, in the order they are packed.

        `query` is (d,) on the grid (`on_grid`).
        """
        ...


def pack(order: Iterable[int], costs: NDArray[np.int64], budget: int) -> list[int]:
    """The steps of a preference order that fit; one that overflows is skipped and the scan goes on (ours)."""
    left, taken = budget, []
    cheapest = int(costs.min()) if len(costs) else 0
    for step in order:
        if left < cheapest:
            break
        if costs[step] <= left:
            taken.append(int(step))
            left -= int(costs[step])
    return taken


def by_similarity(taken: Steps | Iterable[int], sims: NDArray[np.float64]) -> Steps:
    """Steps in descending similarity to the query, the order in which they are packed (section 3.6)."""
    steps = taken if isinstance(taken, np.ndarray) else np.fromiter(taken, dtype=np.int64)
    return steps[np.argsort(-sims[steps], kind="stable")]
