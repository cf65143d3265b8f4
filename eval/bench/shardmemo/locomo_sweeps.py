"""Shard counts, noisy labels and the parameters of adaptive Top-P (paper, Tables 4, 5, 10 to 12); strict gold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rebind.eval.bench.shardmemo import published
from rebind.eval.bench.shardmemo.locomo_data import TEST
from rebind.eval.bench.shardmemo.locomo_measure import RAW, measure, row
from rebind.eval.bench.shardmemo.locomo_parts import PAPER, Bench, Row, calibrated
from rebind.eval.bench.shardmemo.locomo_train import Trainer
from rebind.eval.bench.shardmemo.locomo_world import World
from rebind.memory.shard.mlp_router import MlpSettings
from rebind.memory.shard.routing import TopP


def table_4(bench: Bench, papers: bool) -> Iterator[Row]:
    """Shard counts, strict gold."""
    for shards, paper in published.TABLE_4.items():
        trainer = (
            bench.trainer
            if shards == 40
            else Trainer(World(bench.data, bench.encode, shards), checkpoints=bench.checkpoints)
        )
        yield from _pair(bench, trainer, {"shards": shards}, paper, papers)
        bench.say(f"{shards} shards")


def table_5(bench: Bench, papers: bool) -> Iterator[Row]:
    """Noise in the training labels, strict gold."""
    for noise, paper in published.TABLE_5.items():
        yield from _pair(bench, bench.trainer, {"noise": noise}, paper, papers)
        bench.say(f"noise {noise:.0%}")


def _pair(
    bench: Bench, trainer: Trainer, what: Mapping[str, float], paper: Mapping[str, float | None], papers: bool
) -> Iterator[Row]:
    """The paper's router and ours in one setting."""
    asked, world, noise = trainer.world.of(TEST), trainer.world, float(what.get("noise", 0.0))
    if papers:
        theirs = [trainer.mlp_router(bench.train, "strict", s, MlpSettings(), noise) for s in bench.seeds]
        yield {"router": "mlp", **what, **row([measure(world, asked, r, PAPER) for r in theirs], "strict", paper)}
    ours = [trainer.feature_router(bench.train, "strict", s, noise) for s in bench.seeds]
    yield {"router": "feature", **what, **row([measure(world, asked, r, RAW) for r in ours], "strict", paper)}


def top_p(bench: Bench, papers: bool) -> Iterator[Row]:
    """One parameter of adaptive Top-P at a time: the paper's router as it is, ours at its fitted temperature."""
    theirs = [bench.trainer.mlp_router(bench.train, "strict", s, MlpSettings()) for s in bench.seeds if papers]
    ours = [bench.trainer.feature_router(bench.train, "strict", s) for s in bench.seeds]
    warm = calibrated(bench, "strict")
    for name, values in published.SWEEPS.items():
        for value, paper in values.items():
            rule = TopP.model_validate({**TopP().model_dump(), name: value})
            for kind, routers, settings in (("mlp", theirs, PAPER), ("feature", ours, warm)):
                if not routers:
                    continue
                used = settings.model_copy(update={"adaptive": rule})
                runs = [measure(bench.trainer.world, bench.test, r, used) for r in routers]
                yield {"router": kind, "parameter": name, "value": value, **row(runs, "strict", paper)}
        bench.say(f"sweep of {name}")
