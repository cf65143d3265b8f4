"""Nothing that a read returns or scans depends on content its scope does not admit."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.shards import DIMENSIONS, START, WORDS, Small, an_item, ask

from rebind.memory.shard.feature_router import FeatureRouter
from rebind.memory.shard.lexical import lexical
from rebind.memory.shard.mlp_router import untrained
from rebind.memory.shard.routing import PrototypeCosine, Router, ShardBm25
from rebind.memory.shard.scope import MayRead, NamespaceIs, Predicate, Scope, SessionIs, SpeakerIs, TimeWithin, UserIs
from rebind.memory.shard.segment import Item
from rebind.memory.shard.tier_b import ReadSettings, TierB

HELD = {"ada": frozenset({"red"}), "bob": frozenset({"red", "blue"})}
_texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
_predicates: st.SearchStrategy[Predicate] = st.one_of(
    st.sampled_from(
        [
            UserIs(names=("u0",)),
            UserIs(names=("u0", "u1")),
            SessionIs(names=("s1",)),
            SpeakerIs(names=("eve", "")),
            NamespaceIs(names=("bank",)),
            TimeWithin(start=START + timedelta(days=2)),
            TimeWithin(end=START + timedelta(days=4)),
            MayRead(principal="ada"),
            MayRead(principal="nobody"),
        ]
    )
)
_scopes = st.lists(_predicates, max_size=3).map(lambda chosen: Scope(predicates=tuple(chosen)))


@st.composite
def stores(draw: st.DrawFn) -> list[Item]:
    """Up to 30 items in up to 8 shards, mixed in every field."""
    items: list[Item] = []
    for number in range(draw(st.integers(1, 30))):
        shard = draw(st.integers(0, 7))
        items.append(
            an_item(
                number,
                f"shard{shard}",
                draw(_texts),
                family=("profile", "observation", "session")[shard % 3],
                days=draw(st.one_of(st.none(), st.integers(0, 6))),
                user=f"u{draw(st.integers(0, 1))}",
                session=f"s{draw(st.integers(0, 2))}",
                speaker=draw(st.sampled_from(["", "eve", "mal"])),
                namespace=draw(st.sampled_from(["bank", "bank.cards", "mail"])),
                label=draw(st.sampled_from(["", "red", "blue"])),
            )
        )
    return items


def _routers() -> list[Router]:
    rng = np.random.default_rng(0)
    shapes = {"w1": (2, 8, 4), "b1": (2, 4), "w2": (2, 4)}
    weights = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    return [PrototypeCosine(), ShardBm25(), untrained(DIMENSIONS, 0), FeatureRouter(weights)]


ROUTERS = _routers()


def _everything(items: list[Item], scope: Scope, router: Router, text: str) -> dict[str, object]:
    """All that a read gives and counts, with the IDF it used and the score of every admissible shard."""
    store, query = Small(items, HELD), ask(text)
    evidence = TierB(store.admit, router, ReadSettings(b_probe=2, k=4)).read(query, scope)
    admitted = store.admit(scope)
    stats = lexical(query.terms, admitted)
    scores = router.scores(query, admitted, stats) if len(admitted) else np.empty(0)
    return {
        "hits": [asdict(hit) for hit in evidence.hits],
        "scans": asdict(evidence.scans),
        "idf": stats.item_idf.tolist(),
        "mean": stats.item_mean_length,
        "scores": dict(zip([admitted.name(p) for p in range(len(admitted))], scores.tolist(), strict=True)),
    }


def _admits(item: Item, scope: Scope) -> bool:
    return len(Small([item], HELD).admit(scope)) == 1


@pytest.mark.parametrize("router", ROUTERS, ids=lambda r: r.name)
@settings(max_examples=20, deadline=None)
@given(stores(), _scopes, _texts, st.data())
def test_changing_or_deleting_inadmissible_items_changes_nothing(
    router: Router, items: list[Item], scope: Scope, text: str, data: st.DataObject
) -> None:
    """Bit for bit: results, scores, IDF, scan counts."""
    before = _everything(items, scope, router, text)
    changed: list[Item] = []
    for item in items:
        fate = "keep" if _admits(item, scope) else data.draw(st.sampled_from(["keep", "delete", "rewrite"]))
        if fate != "delete":
            changed.append(item.model_copy(update={"text": data.draw(_texts)}) if fate == "rewrite" else item)
    assert _everything(changed, scope, router, text) == before


@settings(max_examples=30, deadline=None)
@given(stores(), _scopes, _texts)
def test_every_item_returned_is_admitted(items: list[Item], scope: Scope, text: str) -> None:
    by_id = {item.id: item for item in items}
    for mode in ("routed", "post-filter", "all-admissible"):
        found = TierB(Small(items, HELD).admit, ShardBm25(), ReadSettings(mode=mode)).read(ask(text), scope)
        assert all(_admits(by_id[hit.id], scope) for hit in found.hits)
        if mode == "routed":
            assert (found.scans.inadmissible_shards, found.scans.inadmissible_items) == (0, 0)


def test_without_an_admissible_shard_neither_router_nor_index_is_touched() -> None:
    class Untouchable:
        name = "untouchable"

        def scores(self, query: object, admitted: object, lexical: object) -> np.ndarray:
            raise AssertionError("the router was asked")

    store = Small([an_item(0, "a", "apple boat", user="u0", label="blue")], HELD)
    evidence = TierB(store.admit, Untouchable()).read(ask("apple"), Scope(predicates=(MayRead(principal="ada"),)))
    assert evidence.hits == ()
    assert evidence.scans.vectors == evidence.scans.postings == evidence.scans.shards == 0
