"""The bootstrap of whole clusters against scipy's, statistic for statistic."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from rebind.eval.resampling import bca_ends, bootstrapped, clustered


def sums_of(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Sums and counts of 40 clusters of one to four skewed values."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 5, 40).astype(float)
    return np.array([rng.exponential(1.0, int(n)).sum() for n in counts]) - 0.4 * counts, counts


def mean(sums: np.ndarray, counts: np.ndarray, axis: int = -1) -> np.ndarray:
    return sums.sum(axis=axis) / counts.sum(axis=axis)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_bca_ends_are_scipys_for_scipys_own_draws(seed: int) -> None:
    sums, counts = sums_of(seed)
    expected = scipy.stats.bootstrap(
        (sums, counts), mean, paired=True, vectorized=True, n_resamples=2_000, method="BCa", rng=seed
    )
    values = np.repeat(sums / counts, counts.astype(int))
    sample = clustered(values, np.repeat(np.arange(40), counts.astype(int)), 40)
    low, high = bca_ends(sample, np.asarray(expected.bootstrap_distribution), 0.95)
    assert low == pytest.approx(float(expected.confidence_interval.low))
    assert high == pytest.approx(float(expected.confidence_interval.high))


def test_bootstrap_draws_have_the_spread_of_scipys() -> None:
    sums, counts = sums_of(3)
    expected = scipy.stats.bootstrap(
        (sums, counts), mean, paired=True, vectorized=True, n_resamples=9_999, method="percentile", rng=3
    )
    values = np.repeat(sums / counts, counts.astype(int))
    sample = clustered(values, np.repeat(np.arange(40), counts.astype(int)), 40)
    drawn = bootstrapped([sample], resamples=9_999, seed=3)[:, 0]
    assert drawn.std() == pytest.approx(float(expected.standard_error), rel=0.04)
    assert np.quantile(drawn, [0.025, 0.975]) == pytest.approx(
        [float(e) for e in expected.confidence_interval], abs=0.03
    )
