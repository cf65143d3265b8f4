"""Decides per query whether to use overlapping units or flat retrieval, from metadata and the pool alone.

The paper leaves this open (Appendix I): its oracle knows the cell of a query, which is defined on its evidence. The
router never sees evidence. It looks at what both retrievals picked, fits the difference of their outcomes on past
queries by ridge regression, and follows the sign.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import JsonValue

from rebind.memory.osu.flat import Flat
from rebind.memory.osu.kernels import Floats
from rebind.memory.osu.pool import Pool
from rebind.memory.osu.retrieve import OsuMem
from rebind.memory.osu.trajectory import GRID, Note, Steps, TrajectoryError, Vectors, similarities

FEATURES = (
    "calls gained",  # similarity of the tool calls that overlap picks, summed, minus that of the calls flat picks
    "best calls gained",  # the same over each one's four most similar calls
    "entity unit over top",  # relevance of the best entity unit, minus the similarity of the most similar step
    "calls among top",  # share of tool calls among the four most similar steps
    "tool of top",  # share of them that have their commonest tool
    "spread of flat",  # standard deviation of the places of flat's picks, as a share of the trajectory
)
"""The first six that forward selection by held-out squared error took, of 60 candidates, on τ-bench at B = 256."""
_TOP = 4
_PENALTY = 100.0
"""Ridge penalty on standardised features."""


def features(pool: Pool, query: Vectors, overlap: Steps, flat: Steps) -> Floats:
    """The numbers of `FEATURES` for one query. Reads similarities, annotations and units; no evidence."""
    notes, sims = pool.history.notes, similarities(pool.history.vectors, query)
    if not len(notes):
        return np.zeros(len(FEATURES))
    top = np.argsort(-sims, kind="stable")[:_TOP]
    tools = Counter(notes[i].tool for i in top if notes[i].tool is not None)
    overlap_calls, flat_calls = _calls(notes, sims, overlap), _calls(notes, sims, flat)
    entity_rows = [row for row, unit in enumerate(pool.rows) if unit is not None and unit.view == "entity"]
    relevance = pool.centroids[entity_rows] @ query / GRID
    return np.array(
        [
            sum(overlap_calls) - sum(flat_calls),
            sum(overlap_calls[:_TOP]) - sum(flat_calls[:_TOP]),
            relevance.max(initial=0.0) - sims[top[0]],
            sum(tools.values()) / len(top),
            max(tools.values(), default=0) / len(top),
            float(np.std(flat)) / len(notes) if len(flat) else 0.0,
        ]
    )


@dataclass(frozen=True, eq=False)
class Router:
    """A fitted rule: overlap where the expected difference overlap − flat is positive."""

    centre: Floats
    scale: Floats
    weights: Floats
    intercept: float

    @classmethod
    def fit(cls, rows: Floats, gains: Floats) -> Router:
        """From features (n, f) and differences of outcome overlap − flat (n,) of past queries."""
        if len(rows) < 2 or rows.shape != (len(gains), len(FEATURES)):
            raise TrajectoryError(
                f"a router is fitted on at least 2 rows of {len(FEATURES)} features; got {rows.shape}"
            )
        centre, scale = rows.mean(axis=0), rows.std(axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        standard, intercept = (rows - centre) / scale, float(gains.mean())
        weights = np.linalg.solve(
            standard.T @ standard + _PENALTY * np.eye(len(FEATURES)), standard.T @ (gains - intercept)
        )
        return cls(centre, scale, weights, intercept)

    def expected(self, rows: Floats) -> Floats:
        """Expected difference overlap − flat of each row of features."""
        result: Floats = (rows - self.centre) / self.scale @ self.weights + self.intercept
        return result

    def to_json(self) -> dict[str, JsonValue]:
        """A form that `from_json` reads."""
        arrays = {"centre": self.centre, "scale": self.scale, "weights": self.weights}
        return {"features": list(FEATURES), "intercept": self.intercept, **{k: v.tolist() for k, v in arrays.items()}}

    @classmethod
    def from_json(cls, stored: Mapping[str, JsonValue]) -> Router:
        """The router that was stored.

        Raises:
            TrajectoryError: it was fitted on other features than these.
        """
        if stored.get("features") != list(FEATURES):
            raise TrajectoryError(
                f"this router was fitted on features {stored.get('features')}; these are {list(FEATURES)}"
            )
        centre, scale, weights = (np.array(stored[k], dtype=np.float64) for k in ("centre", "scale", "weights"))
        return cls(centre, scale, weights, float(str(stored["intercept"])))


class Routed:
    """A memory that lets a router choose between OSU-Mem and Flat for every query."""

    def __init__(self, pool: Pool, router: Router) -> None:
        self._pool = pool
        self._overlap = OsuMem(pool)
        self._flat = Flat(pool.history)
        self._router = router

    def retrieve(self, query: Vectors, budget: int) -> Steps:
        overlap, flat = self._overlap.retrieve(query, budget), self._flat.retrieve(query, budget)
        row = features(self._pool, query, overlap, flat)
        return overlap if self._router.expected(row[None])[0] > 0 else flat


def _calls(notes: Sequence[Note], sims: Floats, steps: Steps) -> list[float]:
    """Similarities of the tool calls among the steps, best first."""
    return sorted((float(sims[i]) for i in steps if notes[i].tool is not None), reverse=True)
