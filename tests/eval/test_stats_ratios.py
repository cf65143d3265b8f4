"""Retained utility: ratios of two means over shared clusters."""

from __future__ import annotations

import numpy as np
import pytest

from rebind.eval.ratios import retained


def test_the_ratio_is_that_of_the_means() -> None:
    found = retained(([0.1, 0.3], ["a", "b"]), ([0.4, 0.6, 0.5], ["a", "b", "c"]))
    assert found.value == pytest.approx(0.2 / 0.5)
    assert (found.targets, found.reference_targets) == (2, 3)


def test_the_interval_follows_clusters_that_both_groups_share() -> None:
    """Where every cluster's part is exactly half of its reference, each draw has ratio one half."""
    rng = np.random.default_rng(0)
    clusters = [f"c{n}" for n in range(30)]
    reference = rng.uniform(0.2, 1.0, 30)
    found = retained((list(reference / 2), clusters), (list(reference), clusters))
    assert (found.interval.low, found.interval.high) == (pytest.approx(0.5), pytest.approx(0.5))


@pytest.mark.parametrize(
    ("part", "reference", "reason"),
    [
        (([], []), ([0.5], ["a"]), "no valid pair in the part"),
        (([0.5], ["a"]), ([], []), "no valid pair in the reference"),
        (([0.5], ["a"]), ([0.0, 0.0], ["a", "b"]), "the reference utility is not positive"),
        (([0.5], ["a"]), ([-0.5, 0.1], ["a", "b"]), "the reference utility is not positive"),
    ],
)
def test_a_ratio_without_meaning_is_none_with_its_reason(part, reference, reason) -> None:
    found = retained(part, reference)
    assert (found.value, found.interval.low, found.interval.reason) == (None, None, reason)


def test_a_reference_that_may_be_zero_gives_a_value_without_an_interval() -> None:
    found = retained(([0.5] * 5, list("abcde")), ([1.0, -0.9, 1.0, -0.9, 0.05], list("abcde")))
    assert found.value == pytest.approx(0.5 / 0.05)
    assert found.interval.low is None
    assert found.interval.reason is not None
    assert "no positive reference" in found.interval.reason


def test_one_cluster_gives_a_value_without_an_interval() -> None:
    found = retained(([0.5], ["a"]), ([1.0], ["a"]))
    assert found.value == pytest.approx(0.5)
    assert found.interval.reason is not None
    assert "one cluster" in found.interval.reason


def test_two_sources_give_a_value_without_an_interval() -> None:
    found = retained(([0.5, 0.4], ["a", "b"]), ([1.0, 0.9], ["a", "b"]))
    assert found.value == pytest.approx(0.45 / 0.95)
    assert found.interval.reason == "2 source trajectories: an interval needs at least 5"
