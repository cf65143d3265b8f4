"""The router on held-out tasks of τ-bench: is it as good as the better method in every cell, and better than both in
all?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rebind.eval.bench.osu.cells import CELLS, FAVOURABLE
from rebind.eval.bench.osu.scoring import PRIMARY, Row, effect
from rebind.eval.bench.osu.tau_data import TauEpisode, noisy_mean
from rebind.memory.osu.flat import Flat
from rebind.memory.osu.kernels import Floats
from rebind.memory.osu.pool import build_pool
from rebind.memory.osu.retrieve import OsuMem
from rebind.memory.osu.router import FEATURES, Router, features

FOLDS = 10
DRAWS = 6
"""Noise draws of every query, to steady cells of some dozens of queries; all draws of a task are in one fold."""


@dataclass(frozen=True, eq=False)
class _Cases:
    """One row per query and draw."""

    rows: Floats
    overlap: Floats
    """Hit@2."""
    flat: Floats
    cell: np.ndarray[Any, np.dtype[np.str_]]
    task: np.ndarray[Any, np.dtype[np.str_]]


def route(episodes: Sequence[TauEpisode], budget: int = PRIMARY, draws: int = DRAWS) -> dict[str, Any]:
    """Hit@2 of OSU, Flat, the router and the cell oracle by cell, each query routed by a router that was fitted without
    any episode of its task."""
    cases = _cases(episodes, budget, draws)
    chosen = np.zeros(len(cases.flat), dtype=bool)
    tasks = np.unique(cases.task)
    fold_of = dict(
        zip(np.random.default_rng(0).permutation(tasks).tolist(), np.arange(len(tasks)) % FOLDS, strict=True)
    )
    fold = np.array([fold_of[task] for task in cases.task.tolist()])
    for held_out in range(FOLDS):
        train = fold != held_out
        router = Router.fit(cases.rows[train], (cases.overlap - cases.flat)[train])
        chosen[~train] = router.expected(cases.rows[~train]) > 0
    routed = np.where(chosen, cases.overlap, cases.flat)
    oracle = np.where(np.isin(cases.cell, FAVOURABLE), cases.overlap, cases.flat)
    rows = [_row(name, cases, routed, oracle, chosen) for name in (*CELLS, "all")]
    whole = Router.fit(cases.rows, cases.overlap - cases.flat)
    return {
        "budget": budget,
        "draws": draws,
        "held_out": f"{FOLDS} folds over {len(tasks)} tasks",
        "features": dict(zip(FEATURES, whole.weights.tolist(), strict=True)),
        "rows": rows,
        "worst_cell": min(float(row["over_better"] or 0.0) for row in rows[:-1]),
        "over_osu": effect(routed - cases.overlap, cases.task.tolist())._asdict(),
        "over_flat": effect(routed - cases.flat, cases.task.tolist())._asdict(),
    }


def _row(name: str, cases: _Cases, routed: Floats, oracle: Floats, chosen: np.ndarray[Any, np.dtype[np.bool_]]) -> Row:
    part = np.ones(len(routed), dtype=bool) if name == "all" else cases.cell == name
    overlap, flat, router = (float(x[part].mean()) for x in (cases.overlap, cases.flat, routed))
    return {
        "cell": name,
        "n": int(part.sum()),
        "osu": overlap,
        "flat": flat,
        "router": router,
        "oracle": float(oracle[part].mean()),
        "to_overlap": float(chosen[part].mean()),
        "over_better": router - max(overlap, flat),
    }


def _cases(episodes: Sequence[TauEpisode], budget: int, draws: int) -> _Cases:
    rows, overlap_hits, flat_hits, cells, tasks = [], [], [], [], []
    for episode in episodes:
        pool = build_pool(episode.history)
        osu, flat = OsuMem(pool), Flat(episode.history)
        for query in (q for q in episode.queries if q.crosstab):
            for draw in range(draws):
                vector = noisy_mean(episode, query, draw)
                one, other = osu.retrieve(vector, budget), flat.retrieve(vector, budget)
                rows.append(features(pool, vector, one, other))
                overlap_hits.append(float(np.isin(query.evidence, one).sum() >= 2))
                flat_hits.append(float(np.isin(query.evidence, other).sum() >= 2))
                cells.append(query.cell)
                tasks.append(episode.task)
    return _Cases(np.array(rows), np.array(overlap_hits), np.array(flat_hits), np.array(cells), np.array(tasks))
