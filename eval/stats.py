"""Statistics of paired differences: pair on the target, cluster on the source trajectory (design: Statistics).

Every function takes one value per target and that target's cluster. What cannot be estimated is None beside a reason
in words; it is never NaN and never raises.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from rebind.eval.resampling import Clustered, Flipped, bca_ends, bootstrapped, clustered, sign_flips
from rebind.types import Frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

CONFIDENCE = 0.95
RESAMPLES = 9_999
LEAST_SOURCES = 5
"""Clusters that an interval needs, and each group in a test of interaction: with fewer, the variance is a guess (see
`small_samples` of `rebind bench calibration`)."""
NO_PAIRS = "no valid pair"
ONE_CLUSTER = "one cluster only: the variation between source trajectories cannot be estimated"
NO_SPREAD = "the clusters do not differ"
DEGENERATE = "the bootstrap degenerates: a group of targets rests on one cluster, or the draws hardly differ"
TINY = 1e-12
ROBUST, BCA = "OLS, cluster-robust, t", "BCa bootstrap over clusters"
_MOST_LOST = 0.01
"""Share of bootstrap draws that may leave a group without a target."""

Bounds = tuple[float, float]
SHARE: Bounds = (0.0, 1.0)
"""What a share can be."""
SHARE_DIFFERENCE: Bounds = (-1.0, 1.0)
ANY: Bounds = (-math.inf, math.inf)


class Interval(Frozen):
    """A 95 % interval, or the reason why there is none. Its ends lie within what the quantity can be."""

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


@dataclass(frozen=True)
class Sample:
    """One paired difference per target, ready for `effects`."""

    data: Clustered | None
    """None where there is no pair."""
    pairs: int
    bounds: Bounds = ANY

    @classmethod
    def of(
        cls,
        values: Any,
        clusters: Sequence[str] | NDArray[np.intp],
        groups: Sequence[str] | NDArray[np.intp] | None = None,
        *,
        pairs: int | None = None,
        bounds: Bounds = ANY,
        width: int | None = None,
    ) -> Sample:
        """From one value, one cluster and, for a macro mean, one group a target.

        Args:
            pairs: seed pairs behind the values; one per target where not given.
            width: `clusters` are codes below it, shared with other samples; else they are names of this sample alone.
        """
        import numpy as np

        data = np.asarray(values, dtype=float)
        if not data.size:
            return cls(None, 0, bounds)
        codes = cluster_codes(clusters) if width is None else np.asarray(clusters, dtype=np.intp)
        own = None if groups is None else cluster_codes(groups)
        found = clustered(data, codes, width or cluster_count(codes), own)
        return cls(found, data.size if pairs is None else pairs, bounds)


@dataclass(frozen=True)
class Asked:
    """Which parts of an effect to compute, and how thoroughly."""

    bootstrap: bool = True
    resamples: int = RESAMPLES
    seed: int = 0
    skipped: Interval = field(default=Interval(method=BCA, reason="not asked for"))


def effects(samples: Sequence[Sample], asked: Asked = Asked()) -> list[Effect]:
    """The effects behind samples whose clusters are the same (codes below one width): all share their random draws."""
    import numpy as np

    held = [s.data for s in samples if s.data is not None]
    if not held:
        return [_nothing(s, asked) for s in samples]
    flips = iter(sign_flips(np.stack([d.shares for d in held]), resamples=asked.resamples, seed=asked.seed))
    draws = bootstrapped(held, resamples=asked.resamples, seed=asked.seed).T if asked.bootstrap else [None] * len(held)
    distributions = iter(draws)
    return [
        _nothing(s, asked) if s.data is None else _effect(s.data, s, asked, next(flips), next(distributions))
        for s in samples
    ]


def _effect(data: Clustered, sample: Sample, asked: Asked, flipped: Flipped, distribution: Floats | None) -> Effect:
    way = "exact" if flipped.exact else f"{asked.resamples:,} draws"
    alone = data.clusters < 2
    return Effect(
        mean=data.mean,
        targets=data.targets,
        pairs=sample.pairs,
        clusters=data.clusters,
        robust=_robust(data, sample.bounds),
        sign_flip=Test(
            method=f"cluster sign-flip, {way}",
            p=None if alone else flipped.p,
            reason=ONE_CLUSTER if alone else None,
        ),
        bootstrap=asked.skipped if distribution is None else _bca(data, distribution, sample.bounds),
    )


def _nothing(sample: Sample, asked: Asked) -> Effect:
    """The effect of no pair at all."""
    return Effect(
        mean=None,
        targets=0,
        pairs=sample.pairs,
        clusters=0,
        robust=Interval(method=ROBUST, reason=NO_PAIRS),
        sign_flip=Test(method="cluster sign-flip", reason=NO_PAIRS),
        bootstrap=Interval(method=BCA, reason=NO_PAIRS) if asked.bootstrap else asked.skipped,
    )


def robust_interval(
    values: Any,
    clusters: Sequence[str] | NDArray[np.intp],
    groups: Sequence[str] | None = None,
    *,
    bounds: Bounds = ANY,
) -> Interval:
    """Cluster-robust interval of a mean, or of the mean of group means."""
    sample = Sample.of(values, clusters, groups)
    return _robust(sample.data, bounds) if sample.data else Interval(method=ROBUST, reason=NO_PAIRS)


def bca_interval(
    values: Sequence[float], clusters: Sequence[str], *, resamples: int = RESAMPLES, seed: int = 0
) -> Interval:
    """BCa bootstrap interval of a mean; whole clusters are drawn with replacement."""
    sample = Sample.of(values, clusters)
    return effects([sample], Asked(resamples=resamples, seed=seed))[0].bootstrap


def sign_flip(
    differences: Sequence[float], clusters: Sequence[str], *, resamples: int = RESAMPLES, seed: int = 0
) -> Test:
    """Sign-flip test of a zero mean: whole clusters change sign. Exact for few clusters, else `resamples` draws."""
    sample = Sample.of(differences, clusters)
    return effects([sample], Asked(bootstrap=False, resamples=resamples, seed=seed))[0].sign_flip


def robust_error(data: Clustered) -> float:
    """Cluster-robust standard error: what statsmodels' OLS on a constant (on group indicators, for a macro mean) gives
    with cluster covariance, as a closed form, since a report needs thousands. The tests hold it to statsmodels."""
    n, groups, clusters = data.targets, len(data.sums), data.clusters
    correction = clusters / (clusters - 1) * (n - 1) / (n - groups)
    return math.sqrt(correction * float((data.influence**2).sum()))


def too_few(clusters: int) -> str | None:
    """Why so few clusters give no interval, if so."""
    if clusters == 0:
        return NO_PAIRS
    if clusters == 1:
        return ONE_CLUSTER
    if clusters < LEAST_SOURCES:
        return f"{clusters} source trajectories: an interval needs at least {LEAST_SOURCES}"
    return None


@cache
def _quantile(freedom: int) -> float:
    """Of Student's t, for a two-sided interval."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2))


def _robust(data: Clustered, bounds: Bounds) -> Interval:
    reason = too_few(data.clusters)
    if reason is None and data.targets <= len(data.sums):
        reason = "one target in each group: their spread cannot be estimated"
    error = 0.0 if reason else robust_error(data)
    if reason is None and error <= TINY * max(1.0, abs(data.mean)):
        reason = NO_SPREAD
    if reason:
        return Interval(method=ROBUST, reason=reason)
    half = _quantile(data.clusters - 1) * error
    return within(ROBUST, data.mean - half, data.mean + half, bounds)


def _bca(data: Clustered, distribution: Floats, bounds: Bounds) -> Interval:
    import numpy as np

    reason = too_few(data.clusters)
    known = distribution[np.isfinite(distribution)]
    if reason is None and len(known) < (1 - _MOST_LOST) * len(distribution):
        reason = DEGENERATE
    if reason is None and float(known.max() - known.min()) <= TINY:
        reason = NO_SPREAD
    if reason:
        return Interval(method=BCA, reason=reason)
    low, high = bca_ends(data, known, CONFIDENCE)
    if not (math.isfinite(low) and math.isfinite(high)):
        return Interval(method=BCA, reason=DEGENERATE)
    return within(BCA, low, high, bounds)


def within(method: str, low: float, high: float, bounds: Bounds) -> Interval:
    """An interval whose ends are no further out than the quantity can be."""
    return Interval(method=method, low=max(low, bounds[0]), high=min(high, bounds[1]))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm-adjusted p-values of one family of tests; a test without a p-value stays out of the family. The numbers of
    statsmodels' `multipletests` (the tests hold it to that), whose import takes longer than a report."""
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, place) in enumerate(known):
        highest = max(highest, (len(known) - rank) * p)
        adjusted[place] = min(1.0, highest)
    return adjusted


def holm_tests(tests: Sequence[Test]) -> list[Test]:
    """The same tests, adjusted as one family."""
    adjusted = holm([t.p for t in tests])
    return [t.model_copy(update={"holm": p}) for t, p in zip(tests, adjusted, strict=True)]


def with_holm(found: Sequence[Effect]) -> list[Effect]:
    """The same effects, their sign-flip tests adjusted as one family."""
    adjusted = holm_tests([e.sign_flip for e in found])
    return [e.model_copy(update={"sign_flip": t}) for e, t in zip(found, adjusted, strict=True)]


def interaction(differences: Sequence[float], clusters: Sequence[str], groups: Sequence[str]) -> Test:
    """Whether a paired difference changes over groups (condition × level): Wald F test of equal group means in an OLS
    with cluster covariance, in closed form (the tests hold it to statsmodels). Groups with fewer than `LEAST_SOURCES`
    clusters are left out: their variance is a guess."""
    import numpy as np

    method = "Wald F, cluster-robust OLS"
    sources: dict[str, set[str]] = {}
    for cluster, group in zip(clusters, groups, strict=True):
        sources.setdefault(group, set()).add(cluster)
    names = sorted(g for g, own in sources.items() if len(own) >= LEAST_SOURCES)
    if len(names) < 2:
        return Test(method=method, reason=f"fewer than two groups with {LEAST_SOURCES} clusters each")
    kept = [n for n, g in enumerate(groups) if g in names]
    data, codes = np.asarray(differences, dtype=float)[kept], cluster_codes([clusters[n] for n in kept])
    member = np.asarray(groups)[kept][:, None] == np.asarray(names)
    means, covariance = _group_means(data, member.astype(float), codes)
    p = _equal_means(means, covariance, cluster_count(codes))
    return Test(method=method, p=p, reason=NO_SPREAD if p is None else None)


def _group_means(data: Floats, member: Floats, codes: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """The means of groups (`member`: values × groups, of 0 and 1) and their cluster-robust covariance."""
    import numpy as np

    targets, clusters = len(data), cluster_count(codes)
    sizes = member.sum(axis=0)
    means = member.T @ data / sizes
    influence = np.zeros((clusters, len(means)))
    np.add.at(influence, codes, member * (data - member @ means)[:, None] / sizes)
    correction = clusters / (clusters - 1) * (targets - 1) / max(1, targets - len(means))
    return means, correction * influence.T @ influence


def _equal_means(means: Floats, covariance: Floats, clusters: int) -> float | None:
    """p-value of Wald's F test that all means are one; None where their differences have no spread."""
    import numpy as np
    from scipy.special import fdtrc

    against = np.column_stack([-np.ones(len(means) - 1), np.eye(len(means) - 1)])
    differences, spread = against @ means, against @ covariance @ against.T
    if np.linalg.matrix_rank(spread, tol=TINY**2) < len(differences):
        return None
    wald = float(differences @ np.linalg.solve(spread, differences))
    return float(fdtrc(len(differences), clusters - 1, wald / len(differences)))


def cluster_codes(clusters: Sequence[str] | NDArray[np.intp]) -> NDArray[np.intp]:
    import numpy as np

    return np.unique(np.asarray(clusters), return_inverse=True)[1]


def cluster_count(codes: NDArray[np.intp]) -> int:
    return int(codes.max()) + 1 if codes.size else 0
