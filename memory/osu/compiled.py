"""The compiled loop that retrieves, and all of them as `COMPILED`; see `kernels.Kernels` for what each returns.

`plain.py` has the same in numpy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rebind.memory.osu import compiled_units
from rebind.memory.osu.compiled_units import exact_product
from rebind.memory.osu.jit import compiled
from rebind.memory.osu.kernels import EPSILON, GRID, Expansion, Floats, Ints
from rebind.memory.osu.trajectory import Vectors


class Compiled:
    """`kernels.Kernels` with numba. Each kernel compiles on first use (seconds) and is cached on disk."""

    def expand(self, job: Expansion) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return _expand(*job)

    def measure(self, vectors: Vectors, flat: Ints, starts: Ints) -> tuple[Floats, Floats]:
        return compiled_units.measure(vectors, flat, starts)

    def nearest(self, gram: Vectors, k: int) -> tuple[Vectors, Ints]:
        return compiled_units.nearest(gram, k)

    def insert(self, row: Vectors, values: Vectors, indices: Ints) -> None:
        compiled_units.insert(row, values, indices)

    def communities(self, values: Vectors, indices: Ints, percentile: float, max_size: int) -> Ints:
        return compiled_units.communities(values, indices, percentile, max_size)


@compiled
def _expand(  # noqa: PLR0912, PLR0913, PLR0915, PLR0917  # one loop in one function: helpers that get arrays cost more
    members: Ints,
    sizes: Ints,
    norms: Floats,
    k: int,
    sims: Floats,
    costs: NDArray[np.int64],
    vectors: Vectors,
    gram: Vectors,
    entity_starts: Ints,
    entities: Ints,
    tools: Ints,
    budget: int,
    candidates: int,
    novelty: float,
    structural: float,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    relevance = _relevance(sims, members, sizes, norms)
    units = _ranked(relevance, members, k)
    rows = _sorted_members(members, sizes, units, sims)
    n, count, width = len(costs), len(units), members.shape[1]
    free = np.ones(n, dtype=np.bool_)
    closest = np.full(n, -np.inf)  # largest cosine of each step with the first `folded` of the taken
    folded = np.zeros(n, dtype=np.int64)
    entity_taken = np.zeros(entities.max() + 1 if len(entities) else 0, dtype=np.bool_)
    tool_taken = np.zeros(tools.max() + 1 if n else 0, dtype=np.bool_)
    # `bound` never lies below a unit's score and equals it where `fresh`: a step's novelty only falls as steps are
    # taken.
    bound, fresh = np.full(count, np.inf), np.zeros(count, dtype=np.bool_)
    taken, opened = np.empty(n, dtype=np.int64), np.empty(count, dtype=np.int64)
    n_taken, n_opened, left = 0, 0, budget
    cheapest = costs.min() if n else 0
    while left >= cheapest and count > 0:
        best = np.argmax(bound)
        if bound[best] == -np.inf:
            break
        if not fresh[best]:  # (r_k + λ ν_k) / (ĉ_k + ε) over its best free steps; -inf where it has none
            cost, held, total = 0, 0, 0.0
            for j in range(width):
                i = rows[best, j]
                if i < 0 or held == candidates:
                    break
                if not free[i]:
                    continue
                held += 1
                cost += costs[i]
                if novelty > 0.0 and n_taken > 0:  # (1 − α)(1 − max cos) + α min(1, .6 new entities + .4 new tool)
                    for t in range(folded[i], n_taken):
                        other = taken[t]
                        product = np.float64(gram[i, other]) if len(gram) else exact_product(vectors[i], vectors[other])
                        closest[i] = max(closest[i], product / GRID**2)
                    folded[i] = n_taken
                    new = 0
                    for e in range(entity_starts[i], entity_starts[i + 1]):
                        if not entity_taken[entities[e]]:
                            new += 1
                    tool = 1 if tools[i] >= 0 and not tool_taken[tools[i]] else 0
                    total += (1.0 - structural) * (1.0 - closest[i]) + structural * min(1.0, 0.6 * new + 0.4 * tool)
            bound[best] = -np.inf
            if held > 0:
                bound[best] = (relevance[units[best]] + novelty * (total / held)) / (cost + EPSILON)
            fresh[best] = True
            continue
        bound[best] = -np.inf
        opened[n_opened] = units[best]
        n_opened += 1
        before = n_taken
        for j in range(width):
            i = rows[best, j]
            if i < 0:
                break
            if free[i] and costs[i] <= left:
                left -= costs[i]
                taken[n_taken] = i
                n_taken += 1
                free[i] = False
                for e in range(entity_starts[i], entity_starts[i + 1]):
                    entity_taken[entities[e]] = True
                if tools[i] >= 0:
                    tool_taken[tools[i]] = True
        if n_taken > before:
            _age(bound, fresh, rows, free, before == 0, novelty > 0.0)
    return taken[:n_taken].copy(), opened[:n_opened].copy()


@compiled
def _age(
    bound: Floats, fresh: NDArray[np.bool_], rows: Ints, free: NDArray[np.bool_], first: bool, novel: bool
) -> None:
    """After steps were taken: scores are stale, and those of units that lost a step, or gained novelty, are unknown."""
    for u in range(len(bound)):
        if bound[u] == -np.inf:
            continue
        lost = False
        for i in rows[u]:
            if i < 0:
                break
            lost = lost or not free[i]
        if lost or (first and novel):
            bound[u] = np.inf
        if lost or novel:
            fresh[u] = False


@compiled
def _ranked(relevance: Floats, members: Ints, k: int) -> NDArray[np.int64]:
    """The k best units by descending relevance; equals by their members, so that the order of rows does not matter."""
    best = np.arange(len(relevance))
    if 0 < k < len(relevance):
        best = np.flatnonzero(relevance >= -np.partition(-relevance, k - 1)[k - 1])
    order = best[np.argsort(-relevance[best], kind="mergesort")]
    for p in range(1, len(order)):
        at = p
        while (
            at > 0
            and relevance[order[at - 1]] == relevance[order[at]]
            and _precedes(members[order[at]], members[order[at - 1]])
        ):
            order[at - 1], order[at] = order[at], order[at - 1]
            at -= 1
    return order[:k]


@compiled
def _precedes(one: Ints, other: Ints) -> bool:
    for j in range(len(one)):
        if one[j] != other[j]:
            return bool(one[j] < other[j])
    return False


@compiled
def _sorted_members(members: Ints, sizes: Ints, units: NDArray[np.int64], sims: Floats) -> Ints:
    """The members of the units, each row in descending similarity (insertion sort, so that ties keep their order)."""
    rows = np.full((len(units), members.shape[1]), np.int32(-1), dtype=np.int32)
    for u in range(len(units)):
        for j in range(sizes[units[u]]):
            i = members[units[u], j]
            at = j
            while at > 0 and sims[rows[u, at - 1]] < sims[i]:
                rows[u, at] = rows[u, at - 1]
                at -= 1
            rows[u, at] = i
    return rows


@compiled
def _relevance(sims: Floats, members: Ints, sizes: Ints, norms: Floats) -> Floats:
    relevance = np.full(len(members), -np.inf)
    for k in range(len(members)):
        if sizes[k] > 0:
            total = 0.0
            for j in range(sizes[k]):
                total += sims[members[k, j]]
            relevance[k] = total * GRID / norms[k]
    return relevance


COMPILED = Compiled()
