"""Look-alike tenants: the same names and topics, other facts. Routing over all spends probes on the wrong ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebind.memory.shard.corpus import Admitted, View, admit
from rebind.memory.shard.query import make_query
from rebind.memory.shard.routing import PrototypeCosine, ShardBm25
from rebind.memory.shard.scope import FIELDS, ItemMeta, Scope, UserIs, Vocabulary
from rebind.memory.shard.segment import Item, build_segment, on_grid
from rebind.memory.shard.tier_b import ReadSettings, TierB

_TENANTS, _TOPICS, _ITEMS, _QUERIES, _DIMENSIONS, _B_PROBE = 3, 20, 12, 300, 64, 3
_WORDS = 12
"""Words of a topic, which all tenants use; a fact also has two words of its own."""
_MENTIONED = 4
"""Topics that a request mentions beside its own, a word each; it also says a word of its own topic and one of its
fact."""
_FACTS = 60
"""Words that tell facts apart; tenants and topics share them."""


def run_twins(seed: int = 0) -> dict[str, Any]:
    """ShardHit of scope before routing and of a post-filter, with BM25 and with cosine, on the same requests.

    The figures at the top are those of BM25. How much scope is worth here follows from how alike the tenants are made:
    a request that fits no more than B_probe shards of all tenants loses nothing by a post-filter.
    """
    rng = np.random.default_rng(seed)
    items, vectors = _tenants(rng)
    names = [Vocabulary() for _ in FIELDS]
    views = [View.of(build_segment(items, on_grid(vectors), names))]

    def admitted(scope: Scope) -> Admitted:
        return admit(views, scope, names, {})

    asked = rng.choice(len(items), size=_QUERIES)
    noise = rng.normal(size=(_QUERIES, _DIMENSIONS)).astype(np.float32) * 2.0
    results: dict[str, Any] = {}
    for router in (ShardBm25(), PrototypeCosine()):
        for mode in ("routed", "post-filter"):
            tier = TierB(admitted, router, ReadSettings(b_probe=_B_PROBE, mode=mode))
            results[f"{router.name} {mode}"] = _measure(tier, items, vectors, asked, noise)
    first, after = results["bm25 routed"], results["bm25 post-filter"]
    return {
        "tenants": _TENANTS,
        "queries": _QUERIES,
        "b_probe": _B_PROBE,
        "scope_first": first,
        "post_filter": after,
        "difference": first["shard_hit"] - after["shard_hit"],
        "by_router": results,
        "inadmissible_probes": first["inadmissible_probes"],
        "inadmissible_items": first["inadmissible_items"],
    }


def _tenants(rng: np.random.Generator) -> tuple[list[Item], NDArray[np.float32]]:
    """Facts of every tenant: each topic a shard, with the same direction and words everywhere."""
    directions = rng.normal(size=(_TOPICS, _DIMENSIONS))
    items: list[Item] = []
    vectors: list[NDArray[np.float64]] = []
    for tenant in range(_TENANTS):
        for topic in range(_TOPICS):
            for number in range(_ITEMS):
                common = rng.choice(_WORDS, size=4, replace=False)
                own = rng.integers(_FACTS, size=2)
                text = " ".join([*(f"topic{topic}word{w}" for w in common), *(f"fact{w}" for w in own)])
                shard = f"tenant{tenant}/topic{topic:02}"
                meta = ItemMeta(user=f"tenant{tenant}")
                items.append(Item(id=f"{shard}/{number}", text=text, shard=shard, meta=meta))
                vectors.append(directions[topic] + rng.normal(size=_DIMENSIONS))
    return items, np.array(vectors, dtype=np.float32)


def _measure(
    tier: TierB, items: list[Item], vectors: NDArray[np.float32], asked: NDArray[np.int64], noise: NDArray[np.float32]
) -> dict[str, float]:
    hits, probes, dropped = [], [], []
    for place, row in enumerate(asked):
        item = items[row]
        others = np.random.default_rng(place).choice(_TOPICS, size=_MENTIONED, replace=False)
        asides = (f"topic{topic}word{place % _WORDS}" for topic in others)
        query = make_query(
            " ".join([item.text.split()[0], item.text.split()[-1], *asides]), vectors[row] + noise[place]
        )
        evidence = tier.read(query, Scope(predicates=(UserIs(names=(item.meta.user,)),)))
        hits.append(item.shard in evidence.scans.probed)
        probes.append(evidence.scans.inadmissible_shards)
        dropped.append(evidence.scans.inadmissible_items)
    return {
        "shard_hit": float(np.mean(hits)),
        "inadmissible_probes": float(np.mean(probes)),
        "inadmissible_items": float(np.mean(dropped)),
    }
