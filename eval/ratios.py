"""Ratios of two mean utilities: how much of a gain is retained (QCR, sections 5.6 and 5.7)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rebind.eval.stats import CONFIDENCE, NO_PAIRS, ONE_CLUSTER, RESAMPLES, TINY, Interval, cluster_codes, cluster_count
from rebind.types import Frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Sample = tuple[Sequence[float], Sequence[str]]
"""One value per target, and each target's cluster."""


class Ratio(Frozen):
    """A ratio of two mean utilities (how much of a gain is retained), with a cluster bootstrap interval."""

    value: float | None
    interval: Interval
    targets: int
    """Targets behind the numerator."""
    reference_targets: int


def retained(part: Sample, reference: Sample, *, resamples: int = RESAMPLES, seed: int = 0) -> Ratio:
    """Mean of `part` over mean of `reference` (values, clusters), e.g. a condition's utility at a large shift over its
    utility at none (QCR, section 5.7). Percentile bootstrap; clusters are drawn once for both."""
    import numpy as np

    method = "percentile bootstrap over clusters"
    table, sizes = _ratio_table(part, reference)
    if not all(sizes):
        reason = f"{NO_PAIRS} in the {'part' if not sizes[0] else 'reference'}"
        return _no_ratio(method, reason, sizes)
    means = table[0].sum() / sizes[0], table[2].sum() / sizes[1]
    if means[1] <= TINY:
        return _no_ratio(method, "the reference utility is not positive", sizes)
    ratio = Ratio(
        value=float(means[0] / means[1]), interval=Interval(method=method), targets=sizes[0], reference_targets=sizes[1]
    )
    if table.shape[1] < 2:
        return ratio.model_copy(update={"interval": Interval(method=method, reason=ONE_CLUSTER)})
    draws = _ratio_draws(table, resamples, seed)
    if np.isnan(draws).mean() > 0.01:
        reason = "more than 1 % of the draws have no positive reference utility, or no target in the part"
        return ratio.model_copy(update={"interval": Interval(method=method, reason=reason)})
    low, high = np.nanquantile(draws, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return ratio.model_copy(update={"interval": Interval(method=method, low=float(low), high=float(high))})


def _ratio_table(part: Sample, reference: Sample) -> tuple[Floats, tuple[int, int]]:
    """Rows: sum and count of the part, sum and count of the reference; one column a cluster."""
    import numpy as np

    codes = cluster_codes([*part[1], *reference[1]])
    width = cluster_count(codes)
    split = len(part[0])
    rows = []
    for values, which in ((part[0], codes[:split]), (reference[0], codes[split:])):
        rows.append(np.bincount(which, weights=np.asarray(values, dtype=float), minlength=width))
        rows.append(np.bincount(which, minlength=width).astype(float))
    return np.stack(rows), (split, len(reference[0]))


def _ratio_draws(table: Floats, resamples: int, seed: int) -> Floats:
    """The bootstrap distribution of the ratio; NaN where a draw's reference utility is not positive."""
    import numpy as np
    from scipy import stats

    def ratio(a: Floats, m: Floats, b: Floats, n: Floats, axis: int = -1) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            reference = b.sum(axis=axis) / n.sum(axis=axis)
            value = a.sum(axis=axis) / m.sum(axis=axis) / reference
        return np.where(reference > 0, value, np.nan)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # quantiles over NaN draws; the caller looks at the draws themselves
        result = stats.bootstrap(
            tuple(table), ratio, paired=True, vectorized=True, n_resamples=resamples, batch=2_000,
            method="percentile", rng=np.random.default_rng(seed),
        )  # fmt: skip
    return np.asarray(result.bootstrap_distribution, dtype=float)


def _no_ratio(method: str, reason: str, sizes: tuple[int, int]) -> Ratio:
    return Ratio(
        value=None, interval=Interval(method=method, reason=reason), targets=sizes[0], reference_targets=sizes[1]
    )
