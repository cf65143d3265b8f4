"""Ratios of two mean utilities: how much of a gain is retained (QCR, sections 5.6 and 5.7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rebind.eval.resampling import Clustered, bootstrapped
from rebind.eval.stats import CONFIDENCE, NO_PAIRS, RESAMPLES, TINY, Interval, Sample, cluster_codes, too_few
from rebind.types import Frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

METHOD = "percentile bootstrap over clusters"
Values = tuple[Sequence[float], Sequence[str]]
"""One value per target, and each target's cluster."""


class Ratio(Frozen):
    """A ratio of two mean utilities (how much of a gain is retained), with a cluster bootstrap interval."""

    value: float | None
    interval: Interval
    targets: int
    """Targets behind the numerator."""
    reference_targets: int


def retained(part: Values, reference: Values, *, resamples: int = RESAMPLES, seed: int = 0) -> Ratio:
    """Mean of `part` over mean of `reference` (values, clusters), e.g. a condition's utility at a large shift over its
    utility at none (QCR, section 5.7)."""
    codes = cluster_codes([*part[1], *reference[1]])
    width = int(codes.max()) + 1 if len(codes) else 0
    split = len(part[0])
    samples = (
        Sample.of(part[0], codes[:split], width=width),
        Sample.of(reference[0], codes[split:], width=width),
    )
    return ratios([samples], resamples=resamples, seed=seed)[0]


def ratios(pairs: Sequence[tuple[Sample, Sample]], *, resamples: int = RESAMPLES, seed: int = 0) -> list[Ratio]:
    """Ratios of (part, reference), all over the same clusters. Percentile bootstrap; a draw of clusters serves
    numerator and denominator alike, and every ratio."""
    import numpy as np

    found: list[Ratio | None] = [_meaningless(part, reference) for part, reference in pairs]
    meant = [n for n, ratio in enumerate(found) if ratio is None]
    if not meant:
        return [r for r in found if r is not None]
    held = [data for n in meant for data in (pairs[n][0].data, pairs[n][1].data) if data is not None]
    draws = bootstrapped(held, resamples=resamples, seed=seed)
    for place, n in enumerate(meant):
        part, reference = held[2 * place], held[2 * place + 1]
        tops, bases = draws[:, 2 * place], draws[:, 2 * place + 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            drawn = np.where(bases > 0, tops / bases, np.nan)
        found[n] = Ratio(
            value=part.mean / reference.mean,
            interval=_interval(drawn, part, reference),
            targets=part.targets,
            reference_targets=reference.targets,
        )
    return [r for r in found if r is not None]


def _interval(drawn: Floats, part: Clustered, reference: Clustered) -> Interval:
    import numpy as np

    reason = too_few(min(part.clusters, reference.clusters))
    if reason is None and float(np.isnan(drawn).mean()) > 0.01:
        reason = "more than 1 % of the draws have no positive reference utility, or no target in the part"
    if reason:
        return Interval(method=METHOD, reason=reason)
    low, high = np.nanquantile(drawn, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Interval(method=METHOD, low=float(low), high=float(high))


def _meaningless(part: Sample, reference: Sample) -> Ratio | None:
    """The ratio that has no value, with its reason; None where it has one."""
    reason = None
    if part.data is None:
        reason = f"{NO_PAIRS} in the part"
    elif reference.data is None:
        reason = f"{NO_PAIRS} in the reference"
    elif reference.data.mean <= TINY:
        reason = "the reference utility is not positive"
    if reason is None:
        return None
    sizes = [s.data.targets if s.data else 0 for s in (part, reference)]
    return Ratio(
        value=None, interval=Interval(method=METHOD, reason=reason), targets=sizes[0], reference_targets=sizes[1]
    )
