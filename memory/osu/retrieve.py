"""OSU-Mem's retrieval: coarse-to-fine expansion of a pool under a budget (paper, section 3.6 and Algorithm 1)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebind.memory.osu.config import OsuConfig
from rebind.memory.osu.kernels import Expansion, kernels
from rebind.memory.osu.packing import by_similarity, pack
from rebind.memory.osu.pool import Pool, build_pool
from rebind.memory.osu.trajectory import Steps, Trajectory, Vectors, similarities


class Expanded(NamedTuple):
    """A retrieval with its account: the steps in packing order, and the rows of the pool that were expanded."""

    steps: Steps
    units: NDArray[np.int64]


class OsuMem:
    """Retrieves steps through overlapping semantic units. Deterministic; the same with numba and without."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._live = int((pool.sizes > 0).sum())

    @classmethod
    def of(cls, history: Trajectory, config: OsuConfig = OsuConfig()) -> OsuMem:  # noqa: B008  # frozen
        """The memory of a whole trajectory."""
        return cls(build_pool(history, config))

    def retrieve(self, query: Vectors, budget: int) -> Steps:
        """See `packing.Memory`."""
        return self.expand(query, budget).steps

    def expand(self, query: Vectors, budget: int) -> Expanded:
        """Retrieves, and says which units were expanded, in order."""
        pool, sims = self.pool, similarities(self.pool.history.vectors, query)
        k = pool.config.coarse(self._live, budget)
        taken, units = kernels().expand(expansion(pool, sims, k, budget))
        if pool.config.flat_fill:
            left = budget - int(pool.history.costs[taken].sum())
            rest = np.setdiff1d(np.arange(len(pool.history)), taken)
            rest = rest[np.argsort(-sims[rest], kind="stable")]
            taken = np.concatenate([taken, np.array(pack(rest.tolist(), pool.history.costs, left), dtype=np.int64)])
        return Expanded(by_similarity(taken, sims), units)


def expansion(
    pool: Pool, sims: NDArray[np.float64], k: int, budget: int, rows: NDArray[np.int64] | None = None
) -> Expansion:
    """The kernel's job over a pool, or over some rows of it."""
    config = pool.config
    everything = rows is None
    return Expansion(
        members=pool.members if everything else pool.members[rows],
        sizes=pool.sizes if everything else pool.sizes[rows],
        norms=pool.norms if everything else pool.norms[rows],
        k=k,
        sims=sims,
        costs=pool.history.costs,
        vectors=pool.history.vectors,
        gram=pool.gram,
        entity_starts=pool.marks.starts,
        entities=pool.marks.entities,
        tools=pool.marks.tools,
        budget=budget,
        candidates=config.candidates,
        novelty=config.novelty if budget >= config.novelty_budget else 0.0,
        structural=config.structural,
    )


class GroundTruthFiltered:
    """OSU-Mem + GF: an oracle puts the units that hold evidence into the coarse selection (ours: evidence-bearing units
    take the first of the K places, by relevance; the expansion is the default's). An upper bound, not a method."""

    def __init__(self, pool: Pool, evidence: Steps) -> None:
        self._pool = pool
        self._bearing = np.isin(pool.members, evidence).any(axis=1)

    def retrieve(self, query: Vectors, budget: int) -> Steps:
        pool = self._pool
        sims = similarities(pool.history.vectors, query)
        k = pool.config.coarse(int((pool.sizes > 0).sum()), budget)
        order = np.lexsort((-(pool.centroids @ query), ~self._bearing))
        chosen = np.sort(order[:k])
        taken, _ = kernels().expand(expansion(pool, sims, k, budget, chosen))
        return by_similarity(taken, sims)
