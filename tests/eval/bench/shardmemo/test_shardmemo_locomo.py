"""LoCoMo in shards: what is usable, how it is laid out, how it is measured."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from support.shards import embed

from rebind.eval.bench.shardmemo.answers import bleu_1, token_f1
from rebind.eval.bench.shardmemo.locomo import RAW, paired_interval
from rebind.eval.bench.shardmemo.locomo_data import TEST, DataError, Locomo, lay_out, load_locomo
from rebind.eval.bench.shardmemo.locomo_measure import measure, row
from rebind.eval.bench.shardmemo.locomo_train import Trainer
from rebind.eval.bench.shardmemo.locomo_world import World
from rebind.memory.shard.restricted import WithinFamilies
from rebind.memory.shard.routing import PrototypeCosine, ShardBm25


@pytest.fixture(scope="module")
def locomo(shard_data: Path) -> Locomo:
    return load_locomo(shard_data / "nc" / "locomo10.json.gz")


@pytest.fixture(scope="module")
def small(locomo: Locomo) -> Locomo:
    """Two conversations, so that tests stay quick."""
    return Locomo(locomo.conversations[:2], locomo.digest, 0, (), 0)


def test_questions_without_evidence_and_bad_ids_are_counted(locomo: Locomo) -> None:
    questions = [q for c in locomo.conversations for q in c.questions]
    assert len(questions) == 1540
    assert locomo.without_evidence == 4
    assert [bad.split()[1] for bad in locomo.bad_ids] == ["D10:19", "D", "D4:36"]
    assert sum(len(c.questions) for c in locomo.conversations if c.name in TEST) == 314
    assert sum(bool(q.evidence) for c in locomo.conversations for q in c.questions if c.name in TEST) == 312


@pytest.mark.parametrize("shards", [5, 10, 20, 40, 80])
def test_every_conversation_is_laid_out_in_the_shards_asked_for(locomo: Locomo, shards: int) -> None:
    for conversation in locomo.conversations:
        items = lay_out(conversation, shards)
        assert len({item.shard for item in items}) <= shards
        if shards == 40:
            families = Counter(dict.fromkeys({(item.shard, item.family) for item in items}, 1))
            counts = Counter(family for _, family in families)
            assert counts == {"profile": 2, "observation": 19, "session": 19}


def test_an_observation_shard_is_a_run_of_whole_sessions(locomo: Locomo) -> None:
    for item in lay_out(locomo.conversations[2]):
        if item.family == "observation":
            assert item.id.startswith("conv-41/D")
    shards: dict[str, set[str]] = {}
    for item in lay_out(locomo.conversations[2]):
        if item.family == "observation":
            shards.setdefault(item.meta.session, set()).add(item.shard)
    assert all(len(own) == 1 for own in shards.values())


def test_strict_gold_holds_the_turn_and_loose_gold_also_the_facts_that_cite_it(small: Locomo) -> None:
    world = World(small, embed)
    family = {item.shard: item.family for item in world.items}
    for asked in world.asked:
        assert asked.gold["strict"] <= asked.gold["loose"]
        assert {family[shard] for shard in asked.gold["strict"]} == {"observation"}
        assert {family[shard] for shard in asked.gold["loose"]} <= {"observation", "profile"}


def test_a_trained_router_beats_those_without_labels_and_its_checkpoint_is_taken_up(
    small: Locomo, tmp_path: Path
) -> None:
    world = World(small, embed)
    trainer = Trainer(world, checkpoints=tmp_path)
    router = trainer.feature_router(world.conversations[:1], "strict", 0)
    held = world.of(world.conversations[1:])[:60]
    ours, cosine = (measure(world, held, r, RAW) for r in (router, PrototypeCosine()))
    assert ours.hit["strict"].mean() > cosine.hit["strict"].mean()
    assert ours.inadmissible.max() == 0
    assert row([ours], "strict")["scan_fraction"] < 0.2
    again = Trainer(world, checkpoints=tmp_path).feature_router(world.conversations[:1], "strict", 0)
    assert measure(world, held, again, RAW).hit["strict"].tolist() == ours.hit["strict"].tolist()


def test_modes_that_route_nothing_have_no_shard_hit(small: Locomo) -> None:
    world = World(small, embed)
    settings = RAW.model_copy(update={"mode": "all-admissible"})
    found = row([measure(world, world.asked[:5], ShardBm25(), settings)], "strict")
    assert found["shard_hit"] is None
    assert found["scan_fraction"] == 1.0
    assert json.dumps(found)
    assert WithinFamilies(ShardBm25(), ["observation"]).name == "bm25-observation"


def test_the_interval_of_a_paired_difference_covers_it() -> None:
    rng = np.random.default_rng(0)
    low, high = paired_interval(rng.normal(0.2, 0.5, size=400), [f"c{n % 8}" for n in range(400)])
    assert low < 0.2 < high
    assert paired_interval(np.ones(40), ["a", "b"] * 20) == (1.0, 1.0)


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]"])
def test_what_is_not_locomo_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(DataError, match="is not LoCoMo"):
        load_locomo(tmp_path / "x.json")
    with pytest.raises(DataError, match="is no file"):
        load_locomo(tmp_path / "absent.json")


def test_f1_and_bleu_are_those_of_normalised_words() -> None:
    assert token_f1("The 7 May, 2023", "7 May 2023") == 1.0
    assert token_f1("in May", "7 May 2023") == pytest.approx(0.4)
    assert token_f1("", "x") == 0.0
    assert bleu_1("May", "7 May 2023") == pytest.approx(np.exp(-2))
    assert bleu_1("7 May 2023 maybe", "7 May 2023") == 0.75
