"""The read path: BM25 over admitted items alone, exact and graph indexes, ranking, embeddings by content."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from support.shards import DIMENSIONS, WORDS, Small, an_item, ask, embed

from rebind.memory.encoders import Encoder
from rebind.memory.shard.embedded import EmbeddingCache
from rebind.memory.shard.index import Exact, Hnsw, shard_index
from rebind.memory.shard.lexical import lexical
from rebind.memory.shard.routing import ShardBm25
from rebind.memory.shard.scope import Scope, UserIs
from rebind.memory.shard.segment import ItemError, on_grid, open_segment
from rebind.memory.shard.terms import words
from rebind.memory.shard.tier_b import ReadSettings, TierB


def _store() -> Small:
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, size=rng.integers(2, 7))) for _ in range(60)]
    return Small([an_item(n, f"s{n % 6}", text, user=f"u{n % 2}") for n, text in enumerate(texts)])


def test_item_scores_are_those_of_bm25s_over_the_admitted_items() -> None:
    """Its "lucene" form, on an index of exactly these items."""
    import bm25s

    store, query = _store(), ask("apple falcon guitar")
    scope = Scope(predicates=(UserIs(names=("u0",)),))
    admitted = store.admit(scope)
    stats = lexical(query.terms, admitted)
    rows = np.concatenate([part.rows(place) for part in admitted.parts for place in range(len(part.shards))])
    ours = stats.item_scores(store.segment, rows)
    by_row = sorted(store.items, key=lambda item: item.shard)
    index = bm25s.BM25(method="lucene", k1=1.5, b=0.75, dtype="float64")
    index.index([words(by_row[row].text) for row in rows], show_progress=False)
    assert ours == pytest.approx(index.get_scores(words(query.text)), rel=1e-6)


def test_a_graph_finds_what_an_exact_scan_finds_and_scans_less() -> None:
    rng = np.random.default_rng(0)
    vectors = on_grid(rng.normal(size=(3000, 24)).astype(np.float32))
    rows, query = np.arange(1000, 3000), vectors[1500]
    exact, graph = Exact(vectors, rows).search(query, 10), Hnsw(vectors, rows).search(query, 10)
    assert exact.scanned == 2000
    assert graph.scanned < 2000
    assert len(np.intersect1d(exact.rows, graph.rows)) >= 9
    assert exact.rows[0] == 1500
    assert isinstance(shard_index(vectors, rows, exact_up_to=500), Hnsw)
    assert isinstance(shard_index(vectors, rows), Exact)


def test_a_read_returns_the_best_k_once_each_best_first() -> None:
    evidence = TierB(_store().admit, ShardBm25(), ReadSettings(k=5)).read(ask("apple boat"), Scope())
    assert len(evidence.hits) == 5
    assert len({hit.id for hit in evidence.hits}) == 5
    assert [hit.score for hit in evidence.hits] == sorted((hit.score for hit in evidence.hits), reverse=True)
    assert {hit.shard for hit in evidence.hits} <= set(evidence.scans.probed)
    assert evidence.scans.vectors == 30


def test_probing_all_and_a_global_graph_see_every_admissible_item() -> None:
    store = _store()
    scope = Scope(predicates=(UserIs(names=("u1",)),))
    for mode in ("all-admissible", "global"):
        evidence = TierB(store.admit, ShardBm25(), ReadSettings(k=99, most=99, mode=mode)).read(ask("apple"), scope)
        assert {hit.id for hit in evidence.hits} == {i.id for i in store.items if i.meta.user == "u1"}


def test_a_segment_reads_the_same_from_its_files(tmp_path: Path) -> None:
    store = _store()
    store.segment.save(tmp_path)
    before = TierB(store.admit, ShardBm25()).read(ask("apple"), Scope())
    store.segment = open_segment(tmp_path)
    assert not store.segment.vectors.flags.writeable
    after = TierB(store.admit, ShardBm25()).read(ask("apple"), Scope())
    assert [vars(hit) for hit in after.hits] == [vars(hit) for hit in before.hits]


def test_an_item_is_found_by_its_context_which_is_not_returned() -> None:
    items = [an_item(0, "a", "yes, on Monday"), an_item(1, "a", "no idea")]
    items[0] = items[0].model_copy(update={"context": "falcon"})
    best = TierB(Small(items).admit, ShardBm25()).read(ask("falcon"), Scope()).hits[0]
    assert (best.id, best.text) == ("i0000", "yes, on Monday")


def test_items_that_cannot_be_stored_are_refused() -> None:
    with pytest.raises(ItemError, match="of one family"):
        Small([an_item(0, "a", "x y"), an_item(1, "a", "x y", family="session")])
    with pytest.raises(ItemError, match="twice"):
        Small([an_item(0, "a", "x y"), an_item(0, "a", "x y")])
    with pytest.raises(ItemError, match="no direction"):
        on_grid(np.zeros((1, 4), dtype=np.float32))


def test_a_text_is_encoded_once_in_all(tmp_path: Path) -> None:
    class Counting(Encoder):
        asked: list[str] = []  # noqa: RUF012  # of the class, to be seen from outside

        def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
            Counting.asked.extend(texts)
            return embed(texts)

    made = Counting("words", DIMENSIONS, "words", lambda: "")
    first = EmbeddingCache(made, tmp_path).encode(["apple", "boat", "apple"])
    again = EmbeddingCache(made, tmp_path).encode(["boat", "cedar"])
    assert Counting.asked == ["apple", "boat", "cedar"]
    assert (first == embed(["apple", "boat", "apple"])).all()
    assert (again == embed(["boat", "cedar"])).all()
