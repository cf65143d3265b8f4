"""The simulated actor behind `rebind bench calibration`: its ledgers, its planted effects, and the counting."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rebind.banks.files import silent
from rebind.eval.bench import calibration
from rebind.eval.bench import calibration_world as world
from rebind.eval.bench.calibration_ledger import write_ledger
from rebind.eval.bench.calibration_tables import tables
from rebind.eval.contrasts import Pairing
from rebind.eval.frames import load_run
from rebind.eval.stats import Interval


def test_a_study_through_the_real_ledger_gives_the_frame_that_is_made_directly(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    design = world.draw_design(rng, 4)
    drawn = world.draw(rng, design)
    run = load_run(write_ledger(tmp_path / "run", design, drawn))
    assert run.discrepancies == ()
    assert run.plan["simulated"] is True
    pd.testing.assert_frame_equal(run.episodes, world.frame(design, drawn))


@pytest.fixture(scope="module")
def large() -> tuple[world.Design, pd.DataFrame]:
    """So many sources that chance hardly shows."""
    rng = np.random.default_rng(1)
    design = world.draw_design(rng, 1_500)
    return design, world.frame(design, world.draw(rng, design))


@pytest.mark.parametrize("treatment", ["excluded", "failed"])
@pytest.mark.parametrize(
    ("metric", "tolerance"), [("success", 0.02), ("online", 120.0), ("stale_binding", 0.02)]
)  # fmt: skip
@pytest.mark.parametrize("condition", ["full", "qcr", "placebo", "mixed"])
def test_measured_differences_come_close_to_the_planted_ones(
    large: tuple[world.Design, pd.DataFrame], condition: str, metric: str, tolerance: float, treatment: str
) -> None:
    design, episodes = large
    planted = world.planted(design, condition, treatment)[metric]
    measured = Pairing(episodes, treatment).sample(metric, (condition, "none")).data
    assert measured is not None
    assert measured.mean == pytest.approx(np.nanmean(planted), abs=tolerance)


def test_truth_is_that_of_the_targets_in_the_order_of_the_pairing(large: tuple[world.Design, pd.DataFrame]) -> None:
    """At a large shift full gains 2 points, at none 20: a mistaken order would give the average at both."""
    design, episodes = large
    pairing = Pairing(episodes, "excluded")
    for level, gain in (("none", 0.20), ("large", 0.02)):
        data = pairing.sample("success", ("full", "none"), "level", level).data
        assert data is not None
        assert data.mean == pytest.approx(gain, abs=0.03)
    expected = {c: world.planted(design, c, "excluded") for c in world.CONDITIONS}
    truth = calibration._truth(expected, ("full", "none"), "success", design, "all", pairing)
    assert truth == pytest.approx(expected["full"]["success"].mean(), abs=1e-3)


def test_an_interval_covers_from_end_to_end_and_no_interval_is_not_counted() -> None:
    whole = Interval(method="m", low=0.1, high=0.3)
    assert [calibration._covers(whole, t) for t in (0.1, 0.2, 0.3, 0.31)] == [True, True, True, False]
    assert calibration._covers(Interval(method="m", reason="none"), 0.2) is None
    tally = calibration.Tally()
    for hit in (True, False, None, True):
        tally.add("a", hit)
    assert tally.share("a") == pytest.approx(2 / 3, abs=1e-4)
    assert tally.share("never") is None


def test_the_bench_counts_what_it_says_and_says_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "SMALL", (5,))
    monkeypatch.setattr(calibration, "LEDGERS", 1)
    result = calibration.run(8, 0, silent, sources=12)
    assert result["simulated"] is True
    assert (result["studies"], result["ledgers_written"], result["ledgers_equal"]) == (8, 1, 1)
    for key in ("coverage95", "coverage95_macro", "coverage95_bca", "level05", "level05_mixed", "power", "fwer05_holm"):
        assert 0 <= result[key] <= 1
    assert result["coverage95"] > 0.5
    assert set(result["level05_by_metric"]) == set(calibration.METRICS)
    shown = tables(result)
    assert all("SIMULATED" in title for title, _, _ in shown)
    assert all(len(row) == len(columns) for _, columns, rows in shown for row in rows)
