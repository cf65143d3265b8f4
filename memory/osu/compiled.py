"""The inner loops compiled by numba; see `kernels.Kernels` for what each returns and `plain.py` for the same in
numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

from rebind.memory.osu.kernels import EPSILON, GRID, Expansion, Floats, Ints
from rebind.memory.osu.trajectory import Vectors

_F = TypeVar("_F", bound=Callable[..., Any])


def _compiled(function: _F) -> _F:
    return cast(_F, numba.njit(cache=True)(function))


def _reordered(function: _F) -> _F:
    """For sums of whole numbers, which are exact in any order: lets the compiler vectorise them."""
    return cast(_F, numba.njit(cache=True, fastmath=True)(function))


def _inlined(function: _F) -> _F:
    """For small helpers that get many arrays: a real call would count references to each."""
    return cast(_F, numba.njit(cache=True, forceinline=True)(function))


class Compiled:
    """`kernels.Kernels` with numba. Each kernel compiles on first use (seconds) and is cached on disk."""

    def expand(self, job: Expansion) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return _expand(*job)

    def measure(self, vectors: Vectors, flat: Ints, starts: Ints) -> tuple[Floats, Floats]:
        return _measure(vectors, flat, starts)

    def nearest(self, gram: Vectors, k: int) -> tuple[Vectors, Ints]:
        return _nearest(gram, k)

    def insert(self, row: Vectors, values: Vectors, indices: Ints) -> None:
        _insert(row, values, indices)

    def communities(self, values: Vectors, indices: Ints, percentile: float, max_size: int) -> Ints:
        return _communities(values, indices, percentile, max_size)


@_compiled
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
                rows[best], relevance[units[best]], taken[:n_taken], steps, state, candidates, novelty, structural
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


_Steps = tuple[NDArray[np.int64], Vectors, Vectors, Ints, Ints, Ints]
"""costs, vectors, gram, entity_starts, entities, tools: of `Expansion`."""
_State = tuple[NDArray[np.bool_], Floats, NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]
"""Per step: free, largest cosine with the taken, how many of those that reflects. Then entities and tools taken."""


@_inlined
def _take(i: int, steps: _Steps, state: _State) -> None:
    """Marks a step as taken, with its entities and its tool."""
    _, _, _, entity_starts, entities, tools = steps
    free, _, _, entity_taken, tool_taken = state
    free[i] = False
    for e in range(entity_starts[i], entity_starts[i + 1]):
        entity_taken[entities[e]] = True
    if tools[i] >= 0:
        tool_taken[tools[i]] = True


@_inlined
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
    return (relevance + novelty * (total / count)) / (cost + EPSILON)


@_inlined
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


@_compiled
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


@_inlined
def _fold(
    i: int, closest: Floats, folded: NDArray[np.int64], taken: NDArray[np.int64], vectors: Vectors, gram: Vectors
) -> None:
    """Brings the largest cosine of step i with the taken steps up to date."""
    for t in range(folded[i], len(taken)):
        product = np.float64(gram[i, taken[t]]) if len(gram) else _exact_product(vectors[i], vectors[taken[t]])
        closest[i] = max(closest[i], product / GRID**2)
    folded[i] = len(taken)


@_compiled
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


@_compiled
def _precedes(one: Ints, other: Ints) -> bool:
    for j in range(len(one)):
        if one[j] != other[j]:
            return bool(one[j] < other[j])
    return False


@_compiled
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


@_compiled
def _relevance(sims: Floats, members: Ints, sizes: Ints, norms: Floats) -> Floats:
    relevance = np.full(len(members), -np.inf)
    for k in range(len(members)):
        if sizes[k] > 0:
            total = 0.0
            for j in range(sizes[k]):
                total += sims[members[k, j]]
            relevance[k] = total * GRID / norms[k]
    return relevance


@_compiled
def _measure(vectors: Vectors, flat: Ints, starts: Ints) -> tuple[Floats, Floats]:
    norms = np.empty(len(starts) - 1)
    pulls = np.empty(len(flat))
    for u in range(len(starts) - 1):
        total = np.zeros(vectors.shape[1], dtype=np.float32)
        for m in range(starts[u], starts[u + 1]):
            for d in range(len(total)):
                total[d] += vectors[flat[m], d]
        square = 0.0
        for m in range(starts[u], starts[u + 1]):
            pulls[m] = _exact_product(vectors[flat[m]], total)
            square += pulls[m]
        norms[u] = np.sqrt(max(square, 1.0))
        for m in range(starts[u], starts[u + 1]):
            pulls[m] /= norms[u]
    return norms, pulls


@_reordered
def _exact_product(one: Vectors, other: Vectors) -> float:
    total = 0.0
    for d in range(len(one)):
        total += np.float64(one[d]) * np.float64(other[d])
    return float(total)


@_compiled
def _nearest(gram: Vectors, k: int) -> tuple[Vectors, Ints]:
    n = len(gram)
    values = np.full((n, k), np.float32(-np.inf), dtype=np.float32)
    indices = np.full((n, k), np.int32(-1), dtype=np.int32)
    for i in range(n):
        for j in range(n):
            if j != i:
                _place(values[i], indices[i], gram[i, j], j)
    return values, indices


@_compiled
def _insert(row: Vectors, values: Vectors, indices: Ints) -> None:
    last = len(row) - 1
    for j in range(last):
        _place(values[j], indices[j], row[j], last)
        _place(values[last], indices[last], row[j], j)


@_compiled
def _place(values: Vectors, indices: Ints, value: np.float32, index: int) -> None:
    """Puts a neighbour into a descending list, after equals, if it is among the best."""
    at = len(values) - 1
    if value <= values[at]:
        return
    while at > 0 and values[at - 1] < value:
        values[at] = values[at - 1]
        indices[at] = indices[at - 1]
        at -= 1
    values[at] = value
    indices[at] = index


@_compiled
def _root(parent: Ints, i: int) -> int:
    while parent[i] != i:
        i = parent[i]
    return i


@_compiled
def _communities(values: Vectors, indices: Ints, percentile: float, max_size: int) -> Ints:
    n, k = values.shape
    known = values[:, :].ravel()
    known = known[indices.ravel() >= 0]
    parent = np.arange(n).astype(np.int32)
    size = np.ones(n, dtype=np.int32)
    if len(known) > 0:
        at = (len(known) - 1) * percentile / 100.0
        low = int(at)
        split = np.partition(known, low)
        above = np.float64(split[low + 1 :].min()) if low + 1 < len(known) else np.float64(split[low])
        floor = np.float64(split[low]) + (at - low) * (above - np.float64(split[low]))
        first = np.empty(n * k, dtype=np.int32)
        second = np.empty(n * k, dtype=np.int32)
        weight = np.empty(n * k, dtype=np.float64)
        edges = 0
        for i in range(n):
            for a in range(k):
                j = indices[i, a]
                if j > i and values[i, a] > floor and (indices[j] == i).any():
                    first[edges], second[edges], weight[edges] = i, j, -values[i, a]
                    edges += 1
        # Edges stand in order of (i, rank of j); of equal weight and equal i, rank order is order of j.
        for e in np.argsort(weight[:edges], kind="mergesort"):
            a_root, b_root = _root(parent, first[e]), _root(parent, second[e])
            if a_root != b_root and size[a_root] + size[b_root] <= max_size:
                low_root, high_root = min(a_root, b_root), max(a_root, b_root)
                parent[high_root] = low_root
                size[low_root] += size[high_root]
    labels = np.full(n, np.int32(-1), dtype=np.int32)
    for i in range(n):
        root = _root(parent, i)
        if size[root] > 1:
            labels[i] = root
    return labels


COMPILED = Compiled()
