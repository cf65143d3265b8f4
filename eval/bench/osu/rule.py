"""The predictive rule: from which share of favourable queries on is overlap net-positive (paper, Appendix I)?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rebind.eval.bench.osu import published
from rebind.eval.bench.osu.cells import CELLS, break_even, marginals, oracle_ceiling
from rebind.eval.bench.osu.methods import FLAT, OSU
from rebind.eval.bench.osu.scoring import BUDGETS, PRIMARY, Row, clusters, values

if TYPE_CHECKING:
    import pandas as pd

_RESAMPLES = 2_000
Floats = NDArray[np.float64]


def rule(frame: pd.DataFrame) -> list[Row]:
    """At every budget: break-even shares (Table 17) with a bootstrap interval over episodes, where our population
    stands, the band it is in, and the oracle's ceiling over Flat.

    The band is net-positive above the interval of the break-even share, net-negative below it, open within (ours: the
    paper gives bands of about 9 points around its break-even and no derivation).
    """
    queries = frame.drop_duplicates("query").sort_values("query")
    fractions = {cell: float((queries["cell"] == cell).mean()) for cell in CELLS}
    ours = marginals(fractions)
    rows: list[Row] = []
    for budget in BUDGETS:
        difference = values(frame, OSU, budget, "hit2") - values(frame, FLAT, budget, "hit2")
        cell = queries["cell"].to_numpy()
        gaps = {name: float(difference[cell == name].mean()) for name in CELLS}
        even = break_even(fractions, gaps)
        low, high = _interval(difference, cell == CELLS[0], clusters(frame))
        share = fractions[CELLS[0]]
        rows.append(
            {
                "budget": budget,
                "p": even.p,
                "p_low": low,
                "p_high": high,
                "always": even.always,
                "pi_tool_even": even.tool,
                "pi_any_even": even.any,
                "share": share,
                "pi_tool": ours.tool,
                "pi_any": ours.any,
                "band": "net-positive" if share > high else "net-negative" if share < low else "open",
                "aggregate": sum(fractions[c] * gaps[c] for c in CELLS),
                "oracle": oracle_ceiling(fractions, gaps),
                "published_p": published.BREAK_EVEN[budget],
                "published_oracle": published.ORACLE if budget == PRIMARY else None,
            }
        )
    return rows


def _interval(difference: Floats, favourable: NDArray[np.bool_], episodes: list[str]) -> tuple[float, float]:
    """95 % percentile interval of the break-even share of T+E+ over episodes (scipy); 0 where the gap is positive at
    every share, 1 where it is negative at every share."""
    from scipy import stats

    _, code = np.unique(np.array(episodes), return_inverse=True)
    columns = [
        np.bincount(code, weights=weight)
        for part in (favourable, ~favourable)
        for weight in (difference * part, part.astype(np.float64))
    ]

    def share(in_sum: Floats, in_n: Floats, out_sum: Floats, out_n: Floats, axis: int = -1) -> Floats:
        inside = in_sum.sum(axis=axis) / np.maximum(in_n.sum(axis=axis), 1)
        outside = out_sum.sum(axis=axis) / np.maximum(out_n.sum(axis=axis), 1)
        crossing = (inside > 0) != (outside > 0)
        return np.where(crossing, outside / np.where(crossing, outside - inside, 1), np.where(inside > 0, 0.0, 1.0))

    interval = stats.bootstrap(
        columns,
        share,
        paired=True,
        vectorized=True,
        n_resamples=_RESAMPLES,
        batch=500,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return float(interval.low), float(interval.high)
