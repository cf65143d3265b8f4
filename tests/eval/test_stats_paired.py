"""Intervals and tests of paired differences against hand computations and the libraries called directly."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.stats
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from rebind.eval import stats
from rebind.eval.passes import pass_hat_k

VALUES = [0.5, -0.25, 1.0, 0.0, 0.75, 0.25, -0.5, 1.0, 0.6]
CLUSTERS = ["a", "a", "b", "b", "b", "c", "d", "d", "e"]


def paired_effect(values: list[float], clusters: list[str], *, resamples: int = stats.RESAMPLES) -> stats.Effect:
    return stats.effects([stats.Sample.of(values, clusters)], stats.Asked(resamples=resamples))[0]


def test_robust_interval_is_the_formula_written_out() -> None:
    """se² = G/(G−1) · Σ_g (Σ_i∈g residual)² / N², with t(G−1): the (N−1)/(N−k) of the sandwich is 1 for a constant."""
    data = np.array(VALUES)
    residual_sums = [sum(v - data.mean() for v, c in zip(VALUES, CLUSTERS, strict=True) if c == g) for g in "abcde"]
    n, g = len(VALUES), 5
    se = math.sqrt(g / (g - 1) * sum(s * s for s in residual_sums)) / n
    t = 2.7764451051977987  # 97.5 % quantile of Student's t with 4 degrees of freedom
    found = stats.robust_interval(VALUES, CLUSTERS)
    assert found.low == pytest.approx(data.mean() - t * se)
    assert found.high == pytest.approx(data.mean() + t * se)


def test_robust_interval_of_group_means_is_the_average_of_a_direct_fit() -> None:
    groups = ["x", "x", "y", "y", "x", "y", "x", "x", "y"]
    dummies = np.array([[g == "x", g == "y"] for g in groups], dtype=float)
    fit = sm.OLS(np.array(VALUES), dummies).fit(
        cov_type="cluster", cov_kwds={"groups": np.array([0, 0, 1, 1, 1, 2, 3, 3, 4])}, use_t=True
    )
    low, high = fit.t_test([[0.5, 0.5]]).conf_int()[0]
    found = stats.robust_interval(VALUES, CLUSTERS, groups)
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))


def test_sign_flip_is_the_full_enumeration_over_whole_clusters() -> None:
    """Equal sums are ordered by how many more clusters share their sign than oppose it."""
    sums = [0.25, 1.75, 0.25, 0.5, 0.6]

    def far(signs: tuple[int, ...]) -> tuple[float, float]:
        flipped = [s * v for s, v in zip(signs, sums, strict=True)]
        total = round(sum(flipped), 9)
        return abs(total), math.copysign(1, total) * sum(math.copysign(1, f) for f in flipped)

    patterns = list(itertools.product((1, -1), repeat=5))
    found = stats.sign_flip(VALUES, CLUSTERS)
    assert found.p == pytest.approx(sum(far(p) >= far((1,) * 5) for p in patterns) / 32)
    assert "exact" in found.method


def test_sign_flip_without_ties_is_scipys_permutation_test() -> None:
    """Both exact over 10 clusters, so that they agree to the last bit."""
    rng = np.random.default_rng(11)
    values = rng.normal(0.3, 1, 30)
    clusters = [f"c{n % 10}" for n in range(30)]
    sums = np.bincount(np.arange(30) % 10, weights=values)
    expected = scipy.stats.permutation_test(
        (sums,), np.sum, permutation_type="samples", vectorized=False, n_resamples=np.inf
    )
    assert stats.sign_flip(values.tolist(), clusters).p == pytest.approx(float(expected.pvalue))


def test_equal_sums_are_told_apart_by_the_clusters_that_agree() -> None:
    """Of 2, 1, 1 and their flips, ±4 and nothing else is as far out; of 2, −1, 1 the sum 2 is met again by +2 +1 −1
    (as many agree) and by −2 and its mirror images with the same agreement, so that ties remain ties."""
    assert stats.sign_flip([2.0, 1.0, 1.0], ["a", "b", "c"]).p == pytest.approx(2 / 8)
    agreeing = stats.sign_flip([1.0, 1.0, 1.0, -3.0, 2.0], ["a", "b", "c", "d", "e"]).p
    opposing = stats.sign_flip([-1.0, -1.0, 1.0, 3.0, 0.0], ["a", "b", "c", "d", "e"]).p
    assert agreeing is not None
    assert opposing is not None
    # Sum 2 in both. Four of five against one agree in the first; the second's tied patterns agree more.
    assert agreeing < opposing


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
    found = paired_effect([0.0] * 5, list("abcde"))
    assert (found.mean, found.sign_flip.p) == (0.0, 1.0)
    assert (found.robust.low, found.robust.reason) == (None, stats.NO_SPREAD)
    assert (found.bootstrap.low, found.bootstrap.reason) == (None, stats.NO_SPREAD)


def test_one_cluster_gives_a_mean_and_reasons_instead_of_intervals() -> None:
    found = paired_effect([1.0, 0.0, 0.5], ["a", "a", "a"])
    assert found.mean == pytest.approx(0.5)
    assert (found.targets, found.clusters) == (3, 1)
    for part in (found.robust, found.bootstrap, found.sign_flip):
        assert part.reason == stats.ONE_CLUSTER
    assert found.sign_flip.p is None


def test_no_pairs_give_none_everywhere_with_that_reason() -> None:
    found = paired_effect([], [])
    assert found.mean is None
    assert (found.targets, found.pairs, found.clusters) == (0, 0, 0)
    assert {found.robust.reason, found.bootstrap.reason, found.sign_flip.reason} == {stats.NO_PAIRS}


def test_clusters_with_the_same_sum_of_residuals_give_a_reason_not_a_zero_width_interval() -> None:
    found = paired_effect([1.0, -1.0] * 5, [c for c in "abcde" for _ in range(2)])
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
    together = stats.robust_interval(values, [f"c{n // 4}" for n in range(20)])
    apart = stats.robust_interval(values, [f"t{n}" for n in range(20)])
    assert together.high is not None
    assert apart.high is not None
    assert together.high > apart.high


def test_holm_by_hand_and_untested_contrasts_stay_out_of_the_family() -> None:
    # Sorted .01, .03, .04: 3 × .01 = .03; 2 × .03 = .06; .04 cannot go below .06.
    assert stats.holm([0.04, None, 0.01, 0.03]) == [pytest.approx(0.06), None, pytest.approx(0.03), pytest.approx(0.06)]
    assert stats.holm([None, None]) == [None, None]
    assert stats.holm([]) == []


def test_clusters_whose_differences_cancel_have_no_say_in_the_sign_flip_test() -> None:
    """1/3 + 1/3 − 2/3 is 5e-17 in floating point: no cluster that agrees with anything."""
    values, clusters = [1.0, 0.5, 0.25], ["a", "b", "c"]
    cancelled = stats.sign_flip([*values, 1 / 3, 1 / 3, -2 / 3, 0.1, 0.2, -0.3], [*clusters, *"dddeee"])
    assert cancelled.p == stats.sign_flip(values, clusters).p == pytest.approx(2 / 8)


def macro(values: list[float], clusters: list[str], groups: list[str]) -> stats.Effect:
    return stats.effects([stats.Sample.of(values, clusters, groups)], stats.Asked(resamples=999))[0]


def test_macro_effect_counts_every_group_alike() -> None:
    found = macro([1.0, 1.0, 1.0, 0.0, 0.5], ["a", "b", "c", "d", "e"], ["x", "x", "x", "y", "y"])
    assert found.mean == pytest.approx((1.0 + 0.25) / 2)
    assert found.targets == 5
    assert macro([], [], []).mean is None


def test_macro_effect_has_a_bootstrap_interval_near_the_robust_one() -> None:
    rng = np.random.default_rng(8)
    groups = [g for g, n in (("x", 60), ("y", 30)) for _ in range(n)]
    values = [rng.normal(0.5 if g == "x" else 0.1, 0.3) for g in groups]
    found = macro(values, [f"c{n}" for n in range(90)], groups)
    assert found.bootstrap.low == pytest.approx(found.robust.low, abs=0.02)
    assert found.bootstrap.high == pytest.approx(found.robust.high, abs=0.02)


def test_too_few_sources_give_a_reason_instead_of_an_interval() -> None:
    """Two sources with −3 and +3 would give [−38, 38]."""
    found = paired_effect([-0.03, 0.5, 1.0, 0.2], ["a", "b", "c", "d"])
    assert (found.robust.low, found.bootstrap.low) == (None, None)
    assert found.robust.reason == found.bootstrap.reason == "4 source trajectories: an interval needs at least 5"
    assert found.sign_flip.p is not None


def test_an_interval_ends_where_the_quantity_does() -> None:
    found = stats.robust_interval([1.0, 1.0, 1.0, 1.0, 0.0], list("abcde"), bounds=stats.SHARE)
    assert found.low is not None
    assert (found.low > 0, found.high) == (True, 1.0)
    free = stats.robust_interval([1.0, 1.0, 1.0, 1.0, 0.0], list("abcde"))
    assert free.high is not None
    assert free.high > 1


def test_effects_made_together_are_those_made_one_by_one() -> None:
    """Samples over a common set of sources, one of them without two of those."""
    rng = np.random.default_rng(4)
    codes = np.repeat(np.arange(20), 3)
    samples = []
    for kept in (codes < 20, codes < 18):
        values = rng.normal(0.2, 1, kept.sum())
        samples.append(stats.Sample.of(values, codes[kept], width=20))
    together = stats.effects([*samples, stats.Sample.of([], [])], stats.Asked(resamples=999))
    for sample, found in zip(samples, together, strict=False):
        alone = stats.effects([sample], stats.Asked(resamples=999))[0]
        assert (alone.sign_flip, alone.mean) == (found.sign_flip, found.mean)
        assert alone.robust == found.robust
        assert (alone.bootstrap.low, alone.bootstrap.high) == (
            pytest.approx(found.bootstrap.low),
            pytest.approx(found.bootstrap.high),
        )
    assert [e.clusters for e in together] == [20, 18, 0]
    assert together[2].robust.reason == stats.NO_PAIRS


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


@pytest.mark.parametrize("seed", range(6))
def test_interaction_is_the_wald_test_of_statsmodels(seed: int) -> None:
    """Equal means of two to four groups of unequal size, clusters that cross groups: the same p-value."""
    rng = np.random.default_rng(seed)
    names = ("none", "small", "medium", "large")[: 2 + seed % 3]
    groups = [names[n] for n in rng.integers(0, len(names), 120)]
    codes = rng.integers(0, 18, 120)
    values = rng.normal(0.1, 1, 120) + 0.4 * (np.asarray(groups) == "none") + rng.normal(0, 0.5, 18)[codes]
    dummies = np.column_stack([np.ones(120), *((np.asarray(groups) == g).astype(float) for g in names[1:])])
    fit = sm.OLS(values, dummies).fit(cov_type="cluster", cov_kwds={"groups": codes}, use_t=True)
    wanted = float(np.squeeze(fit.f_test(np.eye(len(names))[1:]).pvalue))
    assert stats.interaction(values.tolist(), [f"c{c}" for c in codes], groups).p == pytest.approx(wanted, rel=1e-9)


@settings(max_examples=15)  # statsmodels takes a third of a second for each
@given(st.lists(st.one_of(st.none(), st.floats(0, 1), st.sampled_from([0.01, 0.5, 1.0])), max_size=12))
def test_holm_is_that_of_statsmodels_and_passes_over_what_has_no_p_value(p_values: list[float | None]) -> None:
    known = [p for p in p_values if p is not None]
    wanted = iter(multipletests(known, method="holm")[1] if known else [])
    assert stats.holm(p_values) == [None if p is None else pytest.approx(next(wanted)) for p in p_values]


def test_pass_hat_k_is_the_share_of_k_subsets_that_all_succeed() -> None:
    runs = {"t1": [True, True, False], "t2": [True, True, True], "t3": [False], "t4": [False, True]}

    def by_enumeration(k: int) -> float:
        shares = []
        for outcomes in runs.values():
            subsets = list(itertools.combinations(outcomes, k))
            if subsets:
                shares.append(sum(all(s) for s in subsets) / len(subsets))
        return sum(shares) / len(shares)

    hits, ran = [sum(r) for r in runs.values()], [len(r) for r in runs.values()]
    for k, targets in ((1, 4), (2, 3), (3, 2)):
        found = pass_hat_k(hits, ran, k, list(runs))
        assert (found.value, found.targets) == (pytest.approx(by_enumeration(k)), targets)
    none = pass_hat_k(hits, ran, 4, list(runs))
    assert (none.value, none.targets) == (None, 0)
    assert none.interval is not None
    assert none.interval.reason == stats.NO_PAIRS


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([-1.0, -0.5, 0.0, 1 / 3, 1.0]), st.sampled_from("abcde")), max_size=14),
)
def test_whatever_comes_in_nothing_is_nan_and_every_absence_has_a_reason(rows: list[tuple[float, str]]) -> None:
    found = paired_effect([v for v, _ in rows], [c for _, c in rows], resamples=199)
    for part in (found.robust, found.bootstrap):
        assert (part.low is None) == (part.high is None) == (part.reason is not None)
        assert part.low is None or (math.isfinite(part.low) and part.low <= part.high)
    assert (found.sign_flip.p is None) == (found.sign_flip.reason is not None)
    assert found.sign_flip.p is None or 0 < found.sign_flip.p <= 1
