"""The predictive rule's break-even share: its interval and the band a population is in."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rebind.eval.bench.osu.methods import FLAT, OSU
from rebind.eval.bench.osu.rule import rule
from rebind.eval.bench.osu.scoring import BUDGETS


def frame(gains: dict[str, float], shares: dict[str, float], queries: int = 400) -> pd.DataFrame:
    """OSU hits `gains[cell]` more often than Flat's .5; two queries an episode."""
    rng = np.random.default_rng(0)
    rows = []
    for query in range(queries):
        cell = str(rng.choice(list(shares), p=list(shares.values())))
        for method, chance in ((OSU, 0.5 + gains[cell]), (FLAT, 0.5)):
            hit = float(rng.random() < chance)
            rows += [
                {"query": query, "cluster": str(query // 2), "cell": cell, "method": method, "budget": b, "hit2": hit}
                for b in BUDGETS
            ]
    return pd.DataFrame(rows)


EVEN = {"T+E+": 0.25, "T+E-": 0.25, "T-E+": 0.25, "T-E-": 0.25}


@pytest.mark.parametrize(
    ("gains", "band"),
    [
        ({"T+E+": 0.4, "T+E-": 0.3, "T-E+": 0.3, "T-E-": 0.3}, "net-positive"),
        ({"T+E+": 0.1, "T+E-": -0.4, "T-E+": -0.4, "T-E-": -0.4}, "net-negative"),
        ({"T+E+": 0.3, "T+E-": -0.1, "T-E+": -0.1, "T-E-": -0.1}, "open"),
    ],
)
def test_the_band_says_on_which_side_of_the_break_even_a_population_is(gains: dict[str, float], band: str) -> None:
    for row in rule(frame(gains, EVEN)):
        assert row["band"] == band
        assert 0 <= float(row["p_low"] or 0) <= float(row["p_high"] or 0) <= 1


def test_the_interval_holds_the_break_even_share() -> None:
    row = rule(frame({"T+E+": 0.4, "T+E-": -0.2, "T-E+": -0.2, "T-E-": -0.2}, EVEN))[0]
    assert float(row["p_low"] or 0) < float(row["p"] or 0) < float(row["p_high"] or 0)
    assert float(row["p"] or 0) == pytest.approx(1 / 3, abs=0.1)
