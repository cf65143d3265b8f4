"""The paper's router: a two-layer MLP over query and shard summary, concatenated, with a family embedding (Appendix C).

The first layer of a concatenation is a sum of two parts, and the shards' part does not depend on the query: at
inference it is computed once a shard, and a request adds its own part (the factorised form; same scores).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from rebind.memory.shard import router_kernels
from rebind.memory.shard.checkpoint import Provenance, Weights, load, save
from rebind.memory.shard.corpus import Admitted
from rebind.memory.shard.lexical import Floats, Lexical
from rebind.memory.shard.query import Query
from rebind.memory.shard.segment import FAMILIES, GRID, Grid, Rows, Segment
from rebind.types import Frozen

if TYPE_CHECKING:
    import torch

_UNIT = 1.0 / GRID
FAMILY_WIDTH = 8
"""Ours: the paper says "a separate small learned embedding"."""


class MlpSettings(Frozen):
    """The paper's training (Appendix C); λ, μ, τ and α are ours (design, Formulas)."""

    hidden: int = 128
    dropout: float = 0.1
    rate: float = 1e-4
    decay: float = 0.01
    epochs: int = 50
    batch: int = 32
    family: bool = True
    """Whether the family embedding enters; the simple learned router goes without."""
    surrogate: bool = True
    """Whether the budget surrogate is added to L_route."""
    alpha: float = 0.1
    b_probe: int = 3
    lam: float = 0.5
    mu: float = 0.05
    tau: float = 1.0


@dataclass(frozen=True, eq=False)
class MlpExample:
    """A training request over its n admissible shards."""

    query: NDArray[np.float32]
    """(d,) of length 1."""
    shards: Rows
    """(n,) rows of the table of shard summaries."""
    costs: Floats
    gold: Rows
    """Places among the n."""


@dataclass(frozen=True, eq=False)
class Summaries:
    """What the router knows of every shard that the examples speak of."""

    vectors: NDArray[np.float32]
    """(S, d) of length 1."""
    family: NDArray[np.int8]


class MlpRouter:
    """Scores shards by the factorised MLP."""

    name = "mlp"

    def __init__(self, weights: Weights) -> None:
        """`weights`: query (H, d), summary (H, d), family (families, width), family_in (H, width), bias (H,),
        output (H,), output_bias (1,)."""
        self.weights = dict(weights)
        self._family = (weights["family"] @ weights["family_in"].T + weights["bias"]).astype(np.float32)
        self._cached: WeakKeyDictionary[Segment, NDArray[np.float32]] = WeakKeyDictionary()

    def scores(self, query: Query, admitted: Admitted, lexical: Lexical) -> Floats:
        own = self._layer(query.vector[None], "query")[0]
        output, bias = self.weights["output"], float(self.weights["output_bias"][0])
        found: list[Floats] = []
        for part in admitted.parts:
            ready = self._shard_part(part.view.segment)
            scores = router_kernels.hidden_scores(own, ready, part.shards, output, bias)
            if len(part.partial):
                summary = self._layer(part.prototypes[0], "summary")
                summary += self._family[part.view.segment.shard_family[part.shards[part.partial]]]
                scores[part.partial] = router_kernels.hidden_scores(own, summary, np.arange(len(summary)), output, bias)
            found.append(scores)
        return np.concatenate(found)

    def _shard_part(self, segment: Segment) -> NDArray[np.float32]:
        """The shards' part of the hidden layer, (S, H), computed once a segment."""
        if segment not in self._cached:
            ready = self._layer(segment.centroids, "summary")
            self._cached[segment] = ready + self._family[segment.shard_family]
        return self._cached[segment]

    def _layer(self, vectors: Grid, part: str) -> NDArray[np.float32]:
        return router_kernels.first_layer(vectors, np.arange(len(vectors)), self.weights[part], _UNIT)

    def save(self, path: Path, provenance: Provenance) -> None:
        save(path, self.weights, provenance)

    @staticmethod
    def load(path: Path) -> tuple[MlpRouter, Provenance]:
        """A router and where it comes from. Raises `CheckpointError`."""
        weights, provenance = load(path, "mlp")
        return MlpRouter(weights), provenance


def untrained(dimensions: int, seed: int) -> MlpRouter:
    """A router as it is before training (paper, Table 6)."""
    from rebind.memory.shard.training import one_thread

    with one_thread(seed):
        return factorised(network(dimensions, MlpSettings()), dimensions)


def network(dimensions: int, settings: MlpSettings) -> torch.nn.ModuleDict:
    """The MLP as the paper writes it: one layer over the concatenation, ReLU, dropout, one output."""
    import torch

    width = FAMILY_WIDTH if settings.family else 0
    return torch.nn.ModuleDict(
        {
            "family": torch.nn.Embedding(len(FAMILIES), FAMILY_WIDTH),
            "first": torch.nn.Linear(2 * dimensions + width, settings.hidden),
            "drop": torch.nn.Dropout(settings.dropout),
            "second": torch.nn.Linear(settings.hidden, 1),
        }
    )


class _Layers(NamedTuple):
    family: torch.nn.Embedding
    first: torch.nn.Linear
    drop: torch.nn.Dropout
    second: torch.nn.Linear


def _layers(net: torch.nn.ModuleDict) -> _Layers:
    """A network's layers with their types, which a ModuleDict does not keep."""
    own = cast("Any", net)
    return _Layers(own["family"], own["first"], own["drop"], own["second"])


def concatenated(
    net: torch.nn.ModuleDict, query: torch.Tensor, summaries: torch.Tensor, family: torch.Tensor
) -> torch.Tensor:
    """Scores (b, n) of queries (b, d) with summaries (b, n, d) of families (b, n), by the concatenation itself."""
    import torch

    layers = _layers(net)
    parts = [query[:, None].expand_as(summaries), summaries]
    if layers.first.in_features > 2 * query.shape[-1]:
        parts.append(layers.family(family))
    hidden = layers.drop(torch.relu(layers.first(torch.cat(parts, dim=-1))))
    scores: torch.Tensor = layers.second(hidden).squeeze(-1)
    return scores


def train_mlp_router(
    examples: Sequence[MlpExample], summaries: Summaries, seed: int, settings: MlpSettings
) -> MlpRouter:
    """Fits the paper's router (PyTorch, one thread). The concatenation is computed in its factorised form here too."""
    import torch

    from rebind.memory.shard.training import one_thread, padded, route_loss, surrogate_loss

    table = [np.column_stack([e.shards, e.costs]) for e in examples]
    values, real, gold = padded(table, [e.gold for e in examples])
    shards, costs = values[..., 0].long(), values[..., 1]
    queries = torch.from_numpy(np.stack([e.query for e in examples]))
    vectors, family = torch.from_numpy(summaries.vectors), torch.from_numpy(summaries.family.astype(np.int64))
    with one_thread(seed):
        net = network(queries.shape[1], settings)
        optimiser = torch.optim.Adam(net.parameters(), lr=settings.rate, weight_decay=settings.decay)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, settings.epochs)
        for _ in range(settings.epochs):
            for batch in torch.split(torch.randperm(len(queries)), settings.batch):
                scores = _scores(net, queries[batch], vectors, family, shards[batch]) - settings.alpha * costs[batch]
                loss = route_loss(scores, real[batch], gold[batch])
                if settings.surrogate:
                    loss = loss + surrogate_loss(
                        scores, real[batch], gold[batch], costs[batch], settings.b_probe, settings
                    )
                optimiser.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]  # torch is typed in part
                optimiser.step()
            schedule.step()
        return factorised(net, queries.shape[1])


def _scores(
    net: torch.nn.ModuleDict, query: torch.Tensor, vectors: torch.Tensor, family: torch.Tensor, shards: torch.Tensor
) -> torch.Tensor:
    """Scores (b, n) of shards (b, n) for queries (b, d), each shard's part of the first layer computed once."""
    import torch

    layers, width = _layers(net), query.shape[-1]
    weight = layers.first.weight
    own = torch.nn.functional.linear(query, weight[:, :width], layers.first.bias)
    part = torch.nn.functional.linear(vectors, weight[:, width : 2 * width])
    if weight.shape[1] > 2 * width:
        part = part + torch.nn.functional.linear(layers.family(family), weight[:, 2 * width :])
    hidden = layers.drop(torch.relu(own[:, None] + torch.nn.functional.embedding(shards, part)))
    scores: torch.Tensor = layers.second(hidden).squeeze(-1)
    return scores


def factorised(net: torch.nn.ModuleDict, dimensions: int) -> MlpRouter:
    """The network's weights, the first layer cut into the query's, the summary's and the family's part."""
    layers = _layers(net)
    weight = layers.first.weight.detach().numpy()
    rest = weight[:, 2 * dimensions :]
    return MlpRouter(
        {
            "query": np.ascontiguousarray(weight[:, :dimensions]),
            "summary": np.ascontiguousarray(weight[:, dimensions : 2 * dimensions]),
            "family": layers.family.weight.detach().numpy().copy(),
            "family_in": np.ascontiguousarray(rest) if rest.size else np.zeros((len(weight), FAMILY_WIDTH), np.float32),
            "bias": layers.first.bias.detach().numpy().copy(),
            "output": layers.second.weight.detach().numpy()[0].copy(),
            "output_bias": layers.second.bias.detach().numpy().copy(),
        }
    )
