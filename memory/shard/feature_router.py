"""Our router: a small network over features of each shard, trained with the set likelihood of the gold shards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rebind.memory.shard import router_kernels
from rebind.memory.shard.checkpoint import Provenance, Weights, load, save
from rebind.memory.shard.corpus import Admitted
from rebind.memory.shard.features import features
from rebind.memory.shard.lexical import Floats, Lexical
from rebind.memory.shard.query import Query
from rebind.memory.shard.segment import Rows
from rebind.types import Frozen


class FeatureSettings(Frozen):
    """Ours."""

    hidden: int = 16
    epochs: int = 20
    batch: int = 64
    rate: float = 0.01
    decay: float = 0.001
    members: int = 3
    """Networks that start from different seeds; their scores are averaged."""


@dataclass(frozen=True, eq=False)
class Example:
    """A training request: features of its n shards, (n, F), and the places of the gold ones among them."""

    features: NDArray[np.float32]
    gold: Rows


class FeatureRouter:
    """Scores shards by their features. A shard outside the shortlist gets -inf."""

    name = "feature"

    def __init__(self, weights: Weights) -> None:
        """`weights`: w1 (E, F, H), b1 (E, H), w2 (E, H), for E networks."""
        self.weights = {name: np.ascontiguousarray(weights[name], dtype=np.float32) for name in ("w1", "b1", "w2")}

    def scores(self, query: Query, admitted: Admitted, lexical: Lexical) -> Floats:
        seen, places = features(query, admitted, lexical)
        result = np.full(len(admitted), -np.inf)
        result[places] = self.of(seen)
        return result

    def of(self, seen: NDArray[np.float32]) -> Floats:
        """Scores of shards with these features, (n,). Every shard's sum is formed alone, so it does not matter which
        others there are."""
        return router_kernels.network_scores(seen, *(self.weights[name] for name in ("w1", "b1", "w2")))

    def save(self, path: Path, provenance: Provenance) -> None:
        save(path, self.weights, provenance)

    @staticmethod
    def load(path: Path) -> tuple[FeatureRouter, Provenance]:
        """A router and where it comes from. Raises `CheckpointError`."""
        weights, provenance = load(path, "feature")
        return FeatureRouter(weights), provenance


def train_feature_router(
    examples: Sequence[Example],
    seed: int,
    settings: FeatureSettings = FeatureSettings(),  # noqa: B008  # frozen
) -> FeatureRouter:
    """Fits the router by L_route = −log Σ_{j∈G} p_tj over the shards of each example (PyTorch, one thread)."""
    import torch

    from rebind.memory.shard.training import one_thread, padded, route_loss

    seen, real, gold = padded([e.features for e in examples], [e.gold for e in examples])
    with one_thread(seed):
        width = seen.shape[2]
        w1 = (torch.randn(settings.members, width, settings.hidden) / width**0.5).requires_grad_()
        b1 = torch.zeros(settings.members, settings.hidden).requires_grad_()
        w2 = (torch.randn(settings.members, settings.hidden) / settings.hidden**0.5).requires_grad_()
        optimiser = torch.optim.Adam([w1, b1, w2], lr=settings.rate, weight_decay=settings.decay)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, settings.epochs)
        for _ in range(settings.epochs):
            for batch in torch.split(torch.randperm(len(seen)), settings.batch):
                hidden = torch.relu(torch.einsum("bnf,efh->ebnh", seen[batch], w1) + b1[:, None, None])
                scores = torch.einsum("ebnh,eh->ebn", hidden, w2)
                loss = sum(route_loss(own, real[batch], gold[batch]) for own in scores)
                optimiser.zero_grad()
                loss.backward()  # type: ignore[union-attr]  # a sum of tensors
                optimiser.step()
            schedule.step()
    trained = {"w1": w1, "b1": b1, "w2": w2}
    return FeatureRouter({name: value.detach().numpy().copy() for name, value in trained.items()})
