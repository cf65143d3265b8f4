"""Axes and marks of the page's figures, in percent of the drawing."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from rebind.eval.report import format as fmt
from rebind.eval.stats import Interval


@dataclass(frozen=True)
class Axis:
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    """Position in percent, label."""

    def at(self, value: float) -> float:
        """Position of a value in percent; values beyond the axis stand at its end."""
        share = (value - self.low) / (self.high - self.low)
        return round(100 * min(1.0, max(0.0, share)), 3)


@dataclass(frozen=True)
class Mark:
    """A point with its interval along one axis, in percent of it; `low` and `high` are None without an interval."""

    at: float
    low: float | None
    high: float | None
    title: str


def axis(values: Iterable[float], label: str = "points", *, zero: bool = True, limit: float | None = None) -> Axis:
    """An axis over the values with round ticks; through zero, and within ±limit, where asked."""
    known = [*values, *([0.0] if zero else [])] or [0.0]
    if limit is not None:
        known = [min(limit, max(-limit, v)) for v in known]
    low, high = min(known), max(known)
    if high - low < 1e-9:
        low, high = low - 0.5 * (not zero), high + 1.0
    step = _step((high - low) / 5)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    made = Axis(first * step, last * step, ())
    ticks = tuple((made.at(n * step), _tick(n * step, label)) for n in range(first, last + 1))
    return Axis(made.low, made.high, ticks)


def _step(least: float) -> float:
    """The smallest of 1, 2, 5 × 10^n that is at least this."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * m for m in (1, 2, 5, 10) if power * m >= least - 1e-12)


def _tick(value: float, label: str) -> str:
    if label == "tokens":
        return fmt.token_text(value).replace(".0", "")
    text = f"{100 * value:+.0f}" if label == "points" else f"{100 * value:.0f}"
    return ("0" if abs(value) < 1e-12 else text).replace("-", fmt.MINUS)


def ends(value: float | None, spread: Interval | None) -> list[float]:
    ends = [spread.low, spread.high] if spread else []
    return [v for v in (value, *ends) if v is not None]


def placed(line: Axis, value: float | None, spread: Interval | None, *, points: bool = True) -> Mark | None:
    if value is None:
        return None
    low, high = (spread.low, spread.high) if spread else (None, None)
    title = fmt.signed(value) if points else f"{100 * value:.1f} %"
    if low is not None and high is not None:
        ends = (fmt.signed(low), fmt.signed(high)) if points else (f"{100 * low:.1f}", f"{100 * high:.1f} %")
        title += f", 95 % interval {ends[0]} to {ends[1]}"
        return Mark(line.at(value), line.at(low), line.at(high), title)
    return Mark(line.at(value), None, None, title)
