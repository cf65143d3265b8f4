"""OSU-Mem over very long trajectories: an approximate index over centroids finds the units worth opening.

Exact retrieval reads every centroid in full. Here centroids are screened by their leading principal components, and the
greedy expansion, which favours relevance per token, runs exactly over the best few hundred.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rebind.memory.osu.kernels import Codes, Floats, Ints, Layout, kernels
from rebind.memory.osu.pool import Pool
from rebind.memory.osu.retrieve import ask
from rebind.memory.osu.trajectory import GRID, Steps, Vectors, similarities

_COMPONENTS = 128
_CODE, _QUERY_CODE = 127, 32767
"""Largest whole numbers that components of centroids and queries are rounded to."""
_SLACK = 0.05
"""How far below the coarse stage's floor the screening may misjudge a relevance; relevance itself is then exact."""
_ROUNDING = 5e-4
"""The floor is a screening value."""
_TYPICAL_NOVELTY = 0.7
"""Unit novelty that candidates are screened with once something is selected; a guess that only ranks candidates."""


class LongOsuMem:
    """OSU-Mem with K capped at about `width` candidates. The same steps as `OsuMem` where the screening misses
    nothing."""

    def __init__(self, pool: Pool, width: int = 256) -> None:
        self._pool = pool
        self._layout = pool.layout
        self._width = width
        self._live = live = np.flatnonzero(pool.sizes > 0)
        centroids = pool.centroids[live]
        axes: Vectors = np.linalg.eigh(centroids.T @ centroids)[1][:, -_COMPONENTS:].astype(np.float32)
        screen: Vectors = centroids @ axes
        step = np.maximum(np.abs(screen).max(axis=0, initial=0.0), 1e-9) / _CODE
        self._codes: Codes = np.rint(screen / step).astype(np.int8)
        self._axes: Vectors = np.ascontiguousarray(axes * step)
        self._least_cost = _least_costs(pool)[live].astype(np.float32)

    def retrieve(self, query: Vectors, budget: int) -> Steps:
        """See `packing.Memory`."""
        pool, config = self._pool, self._pool.config
        if not len(self._live):
            return np.empty(0, dtype=np.int64)
        rough = self._screened(query)
        floor = _largest(rough, config.coarse(len(self._live), budget))
        novel = budget >= config.novelty_budget and config.novelty > 0
        rows = self._live[self._candidates(rough, floor, novel=novel)]
        members = pool.members[rows]
        steps: Steps = np.unique(members[members >= 0]).astype(np.int64)
        place = np.zeros(len(pool.history) + 1, dtype=np.int32)
        place[steps] = np.arange(len(steps))
        place[-1] = -1  # padding
        local = place[members]
        vectors = pool.whole[steps]
        sims = np.append(similarities(vectors.astype(np.float32), query), 0.0)
        relevance = sims[local].sum(axis=1) * GRID / pool.norms[rows]
        above = relevance >= floor - _ROUNDING
        part = _part(self._layout._replace(vectors=vectors), rows[above], local[above], steps)
        return steps[kernels().expand(part, ask(config, query, len(part.members), budget))[0]]

    def _screened(self, query: Vectors) -> Vectors:
        """Every live unit's relevance, as far as the leading components tell."""
        wanted: Vectors = query @ self._axes / np.float32(GRID)  # pyright: ignore[reportAssignmentType]  # numpy
        step = max(float(np.abs(wanted).max()), 1e-9) / _QUERY_CODE
        return kernels().screen(self._codes, np.rint(wanted / step).astype(np.int16), step)

    def _candidates(self, rough: Vectors, floor: float, *, novel: bool) -> NDArray[np.int64]:
        """Units above the coarse stage's floor with the best relevance per token, without and with novelty."""
        near = np.flatnonzero(rough >= floor - _SLACK)
        relevance, cost = rough[near], self._least_cost[near]
        chosen = np.zeros(len(near), dtype=bool)
        for bonus in (0.0, self._pool.config.novelty * _TYPICAL_NOVELTY) if novel else (0.0,):
            value = (relevance + np.float32(bonus)) / cost
            chosen |= value >= _largest(value, self._width)
        return near[chosen]


def _part(layout: Layout, rows: NDArray[np.int64], members: Ints, steps: Steps) -> Layout:
    """A few units of a layout, whose `members` are places in `steps` and whose vectors are those of `steps`."""
    counts = layout.entity_starts[steps + 1] - layout.entity_starts[steps]
    starts = np.zeros(len(steps) + 1, dtype=np.int32)
    np.cumsum(counts, out=starts[1:])
    held = np.repeat(layout.entity_starts[steps] - starts[:-1], counts) + np.arange(starts[-1])
    return layout._replace(
        members=members,
        sizes=layout.sizes[rows],
        norms=layout.norms[rows],
        costs=layout.costs[steps],
        gram=np.zeros((0, 0), dtype=np.float32),
        entity_starts=starts,
        entities=layout.entities[held],
        tools=layout.tools[steps],
    )


def _largest(values: Vectors, count: int) -> float:
    """The `count`-th largest value, or the smallest where there are fewer."""
    place = max(0, len(values) - count)
    return float(np.partition(values, place)[place])


def _least_costs(pool: Pool) -> Floats:
    """A lower bound of each unit's ĉ: the sum of its C cheapest members."""
    padded = np.append(pool.history.costs, 0)[pool.members].astype(np.float64)
    padded[pool.members < 0] = np.inf
    cheapest = np.sort(padded, axis=1)[:, : pool.config.candidates]
    least: Floats = np.where(np.isfinite(cheapest), cheapest, 0.0).sum(axis=1)
    return least
