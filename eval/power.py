"""How many source trajectories and seeds a study needs, from a pilot run (`rebind power`).

The variance of a contrast's mean is split in two: what seeds add to a target (estimated within targets), and the rest,
which only more sources bring down. With S sources in place of the pilot's S₀, and K seeds,

    Var(S, K) = S₀/S · (V − σ² mean(1/k) / T + σ² / (K T)),

where V is the pilot's cluster-robust variance, T its targets, k the seed pairs of a target and σ² the variance between
the seeds of a target. Power is that of a t test with S − 1 degrees of freedom, which the sign-flip test of the
reports comes close to; the tests hold it to simulated studies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rebind.errors import UserError, did_you_mean
from rebind.eval.contrasts import Pair, Pairing, pairs_of
from rebind.eval.metrics import METRICS, SHARES
from rebind.eval.stats import NO_SPREAD, TINY, robust_error, too_few
from rebind.types import Frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rebind.eval.frames import Run

    Floats = NDArray[np.float64]

SEEDS = (1, 2, 3, 5, 10)
SOURCES = (10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640)
MOST_SOURCES = 100_000
_CAUTION = 0.8
"""Confidence of the upper limit of the pilot's variance behind `cautious`."""


class Components(Frozen):
    """What a contrast varies by; variances in squared units of the metric, per source trajectory."""

    between: float
    """Between sources, and between the targets of a source: only more sources bring it down."""
    seeds: float | None
    """What one seed adds, for the pilot's targets per source; more seeds bring it down. None where the pilot has one
    seed a target: it then is part of `between`."""
    targets_per_source: float


class Need(Frozen):
    """The smallest study that reaches the wanted power with so many seeds."""

    seeds: int
    sources: int | None
    """None where `MOST_SOURCES` do not suffice."""
    targets: int | None
    episodes: int | None
    """Of both conditions of the contrast."""
    cautious: int | None
    """Sources, with the pilot's variance at the upper end of its one-sided 80 % interval."""
    holm: int | None
    """Sources, where the test must hold at the level of Holm's first step over all contrasts of the study."""


class Point(Frozen):
    sources: int
    targets: int
    seeds: int
    power: float


class Power(Frozen):
    """What a contrast needs; `reason` says why nothing could be estimated."""

    condition: str
    reference: str
    metric: str
    pilot_effect: float | None
    pilot_sources: int
    pilot_targets: int
    components: Components | None = None
    needs: tuple[Need, ...] = ()
    table: tuple[Point, ...] = ()
    detectable: float | None = None
    """The smallest effect that a study of the pilot's own size finds with the wanted power."""
    reason: str | None = None


class Wish(Frozen):
    """What is asked for: an effect in units of the metric (a share for shares), power and level."""

    metric: str
    effect: float
    power: float
    alpha: float


def wish(metric: str, effect: float, power: float, alpha: float) -> Wish:
    """A wish as the command line has it: the effect of a share in percentage points.

    Raises:
        UserError: an unknown metric, or a number out of range.
    """
    if metric not in METRICS:
        raise UserError(f"--metric: no contrast is made on {metric!r}{did_you_mean(metric, METRICS)}")
    for name, value, low, high in (("--power", power, alpha, 1.0), ("--alpha", alpha, 0.0, 0.5)):
        if not low < value < high:
            raise UserError(f"{name} is {value}: it must lie between {low} and {high}, without them")
    scale = 100 if metric in SHARES else 1
    if not 0 < abs(effect) / scale < (1.0 if metric in SHARES else math.inf):
        limit = "between 0 and 100 points" if metric in SHARES else "not 0"
        raise UserError(f"--effect is {effect}: an effect on {metric} must be {limit}")
    return Wish(metric=metric, effect=abs(effect) / scale, power=power, alpha=alpha)


def needed(run: Run, asked: Wish) -> list[Power]:
    """What each contrast of a pilot run needs. Invalid runs are excluded.

    Raises:
        UserError: the pilot has no episode, or no two conditions.
    """
    pairs = pairs_of(run.plan["conditions"])
    if not len(run.episodes) or not pairs:
        why = "no episode has ended in it" if pairs else "it has one condition only: there is nothing to contrast"
        raise UserError(f"{run.folder} cannot serve as a pilot: {why}")
    pairing = Pairing(run.episodes, "excluded")
    return [_contrast(pairing, pair, asked, len(pairs)) for pair in pairs]


def _contrast(pairing: Pairing, pair: Pair, asked: Wish, family: int) -> Power:
    data = pairing.sample(asked.metric, pair).data
    about = Power(
        condition=pair[0],
        reference=pair[1],
        metric=asked.metric,
        pilot_effect=data.mean if data else None,
        pilot_sources=data.clusters if data else 0,
        pilot_targets=data.targets if data else 0,
    )
    reason = too_few(about.pilot_sources)
    if reason or data is None:
        return about.model_copy(update={"reason": reason})
    found = components(pairing.by_seed(asked.metric, pair), robust_error(data), data.clusters)
    if found.between + (found.seeds or 0.0) <= TINY:
        return about.model_copy(update={"reason": NO_SPREAD})
    seeds = (1,) if found.seeds is None else SEEDS
    return about.model_copy(
        update={
            "components": found,
            "detectable": detectable(found, data.clusters, _usual_seeds(pairing, asked.metric, pair), asked),
            "needs": tuple(_need(found, k, asked, data.clusters, family) for k in seeds),
            "table": tuple(
                Point(
                    sources=s,
                    targets=round(s * found.targets_per_source),
                    seeds=k,
                    power=round(power(found, s, k, asked.effect, asked.alpha), 4),
                )
                for s in SOURCES
                for k in seeds
            ),
        }
    )


def components(by_seed: Floats, error: float, sources: int) -> Components:
    """The parts of a contrast's variance.

    Args:
        by_seed: differences, targets × seeds; NaN where there is no pair.
        error: the cluster-robust standard error of their mean.
        sources: clusters behind it.
    """
    import numpy as np

    known = np.isfinite(by_seed)
    pairs = known.sum(axis=1)
    rows, pairs = by_seed[pairs > 0], pairs[pairs > 0]
    targets = len(rows)
    freedom = int((pairs - 1).sum())
    total = error**2 * sources
    if freedom == 0:
        return Components(between=total, seeds=None, targets_per_source=targets / sources)
    spread = rows - np.nanmean(rows, axis=1, keepdims=True)
    within = float(np.nansum(spread**2)) / freedom
    seed_part = within * float(np.mean(1 / pairs)) / targets * sources
    return Components(
        between=max(0.0, total - seed_part),
        seeds=within / targets * sources,
        targets_per_source=targets / sources,
    )


def power(parts: Components, sources: int, seeds: int, effect: float, alpha: float, inflate: float = 1.0) -> float:
    """Power of the two-sided test of an effect with so many sources and seeds. `inflate` multiplies the variance."""
    from scipy import special, stats

    variance = inflate * (parts.between + (parts.seeds or 0.0) / seeds) / sources
    critical = float(stats.t.ppf(1 - alpha / 2, sources - 1)) ** 2
    shift = effect**2 / variance
    if shift > critical + 400:
        return 1.0  # beyond doubt, and beyond where the noncentral F is computed well
    return 1.0 - float(special.ncfdtr(1, sources - 1, shift, critical))  # F(1, df) is the square of t(df)


def _need(parts: Components, seeds: int, asked: Wish, pilot_sources: int, family: int) -> Need:
    from scipy import stats

    freedom = pilot_sources - 1
    inflate = freedom / float(stats.chi2.ppf(1 - _CAUTION, freedom))
    sources = _smallest(parts, seeds, asked, asked.alpha, 1.0)
    targets = None if sources is None else math.ceil(sources * parts.targets_per_source)
    return Need(
        seeds=seeds,
        sources=sources,
        targets=targets,
        episodes=None if targets is None else 2 * seeds * targets,
        cautious=_smallest(parts, seeds, asked, asked.alpha, inflate),
        holm=_smallest(parts, seeds, asked, asked.alpha / family, 1.0),
    )


def _smallest(parts: Components, seeds: int, asked: Wish, alpha: float, inflate: float) -> int | None:
    """The fewest sources with the wanted power, by bisection: power grows with sources."""

    def enough(sources: int) -> bool:
        return power(parts, sources, seeds, asked.effect, alpha, inflate) >= asked.power

    low, high = 1, 2
    while not enough(high):
        low, high = high, 2 * high
        if high > MOST_SOURCES:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def detectable(parts: Components, sources: int, seeds: int, asked: Wish) -> float:
    """The smallest effect found with the wanted power by a study of that size."""
    from scipy import optimize

    unit = math.sqrt((parts.between + (parts.seeds or 0.0) / seeds) / sources)
    found = optimize.brentq(lambda e: power(parts, sources, seeds, e, asked.alpha) - asked.power, 0.0, 100 * unit)
    return float(found)


def _usual_seeds(pairing: Pairing, metric: str, pair: Pair) -> int:
    """Seed pairs that a target of the pilot has on average, to a whole number."""
    pairs = pairing.differences(metric, pair)[1]
    return max(1, round(float(pairs[pairs > 0].mean())))


def grid(found: Power) -> tuple[Sequence[int], list[tuple[int, int, list[float]]]]:
    """The table as rows: the seeds of its columns; sources, targets and power by column."""
    seeds = list(dict.fromkeys(p.seeds for p in found.table))
    rows: dict[tuple[int, int], list[float]] = {}
    for point in found.table:
        rows.setdefault((point.sources, point.targets), []).append(point.power)
    return seeds, [(sources, targets, each) for (sources, targets), each in rows.items()]
