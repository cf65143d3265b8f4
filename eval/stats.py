"""Statistics of paired differences: pair on the target, cluster on the source trajectory (design: Statistics).

Every function takes one value per target and that target's cluster. What cannot be estimated is None beside a reason
in words; it is never NaN and never raises.
"""

from __future__ import annotations

import gc
import math
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rebind.types import Frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

CONFIDENCE = 0.95
RESAMPLES = 9_999
NO_PAIRS = "no valid pair"
ONE_CLUSTER = "one cluster only: the variation between source trajectories cannot be estimated"
ALL_EQUAL = "all values are equal"
NO_SPREAD = "the clusters do not differ"
LEAST_SOURCES = 5
"""Clusters a group must have to stand in a test of interaction."""
TINY = 1e-12


class Interval(Frozen):
    """A 95 % interval, or the reason why there is none."""

    method: str
    low: float | None = None
    high: float | None = None
    reason: str | None = None


class Test(Frozen):
    """A two-sided p-value, or the reason why there is none."""

    __test__ = False  # a value, not something for pytest to collect

    method: str
    p: float | None = None
    holm: float | None = None
    """The p-value adjusted over its family of tests (Holm); None until `with_holm`."""
    reason: str | None = None


class Effect(Frozen):
    """The mean of a paired difference over targets, with all that says how far to trust it."""

    mean: float | None
    targets: int
    pairs: int
    """Target × seed pairs behind it."""
    clusters: int
    """Source trajectories behind it."""
    robust: Interval
    """OLS with cluster covariance, t with clusters − 1 degrees of freedom."""
    sign_flip: Test
    bootstrap: Interval


class Passed(Frozen):
    """pass^k: the chance that k runs of one target all succeed, averaged over targets with at least k valid runs."""

    k: int
    value: float | None
    targets: int


def paired_effect(
    differences: Sequence[float],
    clusters: Sequence[str],
    *,
    pairs: int | None = None,
    bootstrap: bool = True,
    resamples: int = RESAMPLES,
) -> Effect:
    """The effect behind one difference per target.

    Args:
        differences: per target, the mean over its valid seed pairs.
        clusters: per target, its source trajectory.
        pairs: seed pairs behind the differences; one per target where not given.
        bootstrap: also run the BCa bootstrap (the slowest part).
        resamples: of the bootstrap and of the sign-flip test where it is not exact.
    """
    import numpy as np

    values = np.asarray(differences, dtype=float)
    return Effect(
        mean=float(values.mean()) if values.size else None,
        targets=values.size,
        pairs=values.size if pairs is None else pairs,
        clusters=len(set(clusters)),
        robust=robust_interval(differences, clusters),
        sign_flip=sign_flip(differences, clusters, resamples=resamples),
        bootstrap=bca_interval(differences, clusters, resamples=resamples)
        if bootstrap
        else Interval(method="BCa bootstrap over clusters", reason="not asked for"),
    )


def macro_effect(
    differences: Sequence[float],
    clusters: Sequence[str],
    groups: Sequence[str],
    *,
    pairs: int | None = None,
    resamples: int = RESAMPLES,
) -> Effect:
    """The mean over groups (environments) of the groups' mean differences (the paper's "average"). The sign-flip test
    runs on the differences weighted so that every group counts alike."""
    import numpy as np

    values = np.asarray(differences, dtype=float)
    names, codes, sizes = np.unique(np.asarray(groups, dtype=str), return_inverse=True, return_counts=True)
    weighted = (values * values.size / (len(names) * sizes[codes])).tolist() if values.size else []
    return Effect(
        mean=float(np.mean(weighted)) if weighted else None,
        targets=values.size,
        pairs=values.size if pairs is None else pairs,
        clusters=len(set(clusters)),
        robust=robust_interval(differences, clusters, groups),
        sign_flip=sign_flip(weighted, clusters, resamples=resamples),
        bootstrap=Interval(method="BCa bootstrap over clusters", reason="not made for macro means"),
    )


def robust_interval(values: Sequence[float], clusters: Sequence[str], groups: Sequence[str] | None = None) -> Interval:
    """Cluster-robust interval of a mean, or of the mean of group means: statsmodels OLS on a constant (or on group
    indicators), cluster covariance, t(clusters − 1)."""
    import numpy as np
    import statsmodels.api as sm

    method = "OLS, cluster-robust, t"
    data = np.asarray(values, dtype=float)
    codes = cluster_codes(clusters)
    reason = _degenerate(data, codes)
    if reason:
        return Interval(method=method, reason=reason)
    which = cluster_codes(groups) if groups is not None else np.zeros(data.size, dtype=np.intp)
    indicators = np.eye(cluster_count(which))[which]
    fit = sm.OLS(data, indicators).fit(cov_type="cluster", cov_kwds={"groups": codes}, use_t=True)
    average = fit.t_test(np.full((1, indicators.shape[1]), 1 / indicators.shape[1]))
    if not float(np.squeeze(average.sd)) > TINY:
        return Interval(method=method, reason=NO_SPREAD)
    low, high = average.conf_int(alpha=1 - CONFIDENCE)[0]
    return Interval(method=method, low=float(low), high=float(high))


def sign_flip(
    differences: Sequence[float], clusters: Sequence[str], *, resamples: int = RESAMPLES, seed: int = 0
) -> Test:
    """Sign-flip test of a zero mean: whole clusters change sign. Exact where 2^clusters ≤ `resamples`."""
    import numpy as np
    from scipy import stats

    data = np.asarray(differences, dtype=float)
    codes = cluster_codes(clusters)
    count = cluster_count(codes)
    exact = 2**count <= resamples
    method = "cluster sign-flip, exact" if exact else f"cluster sign-flip, {resamples:,} draws"
    if not data.size:
        return Test(method=method, reason=NO_PAIRS)
    if count < 2:
        return Test(method=method, reason=ONE_CLUSTER)
    result = stats.permutation_test(
        (np.bincount(codes, weights=data),),
        lambda x, axis: np.sum(x, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=resamples,
        batch=2_000,
        rng=np.random.default_rng(seed),
    )
    return Test(method=method, p=min(1.0, float(result.pvalue)))


def bca_interval(
    values: Sequence[float], clusters: Sequence[str], *, resamples: int = RESAMPLES, seed: int = 0
) -> Interval:
    """BCa bootstrap interval of a mean; whole clusters are drawn with replacement."""
    import numpy as np
    from scipy import stats

    method = "BCa bootstrap over clusters"
    data = np.asarray(values, dtype=float)
    codes = cluster_codes(clusters)
    reason = _degenerate(data, codes)
    if reason:
        return Interval(method=method, reason=reason)
    sums, counts = np.bincount(codes, weights=data), np.bincount(codes).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scipy warns where BCa degenerates; that is told below, in words
        result = stats.bootstrap(
            (sums, counts),
            lambda s, n, axis=-1: s.sum(axis=axis) / n.sum(axis=axis),
            paired=True,
            vectorized=True,
            n_resamples=resamples,
            batch=2_000,
            confidence_level=CONFIDENCE,
            method="BCa",
            rng=np.random.default_rng(seed),
        )
    low, high = float(result.confidence_interval.low), float(result.confidence_interval.high)
    if not (math.isfinite(low) and math.isfinite(high)):
        return Interval(method=method, reason=NO_SPREAD)
    return Interval(method=method, low=low, high=high)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm-adjusted p-values of one family of tests; a test without a p-value stays out of the family."""
    import numpy as np
    from statsmodels.stats.multitest import multipletests

    known = [p for p in p_values if p is not None]
    if not known:
        return [None] * len(p_values)
    gc.freeze()  # multipletests forces a full garbage collection, which takes seconds beside a loaded ledger
    try:
        adjusted = iter(np.asarray(multipletests(known, method="holm")[1], dtype=float).tolist())
    finally:
        gc.unfreeze()
    return [None if p is None else next(adjusted) for p in p_values]


def with_holm(effects: Sequence[Effect]) -> list[Effect]:
    """The same effects, their sign-flip tests adjusted as one family."""
    adjusted = holm([e.sign_flip.p for e in effects])
    return [
        e.model_copy(update={"sign_flip": e.sign_flip.model_copy(update={"holm": p})})
        for e, p in zip(effects, adjusted, strict=True)
    ]


def pass_hat_k(successes: Mapping[str, Sequence[bool]], k: int) -> Passed:
    """pass^k over the valid runs of each target: mean of C(c, k) / C(n, k) (Yao et al. 2025, τ-bench)."""
    shares = [math.comb(sum(runs), k) / math.comb(len(runs), k) for runs in successes.values() if len(runs) >= k]
    return Passed(k=k, value=sum(shares) / len(shares) if shares else None, targets=len(shares))


def interaction(differences: Sequence[float], clusters: Sequence[str], groups: Sequence[str]) -> Test:
    """Whether a paired difference changes over groups (condition × level): Wald F test of equal group means in an OLS
    with cluster covariance. Groups with fewer than `LEAST_SOURCES` clusters are left out: their variance is a guess."""
    import numpy as np
    import statsmodels.api as sm

    method = "Wald F, cluster-robust OLS"
    data = np.asarray(differences, dtype=float)
    sources = {g: len({c for c, own in zip(clusters, groups, strict=True) if own == g}) for g in groups}
    names = sorted(g for g, n in sources.items() if n >= LEAST_SOURCES)
    if len(names) < 2:
        return Test(method=method, reason=f"fewer than two groups with {LEAST_SOURCES} clusters each")
    kept = [n for n, g in enumerate(groups) if g in names]
    data, codes = data[kept], cluster_codes([clusters[n] for n in kept])
    reason = _degenerate(data, codes)
    if reason:
        return Test(method=method, reason=reason)
    own = np.asarray(groups)[kept]
    dummies = np.column_stack([np.ones_like(data), *((own == g).astype(float) for g in names[1:])])
    fit = sm.OLS(data, dummies).fit(cov_type="cluster", cov_kwds={"groups": codes}, use_t=True)
    if np.linalg.matrix_rank(fit.cov_params()[1:, 1:], tol=TINY**2) < len(names) - 1:
        return Test(method=method, reason=NO_SPREAD)
    return Test(method=method, p=float(np.squeeze(fit.f_test(np.eye(len(names))[1:]).pvalue)))


def cluster_codes(clusters: Sequence[str]) -> NDArray[np.intp]:
    import numpy as np

    return np.unique(np.asarray(clusters, dtype=str), return_inverse=True)[1]


def cluster_count(codes: NDArray[np.intp]) -> int:
    return int(codes.max()) + 1 if codes.size else 0


def _degenerate(data: Floats, codes: NDArray[np.intp]) -> str | None:
    """Why no interval can be made from these values, if so."""
    if not data.size:
        return NO_PAIRS
    if cluster_count(codes) < 2:
        return ONE_CLUSTER
    return ALL_EQUAL if float(data.max() - data.min()) <= TINY else None
