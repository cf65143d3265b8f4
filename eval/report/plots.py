"""Geometry of the page's figures: positions in percent of the drawing, so that text keeps its size at any width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rebind.eval.contrasts import NO_MEMORY, Contrast
from rebind.eval.metrics import ALL, Dimension, Mean, Share, Staleness
from rebind.eval.report import format as fmt
from rebind.eval.report.axes import Axis, Mark, axis, ends, placed
from rebind.eval.report.model import Report
from rebind.eval.rows import COMPONENTS

COMPONENT_WORDS = {
    "i_base": "I_base: prompts without support",
    "i_mem": "I_mem: support in the prompts",
    "i_syn": "I_syn: support writer's input",
    "o_syn": "O_syn: support writer's output",
    "o_act": "O_act: the actor's output",
}


@dataclass(frozen=True)
class Spread:
    """One condition's Success with its interval."""

    condition: str
    label: str
    mark: Mark | None
    text: str
    interval: str
    n: int


@dataclass(frozen=True)
class Spreads:
    axis: Axis
    rows: tuple[Spread, ...]


@dataclass(frozen=True)
class ForestRow:
    label: str
    excluded: Mark | None
    failed: Mark | None
    """None where no run ended invalid."""
    text: str
    interval: str
    p: str
    n: int


@dataclass(frozen=True)
class Forest:
    axis: Axis
    zero: float
    invalid: bool
    """Whether any run ended invalid."""
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


def success_spreads(report: Report) -> Spreads:
    """Each condition's Success over all targets, valid runs, with its cluster-robust interval."""
    line = axis([0.0, 1.0], "percent", limit=1.0)
    rows = []
    for condition in report.study.conditions:
        success = report.summary(condition).means["success"]
        rows.append(
            Spread(
                condition=condition,
                label=fmt.condition_label(condition),
                mark=placed(line, success.value, success.interval, points=False),
                text=fmt.percent(success).text,
                interval=fmt.percent_interval(success.interval).text,
                n=success.targets,
            )
        )
    return Spreads(line, tuple(rows))


def forest(report: Report, metric: str = "success") -> Forest:
    """Paired effects over all targets, both treatments of invalid runs."""
    found = [c for c in report.contrasts if (c.metric, c.dimension) == (metric, "all")]
    line = axis([v for c in found for v in ends(c.effect.mean, c.effect.robust)], limit=1.0)
    by = {(c.condition, c.reference, c.treatment): c for c in found}
    invalid = any(e.outcome not in ("valid", "missing") for e in report.endings)
    rows = []
    for condition, reference in dict.fromkeys((c.condition, c.reference) for c in found):
        one, two = by[condition, reference, "excluded"], by[condition, reference, "failed"]
        effect = one.effect
        rows.append(
            ForestRow(
                label=fmt.contrast(condition, reference).text,
                excluded=placed(line, effect.mean, effect.robust),
                failed=placed(line, two.effect.mean, two.effect.robust) if invalid else None,
                text=fmt.signed(effect.mean),
                interval=fmt.interval(effect.robust).text,
                p=fmt.p_value(effect.sign_flip.holm).text,
                n=effect.targets,
            )
        )
    return Forest(line, line.at(0.0), invalid, tuple(rows))


def utility_lines(report: Report, dimension: Dimension) -> Lines:
    """Utility over No Memory by group, invalid runs excluded; conditions stand a little beside one another."""
    found = [
        c
        for c in report.contrasts
        if (c.metric, c.reference, c.dimension, c.treatment) == ("success", NO_MEMORY, dimension, "excluded")
    ]
    line = axis([v for c in found for v in ends(c.effect.mean, c.effect.robust)], limit=1.0)
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
        mark = placed(line, c.effect.mean, c.effect.robust)
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
