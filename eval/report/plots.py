"""Geometry of the page's figures: positions in percent of the drawing, so that text keeps its size at any width."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rebind.eval.contrasts import NO_MEMORY, Contrast
from rebind.eval.metrics import ALL, Dimension, Mean, Share, Staleness
from rebind.eval.report import format as fmt
from rebind.eval.report.model import Report
from rebind.eval.rows import COMPONENTS
from rebind.eval.stats import Interval

COMPONENT_WORDS = {
    "i_base": "I_base: prompts without support",
    "i_mem": "I_mem: support in the prompts",
    "i_syn": "I_syn: support writer's input",
    "o_syn": "O_syn: support writer's output",
    "o_act": "O_act: the actor's output",
}
_LABEL_GAP = 7.0
"""Least distance between two labels of the scatter plot, percent of its height."""


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


@dataclass(frozen=True)
class ForestRow:
    label: str
    excluded: Mark | None
    failed: Mark | None
    text: str
    interval: str
    p: str
    n: int


@dataclass(frozen=True)
class Forest:
    axis: Axis
    zero: float
    rows: tuple[ForestRow, ...]


@dataclass(frozen=True)
class Series:
    condition: str
    label: str
    points: tuple[tuple[float, Mark], ...]
    """Horizontal position in percent, and the mark along the vertical axis (percent from the bottom)."""


@dataclass(frozen=True)
class Lines:
    axis: Axis
    zero: float
    groups: tuple[tuple[float, str], ...]
    series: tuple[Series, ...]


@dataclass(frozen=True)
class Segment:
    key: str
    at: float
    width: float
    title: str


@dataclass(frozen=True)
class Stack:
    label: str
    segments: tuple[Segment, ...]
    total: str
    n: int


@dataclass(frozen=True)
class Stacks:
    axis: Axis
    rows: tuple[Stack, ...]
    legend: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Dot:
    condition: str
    label: str
    x: float
    mark: Mark
    label_at: float
    """Vertical place of the label, percent from the bottom."""


@dataclass(frozen=True)
class Scatter:
    x: Axis
    y: Axis
    dots: tuple[Dot, ...]


@dataclass(frozen=True)
class Bar:
    series: int
    label: str
    width: float
    text: str
    n: int


@dataclass(frozen=True)
class Bars:
    legend: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Bar, ...]], ...]


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


def forest(report: Report, metric: str = "success") -> Forest:
    """Paired effects over all targets, both treatments of invalid runs."""
    found = [c for c in report.contrasts if (c.metric, c.dimension) == (metric, "all")]
    line = axis([v for c in found for v in _ends(c.effect.mean, c.effect.robust)], limit=1.0)
    by = {(c.condition, c.reference, c.treatment): c for c in found}
    rows = []
    for condition, reference in dict.fromkeys((c.condition, c.reference) for c in found):
        one, two = by[condition, reference, "excluded"], by[condition, reference, "failed"]
        effect = one.effect
        rows.append(
            ForestRow(
                label=fmt.contrast(condition, reference).text,
                excluded=_mark(line, effect.mean, effect.robust),
                failed=_mark(line, two.effect.mean, two.effect.robust),
                text=fmt.signed(effect.mean),
                interval=fmt.interval(effect.robust).text,
                p=fmt.p_value(effect.sign_flip.holm).text,
                n=effect.targets,
            )
        )
    return Forest(line, line.at(0.0), tuple(rows))


def _ends(value: float | None, spread: Interval | None) -> list[float]:
    ends = [spread.low, spread.high] if spread else []
    return [v for v in (value, *ends) if v is not None]


def _mark(line: Axis, value: float | None, spread: Interval | None, *, points: bool = True) -> Mark | None:
    if value is None:
        return None
    low, high = (spread.low, spread.high) if spread else (None, None)
    title = fmt.signed(value) if points else f"{100 * value:.1f} %"
    if low is not None and high is not None:
        title += f", 95 % interval {fmt.signed(low)} to {fmt.signed(high)}" if points else ""
        return Mark(line.at(value), line.at(low), line.at(high), title)
    return Mark(line.at(value), None, None, title)


def utility_lines(report: Report, dimension: Dimension) -> Lines:
    """Utility over No Memory by group, invalid runs excluded; conditions stand a little beside one another."""
    found = [
        c
        for c in report.contrasts
        if (c.metric, c.reference, c.dimension, c.treatment) == ("success", NO_MEMORY, dimension, "excluded")
    ]
    line = axis([v for c in found for v in _ends(c.effect.mean, c.effect.robust)], limit=1.0)
    names = list(dict.fromkeys(c.group for c in found))
    centres = {g: 100 * (n + 0.5) / len(names) for n, g in enumerate(names)}
    conditions = list(dict.fromkeys(c.condition for c in found))
    series = tuple(_series(found, c, n - (len(conditions) - 1) / 2, centres, line) for n, c in enumerate(conditions))
    groups = tuple((centres[g], fmt.group_label(dimension, g).partition(" (")[0]) for g in names)
    return Lines(line, line.at(0.0), groups, series)


def _series(found: Sequence[Contrast], condition: str, aside: float, centres: dict[str, float], line: Axis) -> Series:
    label = fmt.condition_label(condition)
    points = []
    for c in found:
        mark = _mark(line, c.effect.mean, c.effect.robust)
        if c.condition == condition and mark:
            shown = Mark(mark.at, mark.low, mark.high, f"{label}: {mark.title}; {c.effect.targets:,} targets")
            points.append((round(centres[c.group] + 2.2 * aside, 3), shown))
    return Series(condition, label, tuple(points))


def token_stacks(report: Report) -> Stacks:
    """The five components of C_online per condition, billed view."""
    rows = []
    means = {c: report.summary(c).means for c in report.study.conditions}
    line = axis([m["online"].value or 0.0 for m in means.values()], "tokens")
    for condition, found in means.items():
        at, segments = 0.0, []
        for key in COMPONENTS:
            value = found[key].value
            if value:
                title = f"{COMPONENT_WORDS[key]}: {fmt.token_text(value)}"
                segments.append(Segment(key, line.at(at), round(line.at(at + value) - line.at(at), 3), title))
                at += value
        total = found["online"]
        rows.append(Stack(fmt.condition_label(condition), tuple(segments), fmt.tokens(total).text, total.targets))
    return Stacks(line, tuple(rows), tuple(COMPONENT_WORDS.items()))


def success_scatter(report: Report) -> Scatter:
    """Success against online tokens, micro means over valid runs."""
    means = {c: report.summary(c).means for c in report.study.conditions}
    known = {c: m for c, m in means.items() if m["success"].value is not None and m["online"].value is not None}
    x = axis([_value(m["online"]) for m in known.values()], "tokens")
    spreads = [v for m in known.values() for v in _ends(m["success"].value, m["success"].interval)]
    y = axis([max(0.0, v) for v in spreads], "percent", limit=1.0)
    marks = {c: _mark(y, m["success"].value, m["success"].interval, points=False) for c, m in known.items()}
    dots = []
    last = -math.inf
    for c, mark in sorted(marks.items(), key=lambda item: item[1].at if item[1] else 0.0):
        if mark is None:
            continue
        last = max(mark.at, last + _LABEL_GAP)
        tokens = _value(known[c]["online"])
        title = f"{fmt.condition_label(c)}: {mark.title} at {fmt.token_text(tokens)} tokens"
        shown = Mark(mark.at, mark.low, mark.high, title)
        dots.append(Dot(c, fmt.condition_label(c), x.at(tokens), shown, last))
    return Scatter(x, y, tuple(dots))


def _value(mean: Mean) -> float:
    return mean.value or 0.0


def retrieval_bars(report: Report) -> Bars:
    """QCR's Figure 3: paired and usable memory at the first candidate, among the top k, and as selected."""
    r = report.retrieval
    stages = (
        ("First candidate", r.paired_at_1, r.usable_at_1),
        (f"Top {r.k}", r.paired_at_k, r.usable_at_k),
        ("Selected", r.chosen_paired, r.chosen_usable),
    )
    return _bars(("Paired record", "Usable record"), stages)


def stale_bars(report: Report) -> Bars:
    """Stale-binding and correct-rebinding rates of each condition over all checkable targets."""
    rows = [s for s in report.staleness if s.level == ALL]
    return _bars(("Stale binding", "Correct rebinding"), [_stale_row(s) for s in rows])


def _stale_row(row: Staleness) -> tuple[str, Mean, Mean]:
    return fmt.condition_label(row.condition), row.stale, row.rebound


def _bars(legend: tuple[str, str], rows: Sequence[tuple[str, Mean | Share, Mean | Share]]) -> Bars:
    made = []
    for label, *values in rows:
        bars = []
        for n, value in enumerate(values):
            entry = fmt.percent(value)
            bars.append(Bar(n, legend[n], round(100 * (value.value or 0.0), 3), entry.text, entry.n or 0))
        made.append((label, tuple(bars)))
    return Bars(legend, tuple(made))
