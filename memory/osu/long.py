"""OSU-Mem over very long trajectories: an approximate index over centroids finds the units worth opening.

Exact retrieval reads every centroid in full. Here centroids are screened by their leading principal components, and the
greedy expansion, which favours relevance per token, runs exactly over the best few hundred.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rebind.memory.osu.kernels import Floats, kernels
from rebind.memory.osu.packing import by_similarity
from rebind.memory.osu.pool import Pool
from rebind.memory.osu.retrieve import expansion
from rebind.memory.osu.trajectory import GRID, Steps, Vectors, similarities

_COMPONENTS = 64
_SAMPLE = 8192
"""Units that thresholds are estimated from."""
_SLACK = 0.05
"""How far below the coarse stage's floor the screening may misjudge a relevance; relevance itself is then exact."""
_ROUNDING = 1e-5
"""The floor is a screening value in single precision."""
_TYPICAL_NOVELTY = 0.7
"""Unit novelty that candidates are screened with once something is selected; a guess that only ranks candidates."""


class LongOsuMem:
    """OSU-Mem with K capped at about `width` candidates. The same steps as `OsuMem` where the screening misses
    nothing."""

    def __init__(self, pool: Pool, width: int = 256) -> None:
        self._pool = pool
        self._width = width
        live = np.flatnonzero(pool.sizes > 0)
        centroids = pool.centroids[live]
        covariance = centroids.T @ centroids
        self._axes: Vectors = np.ascontiguousarray(np.linalg.eigh(covariance)[1][:, -_COMPONENTS:], dtype=np.float32)
        self._screen: Vectors = centroids @ self._axes
        self._live = live
        self._least_cost = _least_costs(pool)[live].astype(np.float32)
        rng = np.random.default_rng(0)
        self._sample = np.sort(rng.choice(len(live), min(_SAMPLE, len(live)), replace=False))

    def retrieve(self, query: Vectors, budget: int) -> Steps:
        """See `packing.Memory`."""
        pool, config = self._pool, self._pool.config
        if not len(self._live):
            return np.empty(0, dtype=np.int64)
        rough: Vectors = self._screen @ (query @ self._axes / np.float32(GRID))  # pyright: ignore[reportAssignmentType]  # numpy
        floor = self._quantile(rough, config.coarse(len(self._live), budget))
        rows = self._live[self._candidates(rough, floor, novel=budget >= config.novelty_budget and config.novelty > 0)]
        members = pool.members[rows]  # padding reads the zero behind `sims`
        steps = np.unique(members[members >= 0])
        sims = np.zeros(len(pool.history) + 1)
        sims[steps] = similarities(pool.history.vectors[steps], query)
        relevance = sims[members].sum(axis=1) * GRID / pool.norms[rows]
        rows = rows[relevance >= floor - _ROUNDING]
        taken, _ = kernels().expand(expansion(pool, sims[:-1], len(rows), budget, rows))
        return by_similarity(taken, sims)

    def _candidates(self, rough: Vectors, floor: float, *, novel: bool) -> NDArray[np.int64]:
        """Units above the coarse stage's floor with the best relevance per token, without and with novelty."""
        chosen = np.zeros(len(rough), dtype=bool)
        low = rough < floor - _SLACK
        for bonus in (0.0, self._pool.config.novelty * _TYPICAL_NOVELTY) if novel else (0.0,):
            value = (rough + np.float32(bonus)) / self._least_cost
            value[low] = -np.inf
            chosen |= value >= self._quantile(value, self._width)
        return np.flatnonzero(chosen)

    def _quantile(self, values: Vectors, count: int) -> float:
        """About the `count`-th largest value, estimated from the sample."""
        sample = values[self._sample]
        place = min(len(sample) - 1, max(0, round(count * len(sample) / len(values)) - 1))
        return float(-np.partition(-sample, place)[place])


def _least_costs(pool: Pool) -> Floats:
    """A lower bound of each unit's ĉ: the sum of its C cheapest members."""
    padded = np.append(pool.history.costs, 0)[pool.members].astype(np.float64)
    padded[pool.members < 0] = np.inf
    cheapest = np.sort(padded, axis=1)[:, : pool.config.candidates]
    least: Floats = np.where(np.isfinite(cheapest), cheapest, 0.0).sum(axis=1)
    return least
