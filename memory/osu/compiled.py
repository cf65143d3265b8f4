"""The compiled loop that retrieves, and all of them as `COMPILED`; see `kernels.Kernels` for what each returns.

`plain.py` has the same in numpy. What a kernel calls stands in its own file: numba's cache on disk sees changes there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rebind.memory.osu import compiled_units
from rebind.memory.osu.jit import compiled, reordered
from rebind.memory.osu.kernels import EPSILON, GRID, Ask, Codes, Floats, Ints, Layout
from rebind.memory.osu.trajectory import Vectors, Whole


class Compiled:
    """`kernels.Kernels` with numba. Each kernel compiles on first use (seconds) and is cached on disk."""

    def expand(self, layout: Layout, ask: Ask) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return _expand(*layout, *ask)

    def screen(self, codes: Codes, query: Whole, scale: float) -> Vectors:
        return _screen(codes, query, np.float32(scale))

    def measure(self, vectors: Whole, flat: Ints, starts: Ints) -> tuple[Floats, Floats]:
        return compiled_units.measure(vectors, flat, starts)

    def lay(
        self, vectors: Whole, flat: Ints, starts: Ints, rows: Ints, members: Ints, sizes: Ints, norms: Floats
    ) -> None:
        compiled_units.lay(vectors, flat, starts, rows, members, sizes, norms)

    def nearest(self, gram: Vectors, k: int) -> tuple[Vectors, Ints]:
        return compiled_units.nearest(gram, k)

    def insert(self, vectors: Whole, gram: Vectors, values: Vectors, indices: Ints, ranked: Vectors, count: int) -> int:
        return compiled_units.insert(vectors, gram, values, indices, ranked, count)

    def communities(self, values: Vectors, indices: Ints, floor: float, max_size: int) -> Ints:
        return compiled_units.communities(values, indices, floor, max_size)


@compiled
def _expand(  # noqa: PLR0912, PLR0913, PLR0915, PLR0917  # one loop; numba takes arrays faster than tuples of them
    members: Ints,
    sizes: Ints,
    norms: Floats,
    costs: NDArray[np.int64],
    vectors: Whole,
    gram: Vectors,
    entity_starts: Ints,
    entities: Ints,
    tools: Ints,
    entity_count: int,
    tool_count: int,
    query: Vectors,
    k: int,
    budget: int,
    candidates: int,
    novelty: float,
    structural: float,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    sims = _products(vectors, query) / np.float64(GRID**2)
    relevance = _relevance(sims, members, sizes, norms)
    units = _ranked(relevance, members, k)
    rows = _sorted_members(members, sizes, units, sims)
    n, count, width = len(costs), len(units), members.shape[1]
    free, recent = np.ones(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    closest = np.full(n, np.float32(-np.inf))  # largest product of each step with the first `folded` of the taken
    folded = np.zeros(n if not len(gram) else 0, dtype=np.int32)
    entity_taken = np.zeros(entity_count, dtype=np.bool_)
    tool_taken = np.zeros(tool_count, dtype=np.bool_)
    # `bound` never lies below a unit's score and equals it where `fresh`: a step's novelty only falls as steps are
    # taken.
    bound, fresh = np.full(count, np.inf), np.zeros(count, dtype=np.bool_)
    taken, opened = np.empty(n, dtype=np.int64), np.empty(count, dtype=np.int64)
    n_taken, n_opened, left, unknown = 0, 0, budget, 0  # no bound before `unknown` is infinite
    cheapest = costs.min() if n else 0
    while left >= cheapest and count > 0:
        while unknown < count and bound[unknown] != np.inf:
            unknown += 1
        best = unknown if unknown < count else np.argmax(bound)
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
                    if not len(gram):
                        for t in range(folded[i], n_taken):
                            closest[i] = max(closest[i], np.float32(_product(vectors[i], vectors[taken[t]])))
                        folded[i] = n_taken
                    new = 0
                    for e in range(entity_starts[i], entity_starts[i + 1]):
                        if not entity_taken[entities[e]]:
                            new += 1
                    tool = 1 if tools[i] >= 0 and not tool_taken[tools[i]] else 0
                    apart = 1.0 - np.float64(closest[i]) / GRID**2
                    total += (1.0 - structural) * apart + structural * min(1.0, 0.6 * new + 0.4 * tool)
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
                if novelty > 0.0 and len(gram):
                    _fold(closest, gram[i])
        if n_taken > before:
            recent[taken[before:n_taken]] = True
            _age(bound, fresh, rows, recent, before == 0, novelty > 0.0)
            recent[taken[before:n_taken]] = False
            unknown = 0
    return _packed(taken[:n_taken], sims), opened[:n_opened].copy()


@reordered
def _products(vectors: Whole, query: Vectors) -> Ints:
    whole = np.empty(len(query), dtype=np.int16)
    for d in range(len(query)):
        whole[d] = np.int16(query[d])
    products = np.empty(len(vectors), dtype=np.int32)
    for i in range(vectors.shape[0]):
        total = np.int32(0)
        for d in range(vectors.shape[1]):
            total += np.int32(vectors[i, d]) * np.int32(whole[d])
        products[i] = total
    return products


@reordered
def _product(one: Whole, other: Whole) -> np.int32:
    total = np.int32(0)
    for d in range(len(one)):
        total += np.int32(one[d]) * np.int32(other[d])
    return total


@compiled
def _screen(codes: Codes, query: Whole, scale: np.float32) -> Vectors:
    products = _coded(codes, query)
    result = np.empty(len(codes), dtype=np.float32)
    for i in range(len(codes)):
        result[i] = np.float32(products[i]) * scale
    return result


@reordered
def _coded(codes: Codes, query: Whole) -> Ints:
    """In integers throughout: with a float inside, the loop is compiled to half the speed."""
    products = np.empty(len(codes), dtype=np.int32)
    for i in range(codes.shape[0]):
        total = np.int32(0)
        for d in range(codes.shape[1]):
            total += np.int32(codes[i, d]) * np.int32(query[d])
        products[i] = total
    return products


@compiled
def _fold(closest: Vectors, row: Vectors) -> None:
    for i in range(len(closest)):
        closest[i] = row[i] if row[i] > closest[i] else closest[i]


@compiled
def _packed(taken: NDArray[np.int64], sims: Floats) -> NDArray[np.int64]:
    """In descending similarity; equals keep their order."""
    return taken[np.argsort(-sims[taken], kind="mergesort")]


@compiled
def _age(
    bound: Floats, fresh: NDArray[np.bool_], rows: Ints, recent: NDArray[np.bool_], first: bool, novel: bool
) -> None:
    """After steps were taken: scores are stale, and those of units that lost a step, or gained novelty, are unknown."""
    for u in range(len(bound)):
        if bound[u] == -np.inf:
            continue
        lost = first and novel
        for j in range(rows.shape[1]):
            if lost or rows[u, j] < 0:
                break
            lost = recent[rows[u, j]]
        if lost:
            bound[u] = np.inf
        if lost or novel:
            fresh[u] = False


@compiled
def _before(relevance: Floats, members: Ints, one: int, other: int) -> bool:
    """Higher relevance first; equals by their members, so that the order of rows hardly matters, then by row."""
    if relevance[one] != relevance[other]:
        return bool(relevance[one] > relevance[other])
    for j in range(members.shape[1]):
        if members[one, j] != members[other, j]:
            return bool(members[one, j] < members[other, j])
    return one < other


@compiled
def _ranked(relevance: Floats, members: Ints, k: int) -> NDArray[np.int64]:
    """The k first units, in order: a heap whose root is the last of those kept."""
    k = min(k, len(relevance))
    heap = np.empty(k, dtype=np.int64)
    for u in range(len(relevance)):
        if u < k:
            at = u
            while at > 0 and _before(relevance, members, heap[(at - 1) // 2], u):
                heap[at] = heap[(at - 1) // 2]
                at = (at - 1) // 2
            heap[at] = u
        elif relevance[u] >= relevance[heap[0]] and _before(relevance, members, u, heap[0]):
            _sink(relevance, members, heap, k, u)
    for size in range(k - 1, 0, -1):
        last = heap[0]
        _sink(relevance, members, heap, size, heap[size])
        heap[size] = last
    return heap


@compiled
def _sink(relevance: Floats, members: Ints, heap: NDArray[np.int64], size: int, unit: int) -> None:
    """Puts a unit in the root's place, in a heap of that size."""
    at = 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and _before(relevance, members, heap[child], heap[child + 1]):
            child += 1
        if not _before(relevance, members, unit, heap[child]):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = unit


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
