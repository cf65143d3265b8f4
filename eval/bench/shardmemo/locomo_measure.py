"""What one configuration of the read path does on LoCoMo's questions."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebind.eval.bench.shardmemo.locomo_world import Asked, World
from rebind.memory.shard.routing import Router
from rebind.memory.shard.tier_b import Evidence, ReadSettings, TierB

Floats = NDArray[np.float64]
RAW = ReadSettings()
"""No cost term, no adaptive Top-P, temperature 1."""


@dataclass(frozen=True, eq=False)
class Measured:
    """One value a question, in order."""

    hit: Mapping[str, Floats]
    """Whether a probed shard is gold, by gold."""
    recall: Floats
    """Share of the evidence turns among the K items."""
    recall_cited: Floats
    """The same, a fact that cites a turn counting for it."""
    vectors: Floats
    fraction: Floats
    """Of the admissible vectors, scanned."""
    probed: Floats
    """Shards."""
    inadmissible: Floats
    """Probed shards without an admissible item."""
    ms: Floats
    """Thread CPU time of the read, from scope to ranking."""
    answers: tuple[Evidence, ...] = field(default=())


def measure(
    world: World,
    asked: Sequence[Asked],
    router: Router,
    settings: ReadSettings,
    *,
    dates: bool = True,
    keep: bool = False,
) -> Measured:
    """Reads every question. `dates`: with what Tier A adds to the query."""
    tier = TierB(world.admit, router, settings)
    tier.read(asked[0].query, asked[0].scope)  # compiles, and computes what is computed once
    found: list[Evidence] = []
    ms: list[float] = []
    for one in asked:
        began = time.thread_time()
        found.append(tier.read(one.query if dates else one.without_dates, one.scope))
        ms.append((time.thread_time() - began) * 1e3)
    pairs = list(zip(asked, found, strict=True))
    return Measured(
        hit={gold: _floats(_hit(a, e, gold, settings) for a, e in pairs) for gold in ("strict", "loose")},
        recall=_floats(_recall(a, e, cited=False) for a, e in pairs),
        recall_cited=_floats(_recall(a, e, cited=True) for a, e in pairs),
        vectors=_floats(e.scans.vectors for e in found),
        fraction=_floats(e.scans.vectors / e.scans.items for e in found),
        probed=_floats(len(e.scans.probed) for e in found),
        inadmissible=_floats(e.scans.inadmissible_shards for e in found),
        ms=np.array(ms),
        answers=tuple(found) if keep else (),
    )


def joined(runs: Sequence[Measured]) -> Measured:
    """Several runs end to end."""
    columns: dict[str, Any] = {
        f.name: np.concatenate([getattr(run, f.name) for run in runs])
        for f in fields(Measured)
        if f.name not in ("hit", "answers")
    }
    hit = {gold: np.concatenate([run.hit[gold] for run in runs]) for gold in runs[0].hit}
    return Measured(hit=hit, **columns)


def row(runs: Sequence[Measured], gold: str, paper: Mapping[str, float | None] | None = None) -> dict[str, Any]:
    """Means over seeds, with the standard deviation of ShardHit over them, in the names of the JSON output."""
    hits = [float(run.hit[gold].mean()) for run in runs]
    none = np.isnan(hits).any()
    return {
        "gold": gold,
        "shard_hit": None if none else float(np.mean(hits)),
        "shard_hit_sd": None if none else float(np.std(hits)),
        "vec_scan": float(np.mean([run.vectors.mean() for run in runs])),
        "scan_fraction": float(np.mean([run.fraction.mean() for run in runs])),
        "recall10": float(np.mean([run.recall.mean() for run in runs])),
        "recall10_cited": float(np.mean([run.recall_cited.mean() for run in runs])),
        "probed": float(np.mean([run.probed.mean() for run in runs])),
        "inadmissible_probes": float(np.mean([run.inadmissible.mean() for run in runs])),
        "p95_ms": float(np.mean([np.percentile(run.ms, 95) for run in runs])),
        "seeds": len(runs),
        "paper": None if paper is None else dict(paper),
    }


def _hit(asked: Asked, evidence: Evidence, gold: str, settings: ReadSettings) -> float:
    if settings.mode in ("global", "all-admissible"):
        return float("nan")  # nothing is routed
    return float(bool(asked.gold[gold].intersection(evidence.scans.probed)))


def _recall(asked: Asked, evidence: Evidence, *, cited: bool) -> float:
    found = {hit.id for hit in evidence.hits}
    if cited:
        found.update(one for hit in evidence.hits for one in hit.cites)
    return len(asked.evidence & found) / len(asked.evidence)


def _floats(values: Any) -> Floats:
    return np.array(list(values), dtype=np.float64)
