"""Propositions 1 to 3 of the paper (section 4) as computations on a pool, to be checked on any."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rebind.memory.osu.config import DISJOINT, OsuConfig
from rebind.memory.osu.kernels import Floats
from rebind.memory.osu.pool import Pool, build_pool
from rebind.memory.osu.trajectory import GRID, Steps, Trajectory, Vectors


@dataclass(frozen=True, eq=False)
class Reach:
    """Proposition 1 for one query: which steps some selected unit holds, (n,)."""

    overlap: np.ndarray[tuple[int], np.dtype[np.bool_]]
    best_view: np.ndarray[tuple[int], np.dtype[np.bool_]]
    """Under the same pool, if each step had its one unit of highest priority alone."""


def reachability(pool: Pool, query: Vectors, threshold: float) -> Reach:
    """Selects every unit with z_k · q ≥ threshold, and compares membership in all views with membership in one.

    The union bound of section 4.1: what is reached through its first unit alone is reached through all its units.
    """
    selected = pool.centroids @ query / GRID >= threshold
    n = len(pool.history)
    overlap, single, seen = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    order = {view: rank for rank, view in enumerate(pool.config.views)}
    rows = [(order[unit.view], row, unit.members) for row, unit in enumerate(pool.rows) if unit is not None]
    for _, row, members in sorted(rows, key=lambda entry: entry[:2]):
        steps = np.array(members)
        overlap[steps] |= selected[row]
        first = steps[~seen[steps]]
        single[first] = selected[row]
        seen[steps] = True
    return Reach(overlap, single)


@dataclass(frozen=True)
class ClusterRecall:
    """Proposition 2 for one query: the share of evidence that one entity unit and one tool unit reach."""

    entity: float
    """CR of the best entity unit under overlap."""
    combined: float
    """CR of the best union of an entity unit and a tool unit under overlap (equation 4)."""
    disjoint: float
    """CR of the best entity unit under disjoint (equation 5)."""


def cluster_recall(history: Trajectory, evidence: Steps, config: OsuConfig | None = None) -> ClusterRecall:
    """Reach of evidence through units, under overlap and under disjoint construction."""
    overlap, disjoint = build_pool(history, config or OsuConfig()), build_pool(history, DISJOINT)
    entity, tool = _held(overlap, evidence, "entity"), _held(overlap, evidence, "tool")
    union = [len(one | other) for one in entity for other in tool]
    n = len(evidence)
    return ClusterRecall(
        entity=max(map(len, entity)) / n,
        combined=max(union) / n,
        disjoint=max(map(len, _held(disjoint, evidence, "entity"))) / n,
    )


def _held(pool: Pool, evidence: Steps, view: str) -> list[set[int]]:
    """The evidence in every unit of a view; an empty set stands for "no unit"."""
    wanted = set(evidence.tolist())
    return [set(), *(wanted & set(unit.members) for unit in pool.units if unit.view == view)]


@dataclass(frozen=True)
class Dilution:
    """Proposition 3 for one unit: its relevance, and equation 6 from evidence and other members apart."""

    relevance: float
    mixed: float
    fraction: float
    """m_e / m."""


def dilution(vectors: Floats, evidence: np.ndarray[tuple[int], np.dtype[np.bool_]], query: Floats) -> Dilution:
    """Relevance of the unit whose members are `vectors` (m, d), and (m_e h̄_e·q + (m − m_e) h̄_¬e·q) / (m ‖h̄‖)."""
    mean = vectors.mean(axis=0)
    length = float(np.linalg.norm(mean))
    count, held = len(vectors), int(evidence.sum())
    parts = sum(
        number * float(vectors[mask].mean(axis=0) @ query)
        for number, mask in ((held, evidence), (count - held, ~evidence))
        if number
    )
    return Dilution(float(mean @ query) / length, parts / (count * length), held / count)
