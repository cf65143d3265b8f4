"""The inner loops in numpy. Sums run in the same order as in `compiled.py`, so that both take the same steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rebind.memory.osu.kernels import EPSILON, GRID, Ask, Codes, Floats, Ints, Layout
from rebind.memory.osu.packing import by_similarity
from rebind.memory.osu.trajectory import Vectors, Whole, similarities


class Plain:
    """`kernels.Kernels` without numba."""

    def expand(self, layout: Layout, ask: Ask) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        vectors = layout.vectors.astype(np.float32)
        sims = similarities(vectors, ask.query)
        relevance = _relevance(layout, sims)
        units = _ranked(relevance, layout.members)[: ask.k]
        members = _sorted_members(layout, units, sims)
        state = _Novelty(layout, ask, vectors)
        free = np.ones(len(layout.costs), dtype=bool)
        waiting = np.ones(len(units), dtype=bool)
        left, taken, opened = ask.budget, [], []
        cheapest = int(layout.costs.min()) if len(layout.costs) else 0
        while waiting.any() and left >= cheapest:
            scores = _scores(layout, ask, members, relevance[units], state, free, waiting)
            best = int(np.argmax(scores))
            if scores[best] == -np.inf:
                break
            waiting[best] = False
            opened.append(int(units[best]))
            for step in members[best][members[best] >= 0].tolist():
                if free[step] and layout.costs[step] <= left:
                    free[step] = False
                    left -= int(layout.costs[step])
                    taken.append(step)
                    state.take(step)
        return by_similarity(np.array(taken, dtype=np.int64), sims), np.array(opened, dtype=np.int64)

    def screen(self, codes: Codes, query: Whole, scale: float) -> Vectors:
        products = (codes.astype(np.float64) @ query.astype(np.float64)).astype(np.float32)
        return products * np.float32(scale)

    def measure(self, vectors: Whole, flat: Ints, starts: Ints) -> tuple[Floats, Floats]:
        if not len(flat):
            return np.empty(0), np.empty(0)
        gathered = vectors[flat].astype(np.float64)
        sums = np.add.reduceat(gathered, starts[:-1], axis=0)
        sizes = np.diff(starts)
        products = np.einsum("id,id->i", gathered, np.repeat(sums, sizes, axis=0))
        norms = np.sqrt(np.maximum(np.add.reduceat(products, starts[:-1]), 1.0))
        return norms, products / np.repeat(norms, sizes)

    def lay(
        self, vectors: Whole, flat: Ints, starts: Ints, rows: Ints, members: Ints, sizes: Ints, norms: Floats
    ) -> None:
        counts = np.diff(starts)
        members[rows] = -1
        members[np.repeat(rows, counts), np.arange(len(flat)) - np.repeat(starts[:-1], counts)] = flat
        sizes[rows] = counts
        norms[rows] = self.measure(vectors, flat, starts)[0]

    def nearest(self, gram: Vectors, k: int) -> tuple[Vectors, Ints]:
        n = len(gram)
        masked = gram.copy()
        np.fill_diagonal(masked, -np.inf)
        order = np.argsort(-masked, axis=1, kind="stable")[:, :k]
        values = np.full((n, k), -np.inf, dtype=np.float32)
        indices = np.full((n, k), -1, dtype=np.int32)
        width = min(k, n - 1)
        indices[:, :width] = order[:, :width]
        values[:, :width] = np.take_along_axis(masked, order[:, :width], axis=1)
        return values, indices

    def insert(self, vectors: Whole, gram: Vectors, values: Vectors, indices: Ints, ranked: Vectors, count: int) -> int:
        del count  # sorted anew
        last, k = len(vectors) - 1, values.shape[1]
        row = vectors.astype(np.float32) @ vectors[-1].astype(np.float32)
        gram[last, : last + 1] = gram[: last + 1, last] = row
        for step in np.flatnonzero(row[:last] > values[:last, -1]).tolist():
            at = int(np.searchsorted(-values[step], -row[step], side="right"))
            values[step, at + 1 :] = values[step, at:-1].copy()
            indices[step, at + 1 :] = indices[step, at:-1].copy()
            values[step, at], indices[step, at] = row[step], last
        own = np.argsort(-row[:last], kind="stable")[:k]
        values[last, : len(own)], indices[last, : len(own)] = row[own], own
        known = np.sort(values[indices >= 0])
        ranked[: len(known)] = known
        return len(known)

    def communities(self, values: Vectors, indices: Ints, floor: float, max_size: int) -> Ints:
        n = len(values)
        rows, columns = np.nonzero((values > floor) & (indices > np.arange(n)[:, None]))
        others = indices[rows, columns]
        mutual = (indices[others] == rows[:, None]).any(axis=1)
        rows, others, weights = rows[mutual], others[mutual], values[rows[mutual], columns[mutual]]
        parent = list(range(n))
        size = [1] * n
        for edge in np.lexsort((others, rows, -weights)).tolist():
            a, b = _root(parent, int(rows[edge])), _root(parent, int(others[edge]))
            if a != b and size[a] + size[b] <= max_size:
                a, b = min(a, b), max(a, b)
                parent[b] = a
                size[a] += size[b]
        roots = [_root(parent, i) for i in range(n)]
        return np.array([r if size[r] > 1 else -1 for r in roots], dtype=np.int32)


def _root(parent: list[int], i: int) -> int:
    while parent[i] != i:
        i = parent[i]
    return i


def _relevance(layout: Layout, sims: Floats) -> Floats:
    """z_k · q of every unit from its members' similarities; -inf for an empty row."""
    padded = np.append(sims, 0.0)[layout.members]
    total = np.zeros(len(layout.members))
    for column in range(layout.members.shape[1]):
        total += padded[:, column]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(layout.sizes > 0, total * GRID / layout.norms, -np.inf)


def _ranked(relevance: Floats, members: Ints) -> NDArray[np.int64]:
    """Units by descending relevance; equals by their members, so that the order of rows does not matter."""
    order = np.argsort(-relevance, kind="stable")
    sorted_ = relevance[order]
    if (sorted_[1:] == sorted_[:-1]).any():
        order = np.array(
            sorted(range(len(members)), key=lambda u: (-relevance[u], members[u].tolist())), dtype=np.int64
        )
    return order


def _sorted_members(layout: Layout, units: NDArray[np.int64], sims: Floats) -> NDArray[np.int64]:
    """The members of the units, each row in descending similarity; padding stays behind."""
    rows = layout.members[units].astype(np.int64)
    padded = np.append(sims, -np.inf)[rows]
    return np.take_along_axis(rows, np.argsort(-padded, axis=1, kind="stable"), axis=1)


class _Novelty:
    """Nov(i; S) of every step, kept up to date as steps are taken (paper, Appendix A)."""

    def __init__(self, layout: Layout, ask: Ask, vectors: Vectors) -> None:
        self._layout = layout
        self._blend = ask.structural
        self._vectors = vectors
        n = len(layout.costs)
        self.empty = True
        self._closest = np.full(n, -np.inf)
        self._known = np.diff(layout.entity_starts).astype(np.int64)
        """How many of a step's entities no taken step has."""
        self._entity_taken = np.zeros(layout.entity_count, dtype=bool)
        self._new_tool = layout.tools >= 0
        self._owner = np.repeat(np.arange(n), np.diff(layout.entity_starts))

    def take(self, step: int) -> None:
        layout = self._layout
        self.empty = False
        row = layout.gram[step] if len(layout.gram) else self._vectors @ self._vectors[step]
        np.maximum(self._closest, row.astype(np.float64) / GRID**2, out=self._closest)
        for entity in layout.entities[layout.entity_starts[step] : layout.entity_starts[step + 1]].tolist():
            if not self._entity_taken[entity]:
                self._entity_taken[entity] = True
                np.subtract.at(self._known, self._owner[layout.entities == entity], 1)
        if layout.tools[step] >= 0:
            self._new_tool &= layout.tools != layout.tools[step]

    def of(self, steps: NDArray[np.int64]) -> Floats:
        structural = np.minimum(1.0, 0.6 * self._known[steps] + 0.4 * self._new_tool[steps])
        novelty: Floats = (1.0 - self._blend) * (1.0 - self._closest[steps]) + self._blend * structural
        return novelty


def _scores(  # the state of one iteration of Algorithm 1
    layout: Layout,
    ask: Ask,
    members: NDArray[np.int64],
    relevance: Floats,
    state: _Novelty,
    free: NDArray[np.bool_],
    waiting: NDArray[np.bool_],
) -> Floats:
    """(r_k + λ ν_k) / (ĉ_k + ε) of the units that wait and still have a step to give; -inf of all others."""
    usable = (members >= 0) & free[members] & waiting[:, None]
    usable &= np.cumsum(usable, axis=1) <= ask.candidates
    count = usable.sum(axis=1)
    cost = np.where(usable, layout.costs[members], 0).sum(axis=1)
    value = relevance
    if ask.novelty > 0 and not state.empty:
        each = np.where(usable, state.of(members), 0.0)
        total = np.zeros(len(members))
        for column in range(members.shape[1]):
            total += each[:, column]
        value = relevance + ask.novelty * (total / np.maximum(count, 1))
    return np.where(count > 0, value / (cost + EPSILON), -np.inf)


PLAIN = Plain()
