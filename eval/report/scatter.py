"""The figure of Success against tokens, its labels kept apart."""

from __future__ import annotations

from dataclasses import dataclass

from rebind.eval.metrics import Mean
from rebind.eval.report import format as fmt
from rebind.eval.report.axes import Axis, Mark, axis, ends, placed
from rebind.eval.report.model import Report

_WIDTH, _HEIGHT, _LETTER, _LINE = 900.0, 280.0, 7.0, 14.0
"""Of a scatter plot on a desktop, and of its labels' letters, in pixels; to keep labels apart."""
Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


@dataclass(frozen=True)
class Dot:
    condition: str
    label: str
    x: float
    mark: Mark
    beside: tuple[float, float, str]
    """Where the label stands: across and down from the point in pixels, and which of its ends is there."""


@dataclass(frozen=True)
class Scatter:
    x: Axis
    y: Axis
    dots: tuple[Dot, ...]


def success_scatter(report: Report) -> Scatter:
    """Success against online tokens, micro means over valid runs."""
    means = {c: report.summary(c).means for c in report.study.conditions}
    known = {c: m for c, m in means.items() if m["success"].value is not None and m["online"].value is not None}
    x = axis([_value(m["online"]) for m in known.values()], "tokens")
    spreads = [v for m in known.values() for v in ends(m["success"].value, m["success"].interval)]
    y = axis([max(0.0, v) for v in spreads], "percent", limit=1.0)
    marks = {c: placed(y, m["success"].value, m["success"].interval, points=False) for c, m in known.items()}
    places = {
        c: (x.at(_value(known[c]["online"])) * _WIDTH / 100, (100 - mark.at) * _HEIGHT / 100)
        for c, mark in marks.items()
        if mark
    }
    taken: list[Box] = [(px - 8, py - 8, px + 8, py + 8) for px, py in places.values()]
    dots = []
    for c, (px, py) in places.items():
        mark, label = marks[c], fmt.condition_label(c)
        assert mark is not None  # `places` holds the marked ones
        title = f"{label}: {mark.title} at {fmt.token_text(_value(known[c]['online']))} tokens"
        shown = Mark(mark.at, mark.low, mark.high, title)
        beside = _beside(px, py, len(label) * _LETTER, taken)
        dots.append(Dot(c, label, x.at(_value(known[c]["online"])), shown, beside))
    return Scatter(x, y, tuple(dots))


def _beside(px: float, py: float, width: float, taken: list[Box]) -> tuple[float, float, str]:
    """A place for a label that covers no point and no label yet; beside the point where there is none. Takes it."""
    choices = [(11.0, 0.0, "start"), (-11.0, 0.0, "end")]
    choices += [(across, down, end) for down in (-16.0, 16.0, -32.0, 32.0) for across, _, end in choices[:2]]
    boxes = []
    for across, down, end in choices:
        left = px + across if end == "start" else px + across - width
        boxes.append((left, py + down - _LINE / 2, left + width, py + down + _LINE / 2))
    free = (
        n for n, box in enumerate(boxes) if box[0] >= 0 and box[2] <= _WIDTH and not any(_cross(box, t) for t in taken)
    )
    found = next(free, 0 if boxes[0][2] <= _WIDTH else 1)
    taken.append(boxes[found])
    return choices[found]


def _cross(one: Box, two: Box) -> bool:
    return one[0] < two[2] and two[0] < one[2] and one[1] < two[3] and two[1] < one[3]


def _value(mean: Mean) -> float:
    return mean.value or 0.0
