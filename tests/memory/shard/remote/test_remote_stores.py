"""What every store of shards does, wherever it is kept: each test runs on the embedded one, PostgreSQL and LanceDB."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from support.shards import DIMENSIONS, START, WORDS, an_item, embed

from rebind.memory.shard.log import StoreError
from rebind.memory.shard.remote.embedded import EmbeddedShards
from rebind.memory.shard.remote.protocol import ShardStore
from rebind.memory.shard.scope import (
    MayRead,
    NamespaceIs,
    Predicate,
    Scope,
    SessionIs,
    SpeakerIs,
    TimeWithin,
    UserIs,
)
from rebind.memory.shard.segment import Item

from .conftest import Opens

pytestmark = pytest.mark.xdist_group("postgres")  # one server for all
HOSTILE = ("it's", 'say "hi"', "back\\slash", "100%_", "naïve ☕", "'); DROP TABLE rebind_items; --", "line\nfeed")
NAMESPACES = ("bank", "bank.cards", "bank_cards", "bank/cards", "bank.cards.lost", "Bank.cards", "")
LABELS = ("", "red", "o'label", "blue")


def the_items(count: int = 120) -> list[Item]:
    """Items of every kind of name; every third text is another's too, so that many are equally near."""
    rng = np.random.default_rng(3)
    made = []
    for n in range(count):
        words = " ".join(rng.choice(WORDS, size=3)) if n % 3 else "apple boat"
        meta = {
            "user": HOSTILE[n % len(HOSTILE)],
            "session": f"s{n % 5}",
            "speaker": "" if n % 4 == 0 else f"p{n % 3}",
            "namespace": NAMESPACES[n % len(NAMESPACES)],
            "label": LABELS[(n // 2) % len(LABELS)],
        }
        made.append(an_item(n, f"Shard {'BCab'[n % 4]}", words, days=None if n % 6 == 0 else n % 30, **meta))
    return made


SCOPES: dict[str, Sequence[Predicate]] = {
    "everything": (),
    "users": (UserIs(names=HOSTILE[:3]),),
    "hostile": (UserIs(names=(HOSTILE[5], "' OR true --")),),
    "no one": (UserIs(names=()),),
    "namespace": (NamespaceIs(names=("bank",)),),
    "namespaces": (NamespaceIs(names=("bank.cards", "", "nul\x00")),),
    "time": (TimeWithin(start=START + timedelta(days=3), end=START + timedelta(days=9)),),
    "since": (TimeWithin(start=START + timedelta(days=20)),),
    "any time": (TimeWithin(),),
    "principal": (MayRead(principal="ada"),),
    "stranger": (MayRead(principal="eve\x00"),),
    "all": (
        UserIs(names=HOSTILE),
        SessionIs(names=("s1", "s2", "s3")),
        SpeakerIs(names=("", "p1")),
        NamespaceIs(names=("bank",)),
        TimeWithin(end=START + timedelta(days=25)),
        MayRead(principal="ada"),
    ),
    "twice": (UserIs(names=HOSTILE[:4]), UserIs(names=HOSTILE[2:])),
}


def filled(store: ShardStore) -> ShardStore:
    items = the_items()
    store.ingest(items, embed([item.text for item in items]))
    store.grant("ada", "o'label")
    return store


def test_every_scope_finds_what_the_embedded_store_finds_in_its_order_ties_included(
    opens: Opens, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The k nearest, of everything and of some shards. At the cut, a graph may take another of equally near items."""
    graph = "hnsw" in request.node.name
    store, truth = filled(opens()), filled(EmbeddedShards.open(tmp_path / "truth", DIMENSIONS))
    vector = embed(["apple boat cedar"])[0]
    found = 0
    for name, predicates in SCOPES.items():
        scope = Scope(predicates=tuple(predicates))
        assert dict(store.admissible(scope)) == truth.admissible(scope), name
        for k, shards in ((1, None), (7, None), (200, None), (5, ["Shard a", "Shard C", "nowhere"]), (5, [])):
            near = truth.search(scope, vector, k, shards)
            own = store.search(scope, vector, k, shards)
            assert [one.cosine for one in own] == [one.cosine for one in near], (name, k, shards)
            assert graph or own == near, (name, k, shards)
            assert set(own) <= set(truth.search(scope, vector, 200, shards)), (name, k, shards)
            found += len(near)
    assert found > 300


def test_a_change_through_one_connection_is_in_force_in_the_next_search_through_another(opens: Opens) -> None:
    writer, reader = filled(opens()), opens()
    vector, scope = embed(["apple boat"])[0], Scope(predicates=(MayRead(principal="bob"),))

    def readable() -> set[str]:
        return {near.id for near in reader.search(scope, vector, 200)}

    of = {label: {item.id for item in the_items() if item.meta.label == label} for label in LABELS}
    assert readable() == of[""]
    writer.grant("bob", "red")
    assert readable() == of[""] | of["red"]
    writer.relabel("Shard C", "blue", "i0009")
    writer.relabel("Shard B", "red")
    in_b = {item.id for item in the_items() if item.shard == "Shard B"}
    assert readable() == (of[""] | of["red"] | in_b) - {"i0009"}
    writer.revoke("bob", "red")
    assert readable() == of[""] - in_b - {"i0009"}
    writer.delete("Shard C")
    assert readable() == of[""] - in_b - {item.id for item in the_items() if item.shard == "Shard C"}


def test_an_ingest_that_is_sent_again_adds_nothing_and_leaves_labels_as_they_became(opens: Opens) -> None:
    store, items = opens(), the_items()
    vectors = embed([item.text for item in items])
    assert store.ingest(items[:50], vectors[:50]) == 50
    store.relabel(items[4].shard, "secret", items[4].id)
    assert store.ingest([*items, *items], np.concatenate([vectors, vectors])) == len(items) - 50
    assert sum(store.admissible(Scope()).values()) == len(items)
    seen = store.search(Scope(predicates=(MayRead(principal="anyone"),)), vectors[4], 200)
    assert items[4].id not in {near.id for near in seen}


@pytest.mark.parametrize("what", ["content", "vector", "family"])
def test_an_ingest_with_one_item_that_does_not_fit_writes_none(opens: Opens, what: str) -> None:
    store, items = filled(opens()), the_items()
    changed = {"content": {"text": "other"}, "vector": {}, "family": {"id": "fresh", "family": "session"}}[what]
    batch = [an_item(900, "Shard B", "apple"), items[0].model_copy(update=changed)]
    vectors = embed(["apple", items[0].text if what == "content" else "lemon"])
    with pytest.raises(StoreError, match=r"is session|other content"):
        store.ingest(batch, vectors)
    assert sum(store.admissible(Scope()).values()) == len(items)


def test_a_reader_sees_all_of_an_ingest_or_nothing_of_it(opens: Opens) -> None:
    """One thread adds forty items at a time while another counts what it can find."""
    writer, reader = opens(), opens()
    batches = [[an_item(n, f"shard{n % 8}", "apple boat") for n in range(at, at + 40)] for at in range(0, 400, 40)]
    ended = threading.Event()

    def write() -> None:
        for batch in batches:
            writer.ingest(batch, embed([item.text for item in batch]))
        ended.set()

    thread = threading.Thread(target=write)
    thread.start()
    counts: list[int] = []
    while not ended.is_set() or not counts or counts[-1] < 400:
        counts.append(sum(reader.admissible(Scope()).values()))
        counts.append(len(reader.search(Scope(), embed(["apple"])[0], 1000)))
    thread.join()
    assert {count % 40 for count in counts} == {0}
    assert counts[-1] == 400


def test_what_a_store_cannot_do_is_said_before_anything_is_written(opens: Opens) -> None:
    store = filled(opens())
    assert store.dimensions == DIMENSIONS
    with pytest.raises(StoreError, match=r"shape \(1, 8\).*32 dimensions"):
        store.ingest([an_item(999, "x", "apple")], np.ones((1, 8), dtype=np.float32))
    with pytest.raises(StoreError, match="at least one item"):
        store.ingest([], np.ones((0, DIMENSIONS), dtype=np.float32))
    with pytest.raises(StoreError, match=r"shape \(8,\).*32 dimensions"):
        store.search(Scope(), np.ones(8, dtype=np.float32), 3)
    with pytest.raises(StoreError, match="at least one item"):
        store.search(Scope(), np.ones(DIMENSIONS, dtype=np.float32), 0)
    for changed in (store.delete, lambda shard, item=None: store.relabel(shard, "red", item)):
        with pytest.raises(StoreError, match="no shard 'nowhere'"):
            changed("nowhere")
        with pytest.raises(StoreError, match="has no item 'nothing'"):
            changed("Shard B", "nothing")
    assert sum(store.admissible(Scope()).values()) == len(the_items())
