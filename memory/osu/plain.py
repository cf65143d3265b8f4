"""The inner loops in numpy. Sums run in the same order as in `compiled.py`, so that both take the same steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rebind.memory.osu.kernels import EPSILON, GRID, Expansion, Floats, Ints
from rebind.memory.osu.trajectory import Vectors


class Plain:
    """`kernels.Kernels` without numba."""

    def expand(self, job: Expansion) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        relevance = _relevance(job)
        units = _ranked(relevance, job.members)[: job.k]
        members = _sorted_members(job, units)
        state = _Novelty(job)
        free = np.ones(len(job.costs), dtype=bool)
        waiting = np.ones(len(units), dtype=bool)
        left, taken, opened = job.budget, [], []
        cheapest = int(job.costs.min()) if len(job.costs) else 0
        while waiting.any() and left >= cheapest:
            scores = _scores(job, members, relevance[units], state, free, waiting)
            best = int(np.argmax(scores))
            if scores[best] == -np.inf:
                break
            waiting[best] = False
            opened.append(int(units[best]))
            for step in members[best][members[best] >= 0].tolist():
                if free[step] and job.costs[step] <= left:
                    free[step] = False
                    left -= int(job.costs[step])
                    taken.append(step)
                    state.take(step)
        return np.array(taken, dtype=np.int64), np.array(opened, dtype=np.int64)

    def measure(self, vectors: Vectors, flat: Ints, starts: Ints) -> tuple[Floats, Floats]:
        gathered = vectors[flat].astype(np.float64)
        sums = np.add.reduceat(gathered, starts[:-1], axis=0)
        sizes = np.diff(starts)
        products = np.einsum("id,id->i", gathered, np.repeat(sums, sizes, axis=0))
        norms = np.sqrt(np.maximum(np.add.reduceat(products, starts[:-1]), 1.0))
        return norms, products / np.repeat(norms, sizes)

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

    def insert(self, row: Vectors, values: Vectors, indices: Ints) -> None:
        last, k = len(row) - 1, values.shape[1]
        for step in np.flatnonzero(row[:last] > values[:last, -1]).tolist():
            at = int(np.searchsorted(-values[step], -row[step], side="right"))
            values[step, at + 1 :] = values[step, at:-1].copy()
            indices[step, at + 1 :] = indices[step, at:-1].copy()
            values[step, at], indices[step, at] = row[step], last
        own = np.argsort(-row[:last], kind="stable")[:k]
        values[last, : len(own)], indices[last, : len(own)] = row[own], own

    def communities(self, values: Vectors, indices: Ints, percentile: float, max_size: int) -> Ints:
        n = len(values)
        known = np.sort(values[indices >= 0])
        if not len(known):
            return np.full(n, -1, dtype=np.int32)
        at = (len(known) - 1) * percentile / 100.0
        low = int(at)
        high = min(low + 1, len(known) - 1)
        floor = float(known[low]) + (at - low) * (float(known[high]) - float(known[low]))
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


def _relevance(job: Expansion) -> Floats:
    """z_k · q of every unit from its members' similarities; -inf for an empty row."""
    padded = np.append(job.sims, 0.0)[job.members]
    total = np.zeros(len(job.members))
    for column in range(job.members.shape[1]):
        total += padded[:, column]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(job.sizes > 0, total * GRID / job.norms, -np.inf)


def _ranked(relevance: Floats, members: Ints) -> NDArray[np.int64]:
    """Units by descending relevance; equals by their members, so that the order of rows does not matter."""
    order = np.argsort(-relevance, kind="stable")
    sorted_ = relevance[order]
    if (sorted_[1:] == sorted_[:-1]).any():
        order = np.array(
            sorted(range(len(members)), key=lambda u: (-relevance[u], members[u].tolist())), dtype=np.int64
        )
    return order


def _sorted_members(job: Expansion, units: NDArray[np.int64]) -> NDArray[np.int64]:
    """The members of the units, each row in descending similarity; padding stays behind."""
    rows = job.members[units].astype(np.int64)
    padded = np.append(job.sims, -np.inf)[rows]
    return np.take_along_axis(rows, np.argsort(-padded, axis=1, kind="stable"), axis=1)


class _Novelty:
    """Nov(i; S) of every step, kept up to date as steps are taken (paper, Appendix A)."""

    def __init__(self, job: Expansion) -> None:
        self._job = job
        n = len(job.costs)
        self.empty = True
        self._closest = np.full(n, -np.inf)
        self._known = np.diff(job.entity_starts).astype(np.int64)
        """How many of a step's entities no taken step has."""
        self._entity_taken = np.zeros(int(job.entities.max()) + 1 if len(job.entities) else 0, dtype=bool)
        self._new_tool = job.tools >= 0
        self._owner = np.repeat(np.arange(n), np.diff(job.entity_starts))

    def take(self, step: int) -> None:
        job = self._job
        self.empty = False
        row = job.gram[step] if len(job.gram) else job.vectors @ job.vectors[step]
        np.maximum(self._closest, row.astype(np.float64) / GRID**2, out=self._closest)
        for entity in job.entities[job.entity_starts[step] : job.entity_starts[step + 1]].tolist():
            if not self._entity_taken[entity]:
                self._entity_taken[entity] = True
                np.subtract.at(self._known, self._owner[job.entities == entity], 1)
        if job.tools[step] >= 0:
            self._new_tool &= job.tools != job.tools[step]

    def of(self, steps: NDArray[np.int64]) -> Floats:
        structural = np.minimum(1.0, 0.6 * self._known[steps] + 0.4 * self._new_tool[steps])
        blend = self._job.structural
        novelty: Floats = (1.0 - blend) * (1.0 - self._closest[steps]) + blend * structural
        return novelty


def _scores(  # the state of one iteration of Algorithm 1
    job: Expansion,
    members: NDArray[np.int64],
    relevance: Floats,
    state: _Novelty,
    free: NDArray[np.bool_],
    waiting: NDArray[np.bool_],
) -> Floats:
    """(r_k + λ ν_k) / (ĉ_k + ε) of the units that wait and still have a step to give; -inf of all others."""
    usable = (members >= 0) & free[members] & waiting[:, None]
    usable &= np.cumsum(usable, axis=1) <= job.candidates
    count = usable.sum(axis=1)
    cost = np.where(usable, job.costs[members], 0).sum(axis=1)
    value = relevance
    if job.novelty > 0 and not state.empty:
        each = np.where(usable, state.of(members), 0.0)
        total = np.zeros(len(members))
        for column in range(members.shape[1]):
            total += each[:, column]
        value = relevance + job.novelty * (total / np.maximum(count, 1))
    return np.where(count > 0, value / (cost + EPSILON), -np.inf)


PLAIN = Plain()
