"""How units hold evidence: memberships, eviction and cluster recall (paper, sections 4.2 and 6.1)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from rebind.eval.bench.osu.scoring import Row
from rebind.memory.osu.config import DISJOINT, OsuConfig
from rebind.memory.osu.pool import Pool, build_pool
from rebind.memory.osu.trajectory import Steps, Trajectory

_KINDS = (("overlap", OsuConfig()), ("disjoint", DISJOINT))


def held(cases: Iterable[tuple[Trajectory, Steps]]) -> list[Row]:
    """For overlap and disjoint: units per evidence step (mean, median), the share of evidence in no unit, and the
    mean over queries of the best unit's cluster recall |u ∩ E| / |E|."""
    counts: dict[str, list[int]] = {kind: [] for kind, _ in _KINDS}
    recalls: dict[str, list[float]] = {kind: [] for kind, _ in _KINDS}
    last: Trajectory | None = None
    pools: dict[str, Pool] = {}
    for history, evidence in cases:
        if history is not last:
            pools, last = {kind: build_pool(history, config) for kind, config in _KINDS}, history
        for kind, pool in pools.items():
            counts[kind].extend(pool.memberships()[evidence].tolist())
            recalls[kind].append(float(np.isin(pool.members, evidence).sum(axis=1).max(initial=0)) / len(evidence))
    return [
        {
            "construction": kind,
            "memberships": float(np.mean(counts[kind])),
            "median": float(np.median(counts[kind])),
            "evicted": float(np.mean(np.array(counts[kind]) == 0)),
            "cluster_recall": float(np.mean(recalls[kind])),
        }
        for kind, _ in _KINDS
    ]
