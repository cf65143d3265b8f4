"""Intervals and tests of paired differences against hand computations and the libraries called directly."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st

from rebind.eval import stats

VALUES = [0.5, -0.25, 1.0, 0.0, 0.75, 0.25, -0.5, 1.0]
CLUSTERS = ["a", "a", "b", "b", "b", "c", "d", "d"]


def test_robust_interval_is_the_formula_written_out() -> None:
    """se² = G/(G−1) · Σ_g (Σ_i∈g residual)² / N², with t(G−1): the (N−1)/(N−k) of the sandwich is 1 for a constant."""
    data = np.array(VALUES)
    residual_sums = [sum(v - data.mean() for v, c in zip(VALUES, CLUSTERS, strict=True) if c == g) for g in "abcd"]
    n, g = len(VALUES), 4
    se = math.sqrt(g / (g - 1) * sum(s * s for s in residual_sums)) / n
    t = 3.182446305284263  # 97.5 % quantile of Student's t with 3 degrees of freedom
    found = stats.robust_interval(VALUES, CLUSTERS)
    assert found.low == pytest.approx(data.mean() - t * se)
    assert found.high == pytest.approx(data.mean() + t * se)


def test_robust_interval_of_group_means_is_the_average_of_a_direct_fit() -> None:
    groups = ["x", "x", "y", "y", "x", "y", "x", "x"]
    dummies = np.array([[g == "x", g == "y"] for g in groups], dtype=float)
    fit = sm.OLS(np.array(VALUES), dummies).fit(
        cov_type="cluster", cov_kwds={"groups": np.array([0, 0, 1, 1, 1, 2, 3, 3])}, use_t=True
    )
    low, high = fit.t_test([[0.5, 0.5]]).conf_int()[0]
    found = stats.robust_interval(VALUES, CLUSTERS, groups)
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))


def test_sign_flip_is_the_full_enumeration_over_whole_clusters() -> None:
    sums = [0.25, 1.75, 0.25, 0.5]
    observed = abs(sum(sums))
    flips = [
        abs(sum(s * v for s, v in zip(signs, sums, strict=True))) for signs in itertools.product((1, -1), repeat=4)
    ]
    found = stats.sign_flip(VALUES, CLUSTERS)
    assert found.p == pytest.approx(sum(f >= observed - 1e-12 for f in flips) / 16)
    assert "exact" in found.method


def test_sign_flip_draws_once_enumeration_is_too_large_and_repeats_itself() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(0.4, 1, 40).tolist()
    clusters = [f"c{n}" for n in range(40)]
    first, second = (stats.sign_flip(values, clusters) for _ in range(2))
    assert first == second
    assert "9,999 draws" in first.method
    # The normal approximation of the same test, as a check on its size.
    z = abs(sum(values)) / math.sqrt(sum(v * v for v in values))
    assert first.p == pytest.approx(math.erfc(z / math.sqrt(2)), abs=0.02)


def test_all_differences_of_one_sign_give_the_smallest_exact_p() -> None:
    assert stats.sign_flip([1.0, 0.5, 0.25], ["a", "b", "c"]).p == pytest.approx(2 / 8)


def test_no_difference_at_all_gives_p_one_and_no_interval() -> None:
    found = stats.paired_effect([0.0, 0.0, 0.0], ["a", "b", "c"])
    assert (found.mean, found.sign_flip.p) == (0.0, 1.0)
    assert (found.robust.low, found.robust.reason) == (None, stats.ALL_EQUAL)
    assert (found.bootstrap.low, found.bootstrap.reason) == (None, stats.ALL_EQUAL)


def test_one_cluster_gives_a_mean_and_reasons_instead_of_intervals() -> None:
    found = stats.paired_effect([1.0, 0.0, 0.5], ["a", "a", "a"])
    assert found.mean == pytest.approx(0.5)
    assert (found.targets, found.clusters) == (3, 1)
    for part in (found.robust, found.bootstrap, found.sign_flip):
        assert part.reason == stats.ONE_CLUSTER
    assert found.sign_flip.p is None


def test_no_pairs_give_none_everywhere_with_that_reason() -> None:
    found = stats.paired_effect([], [])
    assert found.mean is None
    assert (found.targets, found.pairs, found.clusters) == (0, 0, 0)
    assert {found.robust.reason, found.bootstrap.reason, found.sign_flip.reason} == {stats.NO_PAIRS}


def test_clusters_with_the_same_sum_of_residuals_give_a_reason_not_a_zero_width_interval() -> None:
    found = stats.paired_effect([1.0, -1.0, 1.0, -1.0], ["a", "a", "b", "b"])
    assert found.robust.reason == stats.NO_SPREAD
    assert found.bootstrap.reason == stats.NO_SPREAD


def test_bca_interval_holds_the_mean_and_comes_close_to_the_robust_one_for_many_clusters() -> None:
    rng = np.random.default_rng(5)
    clusters = [f"c{n % 60}" for n in range(240)]
    effect = dict(zip(sorted(set(clusters)), rng.normal(0.2, 0.2, 60), strict=True))
    values = [effect[c] + rng.normal(0, 0.3) for c in clusters]
    bca, robust = stats.bca_interval(values, clusters), stats.robust_interval(values, clusters)
    assert bca.low is not None
    assert bca.high is not None
    assert bca.low < np.mean(values) < bca.high
    assert bca.low == pytest.approx(robust.low, abs=0.02)
    assert bca.high == pytest.approx(robust.high, abs=0.02)


def test_clusters_widen_the_interval_of_correlated_differences() -> None:
    values = [1.0] * 5 + [0.0] * 5 + [1.0] * 5 + [0.0] * 5
    together = stats.robust_interval(values, [f"c{n // 5}" for n in range(20)])
    apart = stats.robust_interval(values, [f"t{n}" for n in range(20)])
    assert together.high is not None
    assert apart.high is not None
    assert together.high > apart.high


def test_holm_by_hand_and_untested_contrasts_stay_out_of_the_family() -> None:
    # Sorted .01, .03, .04: 3 × .01 = .03; 2 × .03 = .06; .04 cannot go below .06.
    assert stats.holm([0.04, None, 0.01, 0.03]) == [pytest.approx(0.06), None, pytest.approx(0.03), pytest.approx(0.06)]
    assert stats.holm([None, None]) == [None, None]
    assert stats.holm([]) == []


def test_macro_effect_counts_every_group_alike() -> None:
    values, clusters = [1.0, 1.0, 1.0, 0.0, 0.5], ["a", "b", "c", "d", "e"]
    found = stats.macro_effect(values, clusters, ["x", "x", "x", "y", "y"])
    assert found.mean == pytest.approx((1.0 + 0.25) / 2)
    assert found.targets == 5
    assert stats.macro_effect([], [], []).mean is None


def test_interaction_finds_a_planted_difference_and_leaves_out_small_groups() -> None:
    rng = np.random.default_rng(2)
    groups = [level for level in ("none", "large") for _ in range(40)]
    clusters = [f"c{n % 20}" for n in range(80)]
    planted = [rng.normal(0.6 if g == "none" else 0.0, 0.2) for g in groups]
    flat = [rng.normal(0.3, 0.2) for _ in groups]
    assert stats.interaction(planted, clusters, groups).p == pytest.approx(0, abs=1e-6)
    level = stats.interaction(flat, clusters, groups).p
    assert level is not None
    assert level > 0.05
    small = stats.interaction(planted, clusters, ["none"] * 78 + ["large"] * 2)
    assert small.p is None
    assert small.reason is not None
    assert "5 clusters" in small.reason


def test_pass_hat_k_is_the_share_of_k_subsets_that_all_succeed() -> None:
    runs = {"t1": [True, True, False], "t2": [True, True, True], "t3": [False], "t4": [False, True]}

    def by_enumeration(k: int) -> float:
        shares = []
        for outcomes in runs.values():
            subsets = list(itertools.combinations(outcomes, k))
            if subsets:
                shares.append(sum(all(s) for s in subsets) / len(subsets))
        return sum(shares) / len(shares)

    for k, targets in ((1, 4), (2, 3), (3, 2)):
        found = stats.pass_hat_k(runs, k)
        assert (found.value, found.targets) == (pytest.approx(by_enumeration(k)), targets)
    assert stats.pass_hat_k(runs, 4).value is None


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([-1.0, -0.5, 0.0, 1 / 3, 1.0]), st.sampled_from("abcde")), max_size=14),
)
def test_whatever_comes_in_nothing_is_nan_and_every_absence_has_a_reason(rows: list[tuple[float, str]]) -> None:
    found = stats.paired_effect([v for v, _ in rows], [c for _, c in rows], resamples=199)
    for part in (found.robust, found.bootstrap):
        assert (part.low is None) == (part.high is None) == (part.reason is not None)
        assert part.low is None or (math.isfinite(part.low) and part.low <= part.high)
    assert (found.sign_flip.p is None) == (found.sign_flip.reason is not None)
    assert found.sign_flip.p is None or 0 < found.sign_flip.p <= 1
