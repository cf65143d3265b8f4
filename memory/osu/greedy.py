"""Retrieval that takes one step at a time, each valued by what was taken before: diversity and coverage."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rebind.memory.osu.kernels import Floats
from rebind.memory.osu.packing import by_similarity
from rebind.memory.osu.pool import Pool
from rebind.memory.osu.trajectory import Steps, Trajectory, Vectors, similarities

MMR_LAMBDA = 0.7
COVERAGE_BONUS = 0.12
"""β (paper, Table 8)."""


class Objective(Protocol):
    """What every step is worth next; `take` tells it which was taken."""

    def values(self) -> Floats: ...

    def take(self, step: int) -> None: ...


def take_best(objective: Objective, costs: NDArray[np.int64], budget: int) -> list[int]:
    """Takes the best step that still fits until none does; a value of -inf is never taken."""
    left, taken = budget, []
    free = np.ones(len(costs), dtype=bool)
    while (open_ := free & (costs <= left)).any():
        values = np.where(open_, objective.values(), -np.inf)
        step = int(np.argmax(values))
        if values[step] == -np.inf:
            break
        free[step] = False
        left -= int(costs[step])
        taken.append(step)
        objective.take(step)
    return taken


class Diversity:
    """w · cos(h_i, q) − p · max over taken j of cos(h_i, h_j)."""

    def __init__(self, history: Trajectory, sims: Floats, weight: float, penalty: float) -> None:
        self._vectors = history.vectors
        self._base = weight * sims
        self._penalty = penalty
        self._closest: Floats | None = None

    def values(self) -> Floats:
        return self._base if self._closest is None else self._base - self._penalty * self._closest

    def take(self, step: int) -> None:
        cosines = similarities(self._vectors, self._vectors[step])
        self._closest = cosines if self._closest is None else np.maximum(self._closest, cosines)


class Coverage:
    """cos(h_i, q) + β where any label of the step is unused; taking a step uses all its labels (design)."""

    def __init__(self, holds: NDArray[np.bool_], sims: Floats, bonus: float) -> None:
        """`holds` is (n, labels): which labels each step has."""
        self._holds = holds
        self._sims = sims
        self._bonus = bonus
        self._unused = np.ones(holds.shape[1], dtype=bool)
        self._fresh = holds.sum(axis=1)

    def values(self) -> Floats:
        worth: Floats = self._sims + self._bonus * (self._fresh > 0)
        return worth

    def take(self, step: int) -> None:
        used = np.flatnonzero(self._holds[step] & self._unused)
        self._unused[used] = False
        self._fresh = self._fresh - self._holds[:, used].sum(axis=1)


class Mmr:
    """Flat + MMR: maximal marginal relevance, λ = .7."""

    def __init__(self, history: Trajectory, weight: float = MMR_LAMBDA) -> None:
        self._history = history
        self._weight = weight

    def retrieve(self, query: Vectors, budget: int) -> Steps:
        sims = similarities(self._history.vectors, query)
        objective = Diversity(self._history, sims, self._weight, 1.0 - self._weight)
        return by_similarity(take_best(objective, self._history.costs, budget), sims)


class CoverageAware:
    """The step-level baseline: a bonus for covering a new subgoal."""

    def __init__(self, history: Trajectory, bonus: float = COVERAGE_BONUS) -> None:
        subgoals = np.array([-1 if n.subgoal is None else n.subgoal for n in history.notes], dtype=np.int64)
        self._history = history
        self._bonus = bonus
        self._holds = subgoals[:, None] == np.unique(subgoals[subgoals >= 0])

    def retrieve(self, query: Vectors, budget: int) -> Steps:
        sims = similarities(self._history.vectors, query)
        return by_similarity(take_best(Coverage(self._holds, sims, self._bonus), self._history.costs, budget), sims)


class CoverageGuided:
    """OSU-Mem's variant for entangled centroids: greedy over all steps, with β for a step from an unused unit (paper,
    section 5.2). `pool` decides between overlap and disjoint; the procedure is the same."""

    def __init__(self, pool: Pool, bonus: float = COVERAGE_BONUS) -> None:
        self._pool = pool
        self._bonus = bonus
        self._holds = holdings(pool)

    def retrieve(self, query: Vectors, budget: int) -> Steps:
        sims = similarities(self._pool.history.vectors, query)
        return by_similarity(
            take_best(Coverage(self._holds, sims, self._bonus), self._pool.history.costs, budget), sims
        )


class CohesionGreedy:
    """The paper's negative result (Appendix G.5): −α · max cosine to what was taken, over the steps that some unit
    holds."""

    def __init__(self, pool: Pool, alpha: float) -> None:
        self._pool = pool
        self._alpha = alpha
        self._held = holdings(pool).any(axis=1)

    def retrieve(self, query: Vectors, budget: int) -> Steps:
        sims = similarities(self._pool.history.vectors, query)
        held = np.where(self._held, sims, -np.inf)
        objective = Diversity(self._pool.history, held, 1.0, self._alpha)
        return by_similarity(take_best(objective, self._pool.history.costs, budget), sims)


def holdings(pool: Pool) -> NDArray[np.bool_]:
    """Which unit holds which step, (n, U)."""
    holds = np.zeros((len(pool.history), len(pool.members)), dtype=bool)
    unit, place = np.nonzero(pool.members >= 0)
    holds[pool.members[unit, place], unit] = True
    return holds
