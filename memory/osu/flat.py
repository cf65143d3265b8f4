"""Baselines that rank steps by recency or by cosine alone (paper, Appendix B.1)."""

from __future__ import annotations

import numpy as np

from rebind.memory.osu.packing import pack
from rebind.memory.osu.trajectory import Steps, Trajectory, Vectors, similarities


class NoMemory:
    """Returns an empty context."""

    def __init__(self, history: Trajectory) -> None:
        del history  # nothing of it is kept

    def retrieve(self, query: Vectors, budget: int) -> Steps:
        del query, budget
        return np.empty(0, dtype=np.int64)


class Replay:
    """Budget-Truncated Replay: the most recent steps; what overflows is skipped, so that a small old step may still
    fit."""

    def __init__(self, history: Trajectory) -> None:
        self._history = history

    def retrieve(self, query: Vectors, budget: int) -> Steps:
        del query
        return np.array(pack(range(len(self._history) - 1, -1, -1), self._history.costs, budget), dtype=np.int64)


class SlidingWindow:
    """The longest unbroken run of most recent steps that fits."""

    def __init__(self, history: Trajectory) -> None:
        self._history = history

    def retrieve(self, query: Vectors, budget: int) -> Steps:
        del query
        spent = np.cumsum(self._history.costs[::-1])
        length = int(np.searchsorted(spent, budget, side="right"))
        return np.arange(len(self._history) - 1, len(self._history) - 1 - length, -1, dtype=np.int64)


class PeriodicSummary:
    """Half the budget for a recent window, half for summaries of the chunks before it, newest first.

    A summary is extractive (ours: a benchmark without text has nothing to write one from): the step nearest to its
    chunk's centroid stands for the chunk.
    """

    chunk = 16

    def __init__(self, history: Trajectory) -> None:
        self._history = history
        self._window = SlidingWindow(history)

    def retrieve(self, query: Vectors, budget: int) -> Steps:
        recent = self._window.retrieve(query, budget // 2)
        end = len(self._history) - len(recent)
        summaries = [self._summary(max(0, stop - self.chunk), stop) for stop in range(end, 0, -self.chunk)]
        left = budget - int(self._history.costs[recent].sum())
        return np.concatenate([recent, np.array(pack(summaries, self._history.costs, left), dtype=np.int64)])

    def _summary(self, start: int, stop: int) -> int:
        vectors = self._history.vectors[start:stop]
        return start + int(np.argmax(vectors @ vectors.mean(axis=0)))


class Flat:
    """Flat Vector: the steps of highest cosine with the query."""

    def __init__(self, history: Trajectory) -> None:
        self._history = history

    def retrieve(self, query: Vectors, budget: int) -> Steps:
        sims = similarities(self._history.vectors, query)
        order = np.argsort(-sims, kind="stable")
        return np.array(pack(order.tolist(), self._history.costs, budget), dtype=np.int64)
