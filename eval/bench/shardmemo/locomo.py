"""`rebind bench shardmemo locomo`: routers and ablations on LoCoMo, retrieval only (paper, Tables 4 to 6, 10 to 12).

Trained on eight conversations, tested on conversations 49 and 50; our router also in five folds over all ten. The
temperature of Top-P is fitted on training conversations held out for it. How texts are indexed (stop words, the facts
that cite a turn as its context) was chosen with the test conversations in view, alike for every row: see
docs/shardmemo.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rebind.eval.bench.shardmemo import published
from rebind.eval.bench.shardmemo.locomo_answers import answered
from rebind.eval.bench.shardmemo.locomo_data import TEST, Locomo, load_locomo
from rebind.eval.bench.shardmemo.locomo_measure import RAW, Measured, joined, measure, row
from rebind.eval.bench.shardmemo.locomo_parts import B_PROBE, PAPER, Bench, Row, calibrated
from rebind.eval.bench.shardmemo.locomo_sweeps import table_4, table_5, top_p
from rebind.eval.bench.shardmemo.locomo_train import Trainer
from rebind.eval.bench.shardmemo.locomo_world import GOLDS, Asked, World
from rebind.memory.encoders import encoder
from rebind.memory.shard.embedded import EmbeddingCache, Encode
from rebind.memory.shard.mlp_router import MlpSettings, untrained
from rebind.memory.shard.restricted import WithinFamilies
from rebind.memory.shard.routing import PrototypeCosine, Router, ShardBm25, TopP
from rebind.memory.shard.tier_b import ReadSettings
from rebind.types import Model

UNTRAINED_SEEDS, FOLDS = 20, 5
_SIMPLE = MlpSettings(family=False, surrogate=False, alpha=0.0)
_ROUNDS = 10_000
Progress = Callable[[str, int, int], None]


def run_locomo(
    path: Path,
    seeds: Sequence[int] = (0, 1, 2),
    progress: Progress | None = None,
    encode: Encode | None = None,
    sweeps: bool = True,
    papers: bool = True,
    checkpoints: Path | None = None,
    reader: tuple[Model, str] | None = None,
) -> dict[str, Any]:
    """All rows.

    Args:
        path: LoCoMo's file.
        seeds: of trained routers.
        progress: told of each part.
        encode: texts to vectors; all-MiniLM-L6-v2, kept by content, where not given.
        sweeps: with Tables 4, 5 and 10 to 12.
        papers: with the paper's router, whose training takes most of the time.
        checkpoints: where trained routers are kept and taken from.
        reader: a model and its name; answers from what three configurations retrieve, for F1 and BLEU-1.

    Raises:
        DataError: the file is missing or is not LoCoMo.
    """
    bench = _bench(load_locomo(path), seeds, progress, encode, checkpoints)
    result: dict[str, Any] = {
        "data": _described(bench.data),
        "split": {"train": list(bench.train), "test": list(TEST), "questions": len(bench.test)},
        "b_probe": B_PROBE,
        "seeds": list(seeds),
        "cv": _cross_validated(bench),
        "rows": [row for gold in GOLDS for row in _table_6(bench, gold, papers)],
    }
    if sweeps:
        result |= {
            "shards": list(table_4(bench, papers)),
            "noise": list(table_5(bench, papers)),
            "top_p": list(top_p(bench, papers)),
        }
    if reader is not None:
        result["answers"] = list(_answers(bench, *reader))
    return result


def _bench(
    data: Locomo, seeds: Sequence[int], progress: Progress | None, encode: Encode | None, checkpoints: Path | None
) -> Bench:
    encode = encode or EmbeddingCache(encoder("all-minilm-l6-v2")).encode
    world = World(data, encode)
    done = 0

    def say(word: str) -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(word, done, max(done, 45))

    return Bench(
        data=data,
        encode=encode,
        trainer=Trainer(world, checkpoints=checkpoints),
        session_only=Trainer(World(data, encode, session_only=True), checkpoints=checkpoints),
        undated=Trainer(world, dates=False, checkpoints=checkpoints),
        train=tuple(c for c in world.conversations if c not in TEST),
        test=world.of(TEST),
        seeds=tuple(seeds),
        say=say,
        checkpoints=checkpoints,
    )


def _described(data: Locomo) -> dict[str, Any]:
    return {
        "sha256": data.digest,
        "questions": sum(len(c.questions) for c in data.conversations),
        "without_evidence": data.without_evidence,
        "bad_ids": list(data.bad_ids),
        "repaired_ids": data.repaired_ids,
        "unusable": sum(not q.evidence for c in data.conversations for q in c.questions),
    }


# --- Table 6 ----------------------------------------------------------------------------------------------------------


def _table_6(bench: Bench, gold: str, papers: bool) -> Iterator[Row]:
    yield from _unlearned(bench, gold)
    if papers:
        yield from _papers(bench, gold)
    yield from _ours(bench, gold)


def _named(name: str, runs: Sequence[Measured], gold: str) -> Row:
    return {"router": name, **row(runs, gold, published.TABLE_6.get(name))}


def _unlearned(bench: Bench, gold: str) -> Iterator[Row]:
    world, test = bench.trainer.world, bench.test
    observations = WithinFamilies(ShardBm25(), ["observation"])
    for router in (PrototypeCosine(), ShardBm25(), observations):
        yield _named(router.name, [measure(world, test, router, RAW)], gold)
    dimensions = world.segment.vectors.shape[1]
    yield _named(
        "untrained", [measure(world, test, untrained(dimensions, s), RAW) for s in range(UNTRAINED_SEEDS)], gold
    )
    for name, mode in (("scoped-global-ann", "global"), ("scoped-all-admissible", "all-admissible")):
        settings = RAW.model_copy(update={"mode": mode})
        yield _named(name, [measure(world, test, PrototypeCosine(), settings)], gold)
    bench.say(f"unlearned, {gold}")


def _papers(bench: Bench, gold: str) -> Iterator[Row]:
    """The paper's router and its ablations, each trained as it is read."""

    def trained(settings: MlpSettings, trainer: Trainer | None = None) -> list[Router]:
        made: list[Router] = []
        for seed in bench.seeds:
            made.append((trainer or bench.trainer).mlp_router(bench.train, gold, seed, settings))
            bench.say(f"paper's router, {gold}")
        return made

    def rows(
        name: str, routers: Sequence[Router], settings: ReadSettings, trainer: Trainer | None = None, dates: bool = True
    ) -> Row:
        used = (trainer or bench.trainer).world
        return _named(name, [measure(used, used.of(TEST), r, settings, dates=dates) for r in routers], gold)

    full = trained(MlpSettings())
    yield rows("mlp", full, PAPER)
    yield rows("mlp-post-filter", full, PAPER.model_copy(update={"mode": "post-filter"}))
    yield rows("mlp-no-top-p", full, PAPER.model_copy(update={"adaptive": None}))
    yield rows("mlp-no-tier-a", full, PAPER, dates=False)
    yield rows("mlp-no-cost", trained(MlpSettings(alpha=0.0)), PAPER.model_copy(update={"alpha": 0.0}))
    yield rows("mlp-no-surrogate", trained(MlpSettings(surrogate=False)), PAPER)
    yield rows("mlp-session-only", trained(MlpSettings(), bench.session_only), PAPER, bench.session_only)
    yield rows("simple", trained(_SIMPLE), RAW)


def _ours(bench: Bench, gold: str) -> Iterator[Row]:
    """Our router and the same ablations."""

    def trained(trainer: Trainer) -> list[Router]:
        return [trainer.feature_router(bench.train, gold, seed) for seed in bench.seeds]

    routers = trained(bench.trainer)
    warm = calibrated(bench, gold)
    world = bench.trainer.world
    variants = {
        "feature": RAW,
        "feature-top-p": warm,
        "feature-uncalibrated-top-p": RAW.model_copy(update={"adaptive": TopP()}),
        "feature-cost": RAW.model_copy(update={"alpha": 0.1}),
        "feature-post-filter": RAW.model_copy(update={"mode": "post-filter"}),
    }
    for name, settings in variants.items():
        found = _named(name, [measure(world, bench.test, r, settings) for r in routers], gold)
        yield found | {"temperature": settings.temperature} if settings.adaptive else found
    undated = trained(bench.undated)
    yield _named("feature-no-tier-a", [measure(world, bench.test, r, RAW, dates=False) for r in undated], gold)
    only = bench.session_only
    yield _named(
        "feature-session-only", [measure(only.world, only.world.of(TEST), r, RAW) for r in trained(only)], gold
    )
    bench.say(f"our router, {gold}")


def _answers(bench: Bench, model: Model, name: str) -> Iterator[Row]:
    """What a model makes of the evidence: our router, everything admissible, and our router without Tier A."""
    world = bench.trainer.world
    router = bench.trainer.feature_router(bench.train, "strict", bench.seeds[0])
    conversations = {c.name: c for c in bench.data.conversations}
    everything = RAW.model_copy(update={"mode": "all-admissible"})
    kinds = (("feature", RAW, True), ("scoped-all-admissible", everything, True), ("feature-no-tier-a", RAW, False))
    for kind, settings, dates in kinds:
        found = measure(world, bench.test, router, settings, dates=dates, keep=True)
        yield {"router": kind, **answered(world, conversations, bench.test, found, model, name, dates)}
        bench.say(f"answers, {kind}")


# --- cross-validation ------------------------------------------------------------------------------------------------


def _cross_validated(bench: Bench) -> dict[str, Any]:
    """Our router in five folds over conversations (strict gold), against BM25 of observation shards on the same
    questions: the strongest baseline that needs no labels."""
    trainer, world = bench.trainer, bench.trainer.world
    folds = [tuple(part) for part in np.array_split(np.array(world.conversations), FOLDS)]
    ours: list[Measured] = []
    base: list[Measured] = []
    asked: list[Asked] = []
    for fold in folds:
        rest = [c for c in world.conversations if c not in fold]
        held = world.of([str(c) for c in fold])
        ours.append(measure(world, held, trainer.feature_router(rest, "strict", bench.seeds[0]), RAW))
        base.append(measure(world, held, WithinFamilies(ShardBm25(), ["observation"]), RAW))
        asked.extend(held)
        bench.say("five folds")
    pooled, over = joined(ours), joined(base)
    difference = pooled.hit["strict"] - over.hit["strict"]
    low, high = paired_interval(difference, [a.conversation for a in asked])
    return {
        "folds": [[str(c) for c in fold] for fold in folds],
        "questions": len(asked),
        "shard_hit": float(pooled.hit["strict"].mean()),
        "bm25_shard_hit": float(over.hit["strict"].mean()),
        "ci_over_bm25_low": low,
        "ci_over_bm25_high": high,
        "recall10": float(pooled.recall.mean()),
        "scan_fraction": float(pooled.fraction.mean()),
        "by_fold": [float(run.hit["strict"].mean()) for run in ours],
    }


def paired_interval(difference: np.ndarray[Any, Any], clusters: Sequence[str], seed: int = 0) -> tuple[float, float]:
    """95 % percentile interval of a mean of paired differences, resampling whole clusters and questions within them."""
    rng = np.random.default_rng(seed)
    names = list(dict.fromkeys(clusters))
    groups = [difference[[c == name for c in clusters]] for name in names]
    means = np.empty(_ROUNDS)
    for turn in range(_ROUNDS):
        drawn = [groups[i] for i in rng.integers(len(groups), size=len(groups))]
        sums = [own[rng.integers(len(own), size=len(own))].sum() for own in drawn]
        means[turn] = sum(sums) / sum(len(own) for own in drawn)
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))
