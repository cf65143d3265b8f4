"""What the parts of the LoCoMo benchmark share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rebind.eval.bench.shardmemo.locomo_data import Locomo
from rebind.eval.bench.shardmemo.locomo_measure import RAW
from rebind.eval.bench.shardmemo.locomo_train import Trainer
from rebind.eval.bench.shardmemo.locomo_world import Asked
from rebind.memory.shard.embedded import Encode
from rebind.memory.shard.routing import TopP
from rebind.memory.shard.tier_b import ReadSettings

B_PROBE = 3
PAPER = RAW.model_copy(update={"alpha": 0.1, "adaptive": TopP()})
"""How the paper's router reads."""
Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Bench:
    """What all parts share."""

    data: Locomo
    encode: Encode
    trainer: Trainer
    session_only: Trainer
    undated: Trainer
    train: tuple[str, ...]
    test: list[Asked]
    seeds: tuple[int, ...]
    say: Callable[[str], None]
    checkpoints: Path | None


def calibrated(bench: Bench, gold: str) -> ReadSettings:
    """Adaptive Top-P with the temperature fitted on held-out training conversations."""
    temperature = bench.trainer.temperature(bench.train, gold, bench.seeds[0], B_PROBE, TopP())
    return RAW.model_copy(update={"adaptive": TopP(), "temperature": temperature})
