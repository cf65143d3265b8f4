"""Routers: which admissible shards to probe. One protocol; every score is a function of admissible content alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from rebind.memory.shard import router_kernels
from rebind.memory.shard.corpus import Admitted
from rebind.memory.shard.lexical import Lexical
from rebind.memory.shard.query import Query
from rebind.memory.shard.segment import GRID, Rows
from rebind.types import Frozen

Floats = NDArray[np.float64]


class Router(Protocol):
    """Scores admissible shards for a query; the larger, the sooner probed."""

    name: str

    def scores(self, query: Query, admitted: Admitted, lexical: Lexical) -> Floats:
        """s_tj before the cost term, (A,). -inf for a shard that a shortlist left out."""
        ...


class PrototypeCosine:
    """Cosine with the shard's centroid: what is left when there are no labels (paper, Table 6)."""

    name = "cosine"

    def scores(self, query: Query, admitted: Admitted, lexical: Lexical) -> Floats:
        return admitted.centroid_dots(query.vector) / float(GRID**2)


class ShardBm25:
    """BM25 of the shard taken as one document; needs no labels."""

    name = "bm25"

    def scores(self, query: Query, admitted: Admitted, lexical: Lexical) -> Floats:
        return lexical.shard_scores()


class TopP(Frozen):
    """Adaptive Top-P (paper, section 3.4; the rule is ours, design): probe the smallest descending prefix whose
    probability reaches P_t = P_max − γ(P_max − P_min)(1 − H̃_t), H̃ the normalised entropy."""

    gamma: float = Field(default=0.6, ge=0, le=1)
    p_min: float = Field(default=0.5, ge=0, le=1)
    p_max: float = Field(default=0.95, ge=0, le=1)


@dataclass(frozen=True, eq=False)
class Route:
    """Which shards are probed, best first, and the probability of every admissible one."""

    places: Rows
    probabilities: Floats


def route(scores: Floats, b_probe: int, adaptive: TopP | None = None, temperature: float = 1.0) -> Route:
    """The shards to probe: at least 1 and at most `b_probe` of those with a finite score; ties go to the earlier shard.

    Args:
        scores: s_tj of the A admissible shards; the softmax is over these alone.
        b_probe: B_probe.
        adaptive: the Top-P rule; always B_probe shards where not given.
        temperature: divides the scores; fitted so that probabilities mean what they say.
    """
    places, probabilities, entropy = router_kernels.probes(scores, temperature, b_probe)
    if adaptive is not None and len(places) > 1:
        limit = adaptive.p_max - adaptive.gamma * (adaptive.p_max - adaptive.p_min) * (1.0 - entropy)
        reached = int(np.searchsorted(np.cumsum(probabilities[places]), limit - 1e-12)) + 1
        places = places[:reached]
    return Route(places, probabilities)


def costs(size: Rows, most: int) -> Floats:
    """c_tj = min(n_j, L) over its maximum, in (0, 1], (A,)."""
    scanned = np.minimum(size, most).astype(np.float64)
    return scanned / scanned.max() if len(scanned) else scanned
