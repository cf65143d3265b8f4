"""Look-alike tenants: the same names and topics, other facts. Routing over all spends probes on the wrong ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebind.memory.shard.corpus import Admitted, View, admit
from rebind.memory.shard.feature_router import Example, FeatureRouter, train_feature_router
from rebind.memory.shard.features import features
from rebind.memory.shard.lexical import lexical
from rebind.memory.shard.query import Query, make_query
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


@dataclass(frozen=True, eq=False)
class _Asked:
    query: Query
    scope: Scope
    shard: str
    """Where the fact is."""


def run_twins(seed: int = 0) -> dict[str, Any]:
    """ShardHit of scope before routing and of a post-filter, on the same requests, with BM25, cosine and our router.

    The figures at the top are those of BM25. How much scope is worth here follows from how alike the tenants are made:
    a request that fits no more than B_probe shards of all tenants loses nothing by a post-filter.
    """
    rng = np.random.default_rng(seed)
    items, vectors = _tenants(rng)
    names = [Vocabulary() for _ in FIELDS]
    views = [View.of(build_segment(items, on_grid(vectors), names))]

    def admitted(scope: Scope) -> Admitted:
        return admit(views, scope, names, {})

    asked = list(_requests(items, vectors, rng, 0))
    routers = (ShardBm25(), PrototypeCosine(), _trained(admitted, list(_requests(items, vectors, rng, _QUERIES))))
    results: dict[str, Any] = {}
    for router in routers:
        for mode in ("routed", "post-filter"):
            tier = TierB(admitted, router, ReadSettings(b_probe=_B_PROBE, mode=mode))
            results[f"{router.name} {mode}"] = _measure(tier, asked)
    first, after = results["bm25 routed"], results["bm25 post-filter"]
    return {
        "tenants": _TENANTS,
        "queries": _QUERIES,
        "b_probe": _B_PROBE,
        "scope_first": first,
        "post_filter": after,
        "difference": first["shard_hit"] - after["shard_hit"],
        "differences": {
            router.name: results[f"{router.name} routed"]["shard_hit"]
            - results[f"{router.name} post-filter"]["shard_hit"]
            for router in routers
        },
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


def _requests(
    items: list[Item], vectors: NDArray[np.float32], rng: np.random.Generator, first: int
) -> Iterator[_Asked]:
    """Requests for a fact of one tenant, which mention other topics too."""
    asked = rng.choice(len(items), size=_QUERIES)
    noise = rng.normal(size=(_QUERIES, _DIMENSIONS)).astype(np.float32) * 2.0
    for place, row in enumerate(asked, first):
        item = items[row]
        others = np.random.default_rng(place).choice(_TOPICS, size=_MENTIONED, replace=False)
        asides = (f"topic{topic}word{place % _WORDS}" for topic in others)
        text = " ".join([item.text.split()[0], item.text.split()[-1], *asides])
        scope = Scope(predicates=(UserIs(names=(item.meta.user,)),))
        yield _Asked(make_query(text, vectors[row] + noise[place - first]), scope, item.shard)


def _trained(admit: Callable[[Scope], Admitted], asked: Sequence[_Asked]) -> FeatureRouter:
    """Our router, trained on requests of its own, each over its tenant's shards."""
    examples: list[Example] = []
    for one in asked:
        admitted = admit(one.scope)
        seen, places = features(one.query, admitted, lexical(one.query.terms, admitted))
        gold = [n for n, place in enumerate(places) if admitted.name(int(place)) == one.shard]
        examples.append(Example(seen, np.array(gold)))
    return train_feature_router(examples, 0)


def _measure(tier: TierB, asked: Sequence[_Asked]) -> dict[str, float]:
    found = [tier.read(one.query, one.scope) for one in asked]
    return {
        "shard_hit": float(np.mean([one.shard in e.scans.probed for one, e in zip(asked, found, strict=True)])),
        "inadmissible_probes": float(np.mean([e.scans.inadmissible_shards for e in found])),
        "inadmissible_items": float(np.mean([e.scans.inadmissible_items for e in found])),
    }
