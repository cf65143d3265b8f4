"""Routers: factorised inference, masked Top-P, training, checkpoints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.shards import DIMENSIONS, WORDS, Small, an_item, ask

from rebind.memory.shard.checkpoint import CheckpointError, Provenance
from rebind.memory.shard.feature_router import Example, FeatureRouter, train_feature_router
from rebind.memory.shard.features import NAMES, features
from rebind.memory.shard.lexical import lexical
from rebind.memory.shard.mlp_router import (
    MlpExample,
    MlpRouter,
    MlpSettings,
    Summaries,
    concatenated,
    factorised,
    network,
    train_mlp_router,
    untrained,
)
from rebind.memory.shard.restricted import WithinFamilies
from rebind.memory.shard.routing import PrototypeCosine, ShardBm25, TopP, costs, route
from rebind.memory.shard.scope import Scope, SessionIs
from rebind.memory.shard.segment import GRID, Family
from rebind.memory.shard.training import fit_temperature

_scores = st.lists(st.floats(-20, 20), min_size=1, max_size=30).map(np.array)


def _store() -> Small:
    """Each shard about a word of its own; every second item of another session."""
    families: tuple[Family, ...] = ("profile", "observation", "session")
    items = [
        an_item(n, f"shard{n % 9}", f"{WORDS[n % 9]} {WORDS[n * 5 % 11]}", families[n % 3], session=f"s{n // 9 % 2}")
        for n in range(90)
    ]
    return Small(items)


@pytest.mark.parametrize("family", [True, False])
@pytest.mark.parametrize("scope", [Scope(), Scope(predicates=(SessionIs(names=("s1",)),))])
def test_factorised_inference_scores_as_the_concatenation_does(family: bool, scope: Scope) -> None:
    """Also for shards that are admitted in part, whose summary is that of their admitted items."""
    import torch

    store, query = _store(), ask("apple dance")
    torch.manual_seed(0)
    net = network(DIMENSIONS, MlpSettings(family=family)).eval()
    admitted = store.admit(scope)
    router = factorised(net, DIMENSIONS)
    ours = router.scores(query, admitted, lexical(query.terms, admitted))
    kept = Small([i for i in store.items if scope == Scope() or i.meta.session == "s1"])
    summaries = torch.from_numpy(kept.segment.centroids.astype(np.float32) / GRID)[None]
    families = torch.from_numpy(kept.segment.shard_family.astype(np.int64))[None]
    with torch.no_grad():
        theirs = concatenated(net, torch.from_numpy(query.vector.astype(np.float32) / GRID)[None], summaries, families)
    assert ours == pytest.approx(theirs[0].numpy(), abs=1e-4)


@given(_scores, st.integers(1, 5), st.booleans())
def test_probes_are_the_best_scores_between_one_and_the_budget(scores: np.ndarray, budget: int, adaptive: bool) -> None:
    found = route(scores, budget, TopP() if adaptive else None)
    assert 1 <= len(found.places) <= min(budget, len(scores))
    assert scores[found.places].tolist() == sorted(scores, reverse=True)[: len(found.places)]
    assert found.probabilities.sum() == pytest.approx(1.0)
    if not adaptive:
        assert len(found.places) == min(budget, len(scores))


def test_adaptive_top_p_probes_one_shard_when_sure_and_all_it_may_when_not() -> None:
    assert len(route(np.array([9.0, 0.0, 0.0, 0.0]), 3, TopP()).places) == 1
    assert len(route(np.zeros(10), 3, TopP()).places) == 3


@pytest.mark.parametrize(("name", "low", "high"), [("gamma", 0.0, 1.0), ("p_min", 0.9, 0.1), ("p_max", 1.0, 0.6)])
def test_the_signs_of_the_papers_sweeps_hold(name: str, low: float, high: float) -> None:
    """Probes fall with γ, rise with P_min and P_max (Tables 10 to 12)."""
    rng = np.random.default_rng(0)
    rows = [rng.normal(size=40) * 2.5 for _ in range(60)]
    rules = [TopP.model_validate({"p_min": 0.3, name: value}) for value in (low, high)]
    many, few = (sum(len(route(row, 8, rule).places) for row in rows) for rule in rules)
    assert many > few


def test_a_shard_left_out_of_the_shortlist_is_never_probed() -> None:
    found = route(np.array([-np.inf, 1.0, -np.inf]), 3)
    assert found.places.tolist() == [1]


def test_costs_are_relative_to_the_largest_and_capped() -> None:
    assert costs(np.array([8, 64, 500]), 64).tolist() == [0.125, 1.0, 1.0]


def test_untrained_routers_differ_by_seed_and_not_by_run() -> None:
    store, query = _store(), ask("apple")
    admitted = store.admit(Scope())
    stats = lexical(query.terms, admitted)
    one, again, other = (untrained(DIMENSIONS, seed).scores(query, admitted, stats) for seed in (0, 0, 1))
    assert one.tolist() == again.tolist() != other.tolist()


def test_routers_without_labels_find_the_shard_with_the_word() -> None:
    store, query = _store(), ask("falcon")
    admitted = store.admit(Scope())
    stats = lexical(query.terms, admitted)
    for router in (PrototypeCosine(), ShardBm25()):
        best = int(np.argmax(router.scores(query, admitted, stats)))
        assert admitted.name(best) == "shard5"
    within = WithinFamilies(ShardBm25(), ["profile"]).scores(query, admitted, stats)
    assert np.isfinite(within).tolist() == (admitted.family == 0).tolist()


def _examples(store: Small) -> list[Example]:
    admitted = store.admit(Scope())
    made: list[Example] = []
    for place in range(9):
        query = ask(WORDS[place])
        seen, _ = features(query, admitted, lexical(query.terms, admitted))
        made.extend([Example(seen, np.array([place]))] * 8)
    return made


def test_the_feature_router_learns_which_shard_holds_what_is_asked_for(tmp_path: Path) -> None:
    store = _store()
    examples = _examples(store)
    router = train_feature_router(examples, seed=0)
    assert all(int(np.argmax(router.of(e.features))) == e.gold[0] for e in examples)
    again = train_feature_router(examples, seed=0)
    assert again.of(examples[0].features).tolist() == router.of(examples[0].features).tolist()
    where = _provenance("feature")
    router.save(tmp_path / "r.safetensors", where)
    loaded, found = FeatureRouter.load(tmp_path / "r.safetensors")
    assert found == where
    assert loaded.of(examples[0].features).tolist() == router.of(examples[0].features).tolist()
    with pytest.raises(CheckpointError, match="holds a feature router, not a mlp router"):
        MlpRouter.load(tmp_path / "r.safetensors")
    assert examples[0].features.shape[1] == len(NAMES)


@pytest.mark.parametrize("surrogate", [True, False])
def test_the_papers_router_learns_and_its_checkpoint_gives_the_same_scores(tmp_path: Path, surrogate: bool) -> None:
    store = _store()
    admitted = store.admit(Scope())
    share = costs(admitted.size, 64)
    examples = [
        MlpExample(ask(WORDS[n]).vector.astype(np.float32) / GRID, np.arange(9), share, np.array([n])) for n in range(9)
    ]
    summaries = Summaries(store.segment.centroids.astype(np.float32) / GRID, store.segment.shard_family)
    settings = MlpSettings(hidden=32, epochs=60, rate=0.01, batch=4, dropout=0.0, surrogate=surrogate)
    router = train_mlp_router(examples, summaries, 0, settings)
    query = ask(WORDS[4])
    stats = lexical(query.terms, admitted)
    scores = router.scores(query, admitted, stats)
    assert int(np.argmax(scores)) == 4
    router.save(tmp_path / "m.safetensors", _provenance("mlp"))
    assert MlpRouter.load(tmp_path / "m.safetensors")[0].scores(query, admitted, stats).tolist() == scores.tolist()


def test_what_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(b"not one")
    with pytest.raises(CheckpointError, match="is no router checkpoint"):
        FeatureRouter.load(tmp_path / "bad")
    with pytest.raises(CheckpointError, match="there is no router checkpoint"):
        FeatureRouter.load(tmp_path / "absent")


def test_the_fitted_temperature_is_the_lowest_that_keeps_shard_hit() -> None:
    rng = np.random.default_rng(0)
    scores = [rng.normal(size=12) * 6 for _ in range(80)]
    gold = [np.argsort(-row)[[rng.integers(3)]] for row in scores]
    warm = fit_temperature(scores, gold, 3, TopP(), tolerance=0.05)

    def hit(temperature: float) -> float:
        return float(
            np.mean([g[0] in route(s, 3, TopP(), temperature).places for s, g in zip(scores, gold, strict=True)])
        )

    assert hit(warm) >= 0.95
    assert hit(warm / 1.2) < 0.95


def _provenance(kind: str) -> Provenance:
    fields = {"kind": kind, "data": "d", "trained_on": ["a"], "gold": "strict", "seed": 0, "encoder": "e"}
    return Provenance.model_validate({**fields, "settings": {}, "versions": {}})
