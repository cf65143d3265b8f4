"""Documents in shards, and requests whose right items are known: what HotpotQA and the banking documents share."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rebind.memory.shard.corpus import Admitted, View, admit
from rebind.memory.shard.embedded import Encode
from rebind.memory.shard.feature_router import Example, FeatureRouter, train_feature_router
from rebind.memory.shard.features import features
from rebind.memory.shard.lexical import lexical
from rebind.memory.shard.query import Query
from rebind.memory.shard.routing import PrototypeCosine, Router, ShardBm25
from rebind.memory.shard.scope import FIELDS, Scope, Vocabulary
from rebind.memory.shard.segment import Item, build_segment, on_grid
from rebind.memory.shard.tier_b import Evidence, ReadSettings, TierB


@dataclass(frozen=True, eq=False)
class Wanted:
    """A request, its scope, and the ids of the items that it needs."""

    query: Query
    scope: Scope
    items: frozenset[str]


class Collection:
    """Items in one store."""

    def __init__(self, items: Sequence[Item], encode: Encode) -> None:
        self.names = [Vocabulary() for _ in FIELDS]
        self.shard_of = {item.id: item.shard for item in items}
        self._views = [View.of(build_segment(items, on_grid(encode([i.text for i in items])), self.names))]

    def admit(self, scope: Scope) -> Admitted:
        return admit(self._views, scope, self.names, {})

    def trained(self, wanted: Sequence[Wanted], seed: int) -> FeatureRouter:
        """Our router, by the shards of the items that these requests need."""
        examples: list[Example] = []
        for one in wanted:
            admitted = self.admit(one.scope)
            seen, places = features(one.query, admitted, lexical(one.query.terms, admitted))
            gold = {self.shard_of[item] for item in one.items}
            right = [n for n, place in enumerate(places) if admitted.name(int(place)) in gold]
            if right:
                examples.append(Example(seen, np.array(right)))
        return train_feature_router(examples, seed)

    def routers(self, wanted: Sequence[Wanted], seed: int = 0) -> list[Router]:
        """Those that need no labels, and ours."""
        return [PrototypeCosine(), ShardBm25(), self.trained(wanted, seed)]

    def measure(
        self, wanted: Sequence[Wanted], router: Router, settings: ReadSettings
    ) -> tuple[dict[str, Any], list[Evidence]]:
        """One row of numbers, and what was found."""
        tier = TierB(self.admit, router, settings)
        tier.read(wanted[0].query, wanted[0].scope)
        found: list[Evidence] = []
        ms: list[float] = []
        for one in wanted:
            began = time.thread_time()
            found.append(tier.read(one.query, one.scope))
            ms.append((time.thread_time() - began) * 1e3)
        pairs = list(zip(wanted, found, strict=True))
        row: dict[str, Any] = {
            "router": router.name,
            "mode": settings.mode,
            "shard_hit": _mean(bool(self._gold(w) & set(e.scans.probed)) for w, e in pairs),
            "all_shards_hit": _mean(self._gold(w) <= set(e.scans.probed) for w, e in pairs),
            "recall10": _mean(len(w.items & {h.id for h in e.hits}) / len(w.items) for w, e in pairs),
            "vec_scan": _mean(e.scans.vectors for e in found),
            "scan_fraction": _mean(e.scans.vectors / max(1, e.scans.items) for e in found),
            "inadmissible_items": _mean(e.scans.inadmissible_items for e in found),
            "p95_ms": float(np.percentile(ms, 95)),
        }
        if settings.mode in ("all-admissible", "global"):
            row["shard_hit"] = row["all_shards_hit"] = None
        return row, found

    def _gold(self, wanted: Wanted) -> set[str]:
        return {self.shard_of[item] for item in wanted.items}


def _mean(values: Any) -> float:
    return float(np.mean(list(values)))


def table(title: str, rows: Sequence[Mapping[str, Any]]) -> tuple[str, list[str], list[list[str]]]:
    """Rows for the terminal."""
    keys = ["shard_hit", "all_shards_hit", "recall10", "vec_scan", "scan_fraction", "inadmissible_items", "p95_ms"]
    body = [
        [r.get("scope", r["mode"]), r["router"], *("–" if r[k] is None else f"{r[k]:.3f}" for k in keys)] for r in rows
    ]
    return title, ["scope", "router", *keys], body
