"""Shard maps that follow their content, in a real store."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.shards import DIMENSIONS, an_item, ask, embed

from rebind.memory.shard.adapt import AdaptSettings, adapt
from rebind.memory.shard.generation import create
from rebind.memory.shard.routing import ShardBm25
from rebind.memory.shard.scope import Scope
from rebind.memory.shard.store import Store
from rebind.memory.shard.tier_b import ReadSettings, TierB


@pytest.fixture
def store(tmp_path: Path) -> Store:
    create(tmp_path / "store", DIMENSIONS, "hashed words")
    return Store(tmp_path / "store")


def _add(store: Store, *items: object) -> None:
    store.append(items, embed([item.text for item in items]))  # type: ignore[arg-type,attr-defined]  # items


def test_a_shard_whose_topic_changed_is_cut_where_it_changed(store: Store) -> None:
    texts = ["apple boat"] * 12 + ["guitar harbor"] * 12
    _add(store, *(an_item(n, "a", text) for n, text in enumerate(texts)))
    done = adapt(store, AdaptSettings(spread_below=0.9))
    assert done.split == (("a", "a~1", "a~2"),)
    assert {item.text for item, _ in store.written("a~1")} == {"apple boat"}
    assert {item.text for item, _ in store.written("a~2")} == {"guitar harbor"}


def test_a_shard_that_grew_is_split_until_it_fits_and_no_item_is_lost(store: Store) -> None:
    _add(store, *(an_item(n, "a", f"apple boat {n}") for n in range(50)))
    settings = AdaptSettings(split_above=16, merge_below=2, spread_below=0.0)
    while adapt(store, settings).split:
        pass
    shards = {name: store.written(name) for name in store.shards()}
    assert max(len(items) for items in shards.values()) <= 16
    assert sorted(i.id for items in shards.values() for i, _ in items) == [f"i{n:04}" for n in range(50)]


def test_after_drift_the_adapted_map_finds_the_same_evidence_by_scanning_a_part(store: Store) -> None:
    """A shard whose writer went on to other topics: every request scans all of it, until the map follows."""
    topics = ["apple boat", "guitar harbor", "lemon cedar", "falcon island"]
    _add(store, *(an_item(n, "a", topics[n // 20]) for n in range(80)))
    tier = TierB(store.admit, ShardBm25(), ReadSettings(b_probe=1, k=20, most=80), store.admission)

    def read() -> list[tuple[set[str], int]]:
        found = [tier.read(ask(topic), Scope()) for topic in topics]
        return [({hit.id for hit in one.hits}, one.scans.vectors) for one in found]

    before = read()
    while adapt(store, AdaptSettings(spread_below=0.9)).split:
        pass
    after = read()
    assert [found for found, _ in after] == [found for found, _ in before]
    assert [scanned for _, scanned in before] == [80] * 4
    assert [scanned for _, scanned in after] == [20] * 4


def test_small_shards_merge_only_where_user_namespace_and_label_agree(store: Store) -> None:
    _add(store, an_item(0, "a", "apple"), an_item(1, "b", "apple"))
    _add(store, an_item(2, "c", "apple", label="red"), an_item(3, "d", "apple", user="u1"))
    done = adapt(store)
    assert done.merged == (("a", "b"),)
    assert sorted(store.shards()) == ["a", "c", "d"]


def test_a_map_that_fits_is_left_alone(store: Store) -> None:
    _add(store, *(an_item(n, "a", "apple boat") for n in range(20)))
    assert adapt(store) == adapt(store)
    assert store.shards() == ["a"]
    assert Store(store.folder)._manifest["generation"] == 0
