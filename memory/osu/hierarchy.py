"""Baselines with a hierarchy over steps: disjoint subgoal partitions, and a tree of clusters (paper, Appendix B.1)."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rebind.memory.osu.config import OsuConfig
from rebind.memory.osu.kernels import Floats
from rebind.memory.osu.packing import by_similarity, pack
from rebind.memory.osu.trajectory import GRID, Steps, Trajectory, Vectors, similarities
from rebind.memory.osu.units import chunks, segments


class DisjointHierarchy:
    """Every step in one subgoal partition; the K nearest partitions are opened and their steps ranked by cosine.

    Partitions are split and capped like subgoal units and K is OSU-Mem's, so that only the organisation differs. Steps
    without a subgoal form a partition per run.
    """

    def __init__(self, history: Trajectory, config: OsuConfig = OsuConfig()) -> None:  # noqa: B008  # frozen
        self._history = history
        self._config = config
        steps_of: dict[int | None, list[int]] = {}
        for step, note in enumerate(history.notes):
            steps_of.setdefault(note.subgoal, []).append(step)
        self._parts = [
            np.asarray(piece)
            for steps in steps_of.values()
            for run in segments(steps, config.gap("subgoal"))
            for piece in chunks(run, config.max_size)
        ]
        self._centroids = _centroids(history.vectors, self._parts)

    def retrieve(self, query: Vectors, budget: int) -> Steps:
        if not self._parts:
            return np.empty(0, dtype=np.int64)
        sims = similarities(self._history.vectors, query)
        k = self._config.coarse(len(self._parts), budget)
        nearest = np.argsort(-(self._centroids @ query), kind="stable")[:k]
        inside = np.concatenate([self._parts[part] for part in nearest])
        order = inside[np.argsort(-sims[inside], kind="stable")]
        return np.array(pack(order.tolist(), self._history.costs, budget), dtype=np.int64)


@dataclass(frozen=True)
class _Level:
    """One level of the tree above the steps: each node's children in the level below, and its centroid."""

    children: tuple[Sequence[int], ...]
    centroids: Vectors


class TreeAbstraction:
    """RAPTOR-style: recursive clustering (average linkage on cosine), searched best-first from the root under the
    budget.

    A node is represented by its centroid in place of a written summary, as units are (ours: same costs for all, and
    summaries would be tokens that hold no evidence).
    """

    branching = 6

    def __init__(self, history: Trajectory) -> None:
        self._history = history
        self._levels: list[_Level] = []
        if not len(history):
            return
        below, weights = history.vectors.astype(np.float64), np.ones(len(history))
        while len(below) > self.branching:
            groups = _clusters(below, -(-len(below) // self.branching))
            below = np.array([(below[g] * weights[g, None]).sum(axis=0) for g in groups])
            weights = np.array([weights[g].sum() for g in groups])
            below = below / _lengths(below)[:, None] * GRID
            self._levels.append(_Level(tuple(g.tolist() for g in groups), below.astype(np.float32)))

    def retrieve(self, query: Vectors, budget: int) -> Steps:
        sims = similarities(self._history.vectors, query)
        return by_similarity(pack(self._best_first(query, sims.tolist()), self._history.costs, budget), sims)

    def _best_first(self, query: Vectors, sims: list[float]) -> list[int]:
        """All steps, in the order in which a best-first descent reaches them."""
        scores = [sims, *((level.centroids @ query / GRID**2).tolist() for level in self._levels)]
        heap = [(-score, len(self._levels), node) for node, score in enumerate(scores[-1])]
        heapq.heapify(heap)
        order = []
        while heap:
            _, level, node = heapq.heappop(heap)
            if level == 0:
                order.append(node)
                continue
            for child in self._levels[level - 1].children[node]:
                heapq.heappush(heap, (-scores[level - 1][child], level - 1, child))
        return order


def _centroids(vectors: Vectors, parts: Sequence[Steps]) -> Vectors:
    sums = np.array([vectors[part].sum(axis=0, dtype=np.float64) for part in parts]).reshape(len(parts), -1)
    centroids: Vectors = (sums / _lengths(sums)[:, None] * GRID).astype(np.float32)
    return centroids


def _lengths(sums: Floats) -> Floats:
    """Length of each row, at least 1 grid unit: opposite vectors can cancel."""
    norms: Floats = np.maximum(np.linalg.norm(sums, axis=1), 1.0)
    return norms


def _clusters(vectors: Floats, count: int) -> list[Steps]:
    """`count` clusters of average linkage on cosine distance, each as indices, ordered by first member."""
    from scipy.cluster.hierarchy import fcluster, linkage

    labels = fcluster(linkage(vectors, method="average", metric="cosine"), t=count, criterion="maxclust")
    _, first = np.unique(labels, return_index=True)
    return [np.flatnonzero(labels == labels[at]) for at in np.sort(first)]
