"""Decides per query how much of the budget overlapping units get, and how much flat retrieval.

The paper leaves this open (Appendix I): its oracle knows the cell of a query, which is defined on its evidence. The
router never sees the evidence of the query it routes. It was fitted on past queries whose evidence is known, and reads
what `signals` can see: metadata, the pool, and what both retrievals picked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from rebind.memory.osu.flat import Flat
from rebind.memory.osu.kernels import Floats
from rebind.memory.osu.packing import pack
from rebind.memory.osu.pool import Pool
from rebind.memory.osu.retrieve import OsuMem
from rebind.memory.osu.signals import FEATURES, features
from rebind.memory.osu.trajectory import Steps, TrajectoryError, Vectors

SHARES = (1.0, 0.75, 0.5, 0.0)
"""What the router chooses among: the share of the budget that goes to overlap's picks, the rest to flat's."""
_PENALTY = 300.0
"""Ridge penalty on standardised features."""
_LEANS = (-0.04, -0.02, 0.0, 0.02, 0.04, 0.06, 0.08, 0.10, 0.12)
_FOLDS = 8


def mixed(overlap: Steps, flat: Steps, costs: NDArray[np.int64], budget: int, share: float) -> Steps:
    """Overlap's best picks within `share` of the budget, then flat's, then what is left of overlap's."""
    if share in (0.0, 1.0):
        return overlap if share else flat
    first = pack(overlap.tolist(), costs, int(budget * share))
    seen = set(first)
    rest = [step for step in (*flat.tolist(), *overlap.tolist()) if step not in seen]
    left = budget - int(costs[first].sum())
    return np.array([*first, *pack(dict.fromkeys(rest), costs, left)], dtype=np.int64)


class Examples:
    """Past queries: features (n, f), outcome under every share (n, len(SHARES)), what was asked of together (a task;
    kept in one fold), and the kind of each query, such as its cell."""

    def __init__(self, rows: Floats, outcomes: Floats, groups: Sequence[str], kinds: Sequence[str]) -> None:
        if len(rows) < 2 or rows.shape[1:] != (len(FEATURES),) or outcomes.shape != (len(rows), len(SHARES)):
            raise TrajectoryError(
                f"a router is fitted on at least 2 rows of {len(FEATURES)} features and {len(SHARES)} outcomes; "
                f"got {rows.shape} and {outcomes.shape}"
            )
        self.rows, self.outcomes = rows, outcomes
        self.groups, self.kinds = np.asarray(groups), np.asarray(kinds)

    def part(self, mask: NDArray[np.bool_]) -> Examples:
        return Examples(self.rows[mask], self.outcomes[mask], self.groups[mask].tolist(), self.kinds[mask].tolist())

    def folds(self, count: int, seed: int) -> Iterator[NDArray[np.bool_]]:
        """Masks of what is held out; a group is never divided."""
        names, code = np.unique(self.groups, return_inverse=True)
        fold = np.random.default_rng(seed).permutation(len(names)) % count
        for held_out in range(min(count, len(names))):
            yield fold[code] == held_out

    def margin(self, chosen: NDArray[np.int64]) -> float:
        """The worst kind's mean outcome over the better of overlap alone and flat alone."""
        taken = self.outcomes[np.arange(len(chosen)), chosen]
        worst = np.inf
        for kind in np.unique(self.kinds):
            of_kind = self.kinds == kind
            better = max(self.outcomes[of_kind, 0].mean(), self.outcomes[of_kind, -1].mean())
            worst = min(worst, float(taken[of_kind].mean() - better))
        return worst


@dataclass(frozen=True, eq=False)
class Router:
    """A fitted rule: the share with the best expected outcome, where `lean` is added in proportion to the share."""

    centre: Floats
    scale: Floats
    weights: Floats
    """(f, len(SHARES))"""
    intercept: Floats
    lean: float = 0.0

    @classmethod
    def fit(cls, examples: Examples) -> Router:
        """Ridge regression of each share's outcome, every kind of query weighing the same; the lean is what does best
        for the worst kind on held-out groups of the examples."""
        expected = np.zeros_like(examples.outcomes)
        for held_out in examples.folds(_FOLDS, seed=1):
            if held_out.any() and (~held_out).sum() >= 2:
                expected[held_out] = cls._ridge(examples.part(~held_out)).expected(examples.rows[held_out])
        margins = [examples.margin(_best(expected, lean)) for lean in _LEANS]
        return replace(cls._ridge(examples), lean=_LEANS[int(np.argmax(margins))])

    @classmethod
    def _ridge(cls, examples: Examples) -> Router:
        _, kind, count = np.unique(examples.kinds, return_inverse=True, return_counts=True)
        weight = len(kind) / (len(count) * count[kind])
        centre, scale = np.average(examples.rows, axis=0, weights=weight), examples.rows.std(axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        standard = (examples.rows - centre) / scale
        intercept = np.average(examples.outcomes, axis=0, weights=weight)
        weighted = standard.T * weight
        weights = np.linalg.solve(
            weighted @ standard + _PENALTY * np.eye(len(FEATURES)), weighted @ (examples.outcomes - intercept)
        )
        return cls(centre, scale, np.asarray(weights, dtype=np.float64), intercept)

    def expected(self, rows: Floats) -> Floats:
        """Expected outcome of every share (n, len(SHARES)) for rows of features (n, f)."""
        result: Floats = (rows - self.centre) / self.scale @ self.weights + self.intercept
        return result

    def choose(self, rows: Floats) -> NDArray[np.int64]:
        """The place in `SHARES` for every row of features."""
        return _best(self.expected(rows), self.lean)

    def to_json(self) -> dict[str, JsonValue]:
        """A form that `from_json` reads."""
        arrays = {k: getattr(self, k).tolist() for k in ("centre", "scale", "weights", "intercept")}
        return {"features": list(FEATURES), "shares": list(SHARES), "lean": self.lean, **arrays}

    @classmethod
    def from_json(cls, stored: Mapping[str, JsonValue]) -> Router:
        """The router that was stored.

        Raises:
            TrajectoryError: it was fitted on other features or shares than these.
        """
        for name, ours in (("features", list(FEATURES)), ("shares", list(SHARES))):
            if stored.get(name) != ours:
                raise TrajectoryError(f"this router was fitted on {name} {stored.get(name)}; these are {ours}")
        arrays = {k: np.array(stored[k], dtype=np.float64) for k in ("centre", "scale", "weights", "intercept")}
        return cls(**arrays, lean=float(str(stored["lean"])))


def _best(expected: Floats, lean: float) -> NDArray[np.int64]:
    best: NDArray[np.int64] = (expected + lean * np.array(SHARES)).argmax(axis=1)
    return best


class Routed:
    """A memory that lets a router divide the budget between OSU-Mem and Flat for every query."""

    def __init__(self, pool: Pool, router: Router) -> None:
        self._pool = pool
        self._overlap = OsuMem(pool)
        self._flat = Flat(pool.history)
        self._router = router

    def retrieve(self, query: Vectors, budget: int) -> Steps:
        """See `packing.Memory`."""
        overlap, flat = self._overlap.expand(query, budget), self._flat.retrieve(query, budget)
        row = features(self._pool, query, overlap, flat)
        share = SHARES[int(self._router.choose(row[None])[0])]
        return mixed(overlap.steps, flat, self._pool.history.costs, budget, share)
