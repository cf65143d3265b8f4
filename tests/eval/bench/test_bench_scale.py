"""The scale benchmark runs real episodes in real processes; its ideal is what the model's latency alone takes."""

from __future__ import annotations

import pytest

from rebind.eval.bench.scale import ideal_seconds, run


def test_the_ideal_hands_each_episode_to_the_worker_that_is_free_first() -> None:
    """Two workers: 3 and 1 calls begin, then 1 and 2 go to the second, which is free first."""
    assert ideal_seconds([3, 1, 1, 2], 2, 0.5) == pytest.approx(2.0)
    assert ideal_seconds([3, 1, 1, 2], 1, 0.5) == pytest.approx(3.5)


def test_a_row_comes_of_real_runs() -> None:
    """Every episode of a row is valid."""
    found = run(concurrent=(2,), latency=0.001, rounds=2, plan_episodes=0, ray=False)
    (row,) = found["rows"]
    assert (row["concurrent"], row["episodes"], row["not_valid"]) == (2, 8, 0)
    assert row["steps"] > 8
    assert row["cpu_ms_per_step"] > 0
    assert 0 < row["efficiency"] < 1
