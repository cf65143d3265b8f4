"""Routers trained on some conversations of LoCoMo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rebind.canon import digest
from rebind.eval.bench.shardmemo.locomo_world import Asked, World, gold_places
from rebind.memory.shard.checkpoint import CheckpointError, Provenance
from rebind.memory.shard.feature_router import Example, FeatureRouter, FeatureSettings, train_feature_router
from rebind.memory.shard.features import features
from rebind.memory.shard.lexical import lexical
from rebind.memory.shard.mlp_router import MlpExample, MlpRouter, MlpSettings, Summaries, train_mlp_router
from rebind.memory.shard.routing import TopP, costs
from rebind.memory.shard.segment import GRID, Rows
from rebind.memory.shard.training import fit_temperature

INNER = 2
"""Training conversations held out to fit the temperature."""


@dataclass(frozen=True, eq=False)
class Seen:
    """A question as a router is trained on it."""

    asked: Asked
    features: NDArray[np.float32]
    shards: Rows
    """Rows of its admissible shards in the store's segment."""
    costs: NDArray[np.float64]
    names: tuple[str, ...]


@dataclass(eq=False)
class Trainer:
    """Trains on a world; what the routers see of each question is computed once."""

    world: World
    most: int = 64
    dates: bool = True
    checkpoints: Path | None = None
    """Where trained routers are kept and taken from; None to train each anew in every process."""
    _seen: dict[int, Seen] = field(default_factory=dict)
    _trained: dict[str, Any] = field(default_factory=dict)

    def seen(self, asked: Asked) -> Seen:
        if id(asked) not in self._seen:
            admitted = self.world.admit(asked.scope)
            query = asked.query if self.dates else asked.without_dates
            found, places = features(query, admitted, lexical(query.terms, admitted))
            names = tuple(admitted.name(int(place)) for place in places)
            shards = admitted.parts[0].shards[places].astype(np.int64)
            self._seen[id(asked)] = Seen(asked, found, shards, costs(admitted.size[places], self.most), names)
        return self._seen[id(asked)]

    def feature_router(
        self,
        conversations: Sequence[str],
        gold: str,
        seed: int,
        noise: float = 0.0,
        settings: FeatureSettings | None = None,
    ) -> FeatureRouter:
        """Our router. `noise`: share of gold shards replaced by a wrong admissible one (paper, section 4.5)."""
        chosen = settings or FeatureSettings()

        def train() -> FeatureRouter:
            labelled = self._labelled(conversations, gold, seed, noise)
            examples = [Example(s.features, places) for s, places in labelled if len(places)]
            return train_feature_router(examples, seed, chosen)

        where = self._provenance("feature", conversations, gold, seed, noise, chosen.model_dump())
        router: FeatureRouter = self._kept(where, train, FeatureRouter.load)
        return router

    def mlp_router(
        self, conversations: Sequence[str], gold: str, seed: int, settings: MlpSettings, noise: float = 0.0
    ) -> MlpRouter:
        """The paper's router."""

        def train() -> MlpRouter:
            segment = self.world.segment
            examples = [
                MlpExample(s.asked.query.vector.astype(np.float32) / np.float32(GRID), s.shards, s.costs, places)
                for s, places in self._labelled(conversations, gold, seed, noise)
                if len(places)
            ]
            summaries = Summaries(segment.centroids.astype(np.float32) / np.float32(GRID), segment.shard_family)
            return train_mlp_router(examples, summaries, seed, settings)

        where = self._provenance("mlp", conversations, gold, seed, noise, settings.model_dump())
        router: MlpRouter = self._kept(where, train, MlpRouter.load)
        return router

    def _kept(self, where: Provenance, train: Callable[[], Any], load: Callable[[Path], tuple[Any, Provenance]]) -> Any:
        """A router of that provenance: from this process, from its checkpoint, or trained."""
        key = digest(where.model_dump(mode="json"))
        if key not in self._trained:
            path = None if self.checkpoints is None else self.checkpoints / f"{where.kind}-{key[:16]}.safetensors"
            if path is not None and path.exists():
                router, found = load(path)
                if found != where:
                    raise CheckpointError(f"{path} does not hold what its name says; delete it")
            else:
                router = train()
                if path is not None:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    router.save(path, where)
            self._trained[key] = router
        return self._trained[key]

    def _provenance(
        self, kind: Literal["feature", "mlp"], conversations: Sequence[str], gold: str, seed: int, noise: float,
        settings: dict[str, Any],
    ) -> Provenance:  # fmt: skip
        dates = {"dates": self.dates} if kind == "feature" else {}
        return Provenance(
            kind=kind,
            data=self.world.digest,
            trained_on=tuple(str(c) for c in conversations),
            gold=gold,
            seed=seed,
            settings={**settings, **dates, "noise": noise, "layout": self.world.layout},
            encoder="all-minilm-l6-v2",
            versions={name: version(name) for name in ("torch", "numpy")},
        )

    def temperature(self, conversations: Sequence[str], gold: str, seed: int, b_probe: int, adaptive: TopP) -> float:
        """Of our router, on training conversations held out from a router trained on the others."""
        held = conversations[-INNER:]
        router = self.feature_router([c for c in conversations if c not in held], gold, seed)
        seen = [self.seen(a) for a in self.world.of(held)]
        return fit_temperature(
            [router.of(s.features) for s in seen],
            [gold_places(s.asked, gold, s.names) for s in seen],
            b_probe,
            adaptive,
        )

    def _labelled(self, conversations: Sequence[str], gold: str, seed: int, noise: float) -> list[tuple[Seen, Rows]]:
        rng = np.random.default_rng(seed)
        labelled: list[tuple[Seen, Rows]] = []
        for asked in self.world.of(conversations):
            seen = self.seen(asked)
            places = gold_places(asked, gold, seen.names)
            wrong = np.setdiff1d(np.arange(len(seen.names)), places)
            flipped = rng.random(len(places)) < noise
            if flipped.any() and len(wrong):
                places = np.unique(np.where(flipped, rng.choice(wrong, size=len(places)), places))
            labelled.append((seen, places))
        return labelled
