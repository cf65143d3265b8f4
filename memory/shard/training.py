"""What training of both routers shares: padded batches, the losses, the temperature of adaptive Top-P."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rebind.memory.shard.routing import TopP, route
from rebind.memory.shard.segment import Rows

if TYPE_CHECKING:
    import torch

Floats = NDArray[np.float64]


@contextmanager
def one_thread(seed: int) -> Iterator[None]:
    """PyTorch with one thread and its own seed, so that equal inputs give equal weights."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            yield
    finally:
        torch.set_num_threads(before)


def padded(rows: Sequence[NDArray[Any]], gold: Sequence[Rows]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Examples of different lengths as one tensor (n, longest, F), with masks of what is real and what is gold."""
    import torch

    longest = max(len(own) for own in rows)
    values = torch.zeros(len(rows), longest, rows[0].shape[1])
    real = torch.zeros(len(rows), longest, dtype=torch.bool)
    right = torch.zeros(len(rows), longest, dtype=torch.bool)
    for place, (own, places) in enumerate(zip(rows, gold, strict=True)):
        values[place, : len(own)] = torch.from_numpy(np.ascontiguousarray(own))
        real[place, : len(own)] = True
        right[place, torch.from_numpy(np.asarray(places, dtype=np.int64))] = True
    return values, real, right


def route_loss(scores: torch.Tensor, real: torch.Tensor, gold: torch.Tensor) -> torch.Tensor:
    """Mean of L_route = −log Σ_{j∈G} p_tj, the softmax masked to admissible shards (paper, section 3.4)."""
    import torch

    masked = scores.masked_fill(~real, -torch.inf)
    return (torch.logsumexp(masked, 1) - torch.logsumexp(masked.masked_fill(~gold, -torch.inf), 1)).mean()


def surrogate_loss(
    scores: torch.Tensor, real: torch.Tensor, gold: torch.Tensor, costs: torch.Tensor, b_probe: int, settings: Any
) -> torch.Tensor:
    """λ[−log(1 − Π_{j∈G}(1 − π_j))] + μ Σ π_j c_j with π_j = σ((s_j − sg(s_(B+1)))/τ) (ours, design)."""
    import torch

    masked = scores.masked_fill(~real, -torch.inf)
    place = min(b_probe, scores.shape[1] - 1)
    bar = torch.sort(masked, dim=1, descending=True).values[:, place : place + 1]
    bar = torch.where(torch.isfinite(bar), bar, torch.full_like(bar, -20.0)).detach()
    probed = torch.sigmoid((scores - bar) / settings.tau) * real
    missed = torch.log1p(-(probed * gold).clamp(max=1 - 1e-6)).sum(dim=1)
    found = -torch.log((-torch.expm1(missed)).clamp(min=1e-9))
    loss: torch.Tensor = (settings.lam * found + settings.mu * (probed * costs).sum(dim=1)).mean()
    return loss


def fit_temperature(
    scores: Sequence[Floats], gold: Sequence[Rows], b_probe: int, adaptive: TopP, tolerance: float = 0.008
) -> float:
    """The lowest temperature at which adaptive Top-P loses at most `tolerance` of ShardHit against B_probe probes.

    A trained softmax is so sure of itself that the rule stops after about one probe; dividing the scores makes its
    probabilities mean what they say. Give it scores of requests the router was not trained on.
    """
    full = _shard_hit(scores, gold, lambda s: route(s, b_probe).places)
    for temperature in np.geomspace(0.25, 16.0, 49):
        hit = _shard_hit(scores, gold, lambda s, t=temperature: route(s, b_probe, adaptive, float(t)).places)  # type: ignore[misc]  # mypy cannot type the bound t
        if hit >= full - tolerance:
            return float(temperature)
    return 16.0


def _shard_hit(scores: Sequence[Floats], gold: Sequence[Rows], probe: Callable[[Floats], Rows]) -> float:
    return float(np.mean([bool(np.isin(probe(s), g).any()) for s, g in zip(scores, gold, strict=True)]))
