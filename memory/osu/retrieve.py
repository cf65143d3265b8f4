"""OSU-Mem's retrieval: coarse-to-fine expansion of a pool under a budget (paper, section 3.6 and Algorithm 1)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebind.memory.osu.config import OsuConfig
from rebind.memory.osu.kernels import Ask, kernels
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
        self._layout = pool.layout
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
        config = self.pool.config
        steps, units = kernels().expand(self._layout, ask(config, query, config.coarse(self._live, budget), budget))
        return Expanded(self._filled(steps, query, budget) if config.flat_fill else steps, units)

    def _filled(self, taken: Steps, query: Vectors, budget: int) -> Steps:
        """With the most similar steps that fit into what is left of the budget."""
        history = self.pool.history
        sims = similarities(history.vectors, query)
        rest = np.setdiff1d(np.arange(len(history)), taken)
        rest = rest[np.argsort(-sims[rest], kind="stable")]
        added = pack(rest.tolist(), history.costs, budget - int(history.costs[taken].sum()))
        return by_similarity(np.concatenate([taken, np.array(added, dtype=np.int64)]), sims)


def ask(config: OsuConfig, query: Vectors, k: int, budget: int) -> Ask:
    """A retrieval of k units under a budget of tokens."""
    novelty = config.novelty if budget >= config.novelty_budget else 0.0
    return Ask(query, k, budget, config.candidates, novelty, config.structural)


class GroundTruthFiltered:
    """OSU-Mem + GF: an oracle puts the units that hold evidence into the coarse selection (ours: evidence-bearing units
    take the first of the K places, by relevance; the expansion is the default's). An upper bound, not a method."""

    def __init__(self, pool: Pool, evidence: Steps) -> None:
        self._pool = pool
        self._bearing = np.isin(pool.members, evidence).any(axis=1)

    def retrieve(self, query: Vectors, budget: int) -> Steps:
        """See `packing.Memory`."""
        pool = self._pool
        k = pool.config.coarse(int((pool.sizes > 0).sum()), budget)
        order = np.lexsort((-(pool.centroids @ query), ~self._bearing))
        chosen = np.sort(order[:k])
        layout = pool.layout._replace(members=pool.members[chosen], sizes=pool.sizes[chosen], norms=pool.norms[chosen])
        return kernels().expand(layout, ask(pool.config, query, k, budget))[0]
