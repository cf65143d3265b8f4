"""The compiled loop that retrieves, and all of them as `COMPILED`; see `kernels.Kernels` for what each returns.

`plain.py` has the same in numpy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rebind.memory.osu import compiled_units
from rebind.memory.osu.compiled_units import exact_product
from rebind.memory.osu.jit import compiled, inlined
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


_Steps = tuple[NDArray[np.int64], Vectors, Vectors, Ints, Ints, Ints]
"""costs, vectors, gram, entity_starts, entities, tools: of `Expansion`."""
_State = tuple[NDArray[np.bool_], Floats, NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]
"""Per step: free, largest cosine with the taken, how many of those that reflects. Then entities and tools taken."""


@compiled
def _expand(  # noqa: PLR0913, PLR0917  # numba takes arrays one by one; these are the fields of `Expansion`
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
    units = _ranked(relevance, members)[:k]
    rows = _sorted_members(members, sizes, units, sims)
    n, count = len(costs), len(units)
    state = (
        np.ones(n, dtype=np.bool_),
        np.full(n, -np.inf),
        np.zeros(n, dtype=np.int64),
        np.zeros(entities.max() + 1 if len(entities) else 0, dtype=np.bool_),
        np.zeros(tools.max() + 1 if n else 0, dtype=np.bool_),
    )
    steps = (costs, vectors, gram, entity_starts, entities, tools)
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
        if not fresh[best]:
            bound[best] = _score(
                rows[best],
                relevance[units[best]],  # pyright: ignore[reportArgumentType]  # numba
                taken[:n_taken],
                steps,
                state,
                candidates,
                novelty,
                structural,
            )
            fresh[best] = True
            continue
        bound[best] = -np.inf
        opened[n_opened] = units[best]
        n_opened += 1
        before = n_taken
        for i in rows[best]:
            if i >= 0 and state[0][i] and costs[i] <= left:
                left -= costs[i]
                taken[n_taken] = i
                n_taken += 1
                _take(i, steps, state)
        if n_taken > before:
            _age(bound, fresh, rows, state[0], before == 0, novelty > 0.0)
    return taken[:n_taken].copy(), opened[:n_opened].copy()


@inlined
def _take(i: int, steps: _Steps, state: _State) -> None:
    """Marks a step as taken, with its entities and its tool."""
    _, _, _, entity_starts, entities, tools = steps
    free, _, _, entity_taken, tool_taken = state
    free[i] = False
    for e in range(entity_starts[i], entity_starts[i + 1]):
        entity_taken[entities[e]] = True
    if tools[i] >= 0:
        tool_taken[tools[i]] = True


@inlined
def _score(
    row: Ints,
    relevance: float,
    taken: NDArray[np.int64],
    steps: _Steps,
    state: _State,
    candidates: int,
    novelty: float,
    structural: float,
) -> float:
    """(r_k + λ ν_k) / (ĉ_k + ε) of one unit over its best free steps; -inf where it has none."""
    costs, vectors, gram, _, _, _ = steps
    free, closest, folded, _, _ = state
    cost, count, total = 0, 0, 0.0
    for i in row:
        if i < 0 or count == candidates:
            break
        if free[i]:
            count += 1
            cost += costs[i]
            if novelty > 0.0 and len(taken) > 0:
                _fold(i, closest, folded, taken, vectors, gram)
                total += _novelty(i, steps, state, structural)
    if count == 0:
        return -np.inf
    return (relevance + novelty * (total / count)) / (cost + EPSILON)  # pyright: ignore[reportReturnType]  # numba


@inlined
def _novelty(i: int, steps: _Steps, state: _State, structural: float) -> float:
    """Nov(i; S) = (1 − α)(1 − max cos) + α min(1, .6 new entities + .4 new tool)."""
    _, _, _, entity_starts, entities, tools = steps
    _, closest, _, entity_taken, tool_taken = state
    fresh = 0
    for e in range(entity_starts[i], entity_starts[i + 1]):
        if not entity_taken[entities[e]]:
            fresh += 1
    new_tool = 1 if tools[i] >= 0 and not tool_taken[tools[i]] else 0
    return float((1.0 - structural) * (1.0 - closest[i]) + structural * min(1.0, 0.6 * fresh + 0.4 * new_tool))


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


@inlined
def _fold(
    i: int, closest: Floats, folded: NDArray[np.int64], taken: NDArray[np.int64], vectors: Vectors, gram: Vectors
) -> None:
    """Brings the largest cosine of step i with the taken steps up to date."""
    for t in range(folded[i], len(taken)):
        product = np.float64(gram[i, taken[t]]) if len(gram) else exact_product(vectors[i], vectors[taken[t]])
        closest[i] = max(closest[i], product / GRID**2)
    folded[i] = len(taken)


@compiled
def _ranked(relevance: Floats, members: Ints) -> NDArray[np.int64]:
    """Units by descending relevance; equals by their members, so that the order of rows does not matter."""
    order = np.argsort(-relevance, kind="mergesort")
    for p in range(1, len(order)):
        at = p
        while (
            at > 0
            and relevance[order[at - 1]] == relevance[order[at]]
            and _precedes(members[order[at]], members[order[at - 1]])
        ):
            order[at - 1], order[at] = order[at], order[at - 1]
            at -= 1
    return order


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
