"""A report as one self-contained HTML page: no network, light and dark; a script unpacks the drill-down."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from rebind.eval.report import format as fmt
from rebind.eval.report import plots
from rebind.eval.report.files import write_whole
from rebind.eval.report.model import Column, Report, Table
from rebind.eval.report.scatter import success_scatter

if TYPE_CHECKING:
    from jinja2 import Environment

_PALETTE = ("none", "full", "summary", "qcr", "skill")
_TEMPLATES = Path(__file__).with_name("templates")


def write_html(report: Report, path: Path) -> Path:
    """Writes the page; returns its path."""
    return write_whole(path, to_html(report))


def to_html(report: Report) -> str:
    """The page as text."""
    shown = [t for t in report.tables if t.rows]
    return (
        _environment()
        .get_template("report.html")
        .render(
            r=report,
            study=report.study,
            tables={t.id: t for t in shown},
            number={t.id: n for n, t in enumerate(shown, 1)},
            spreads=plots.success_spreads(report),
            forest=plots.forest(report),
            by_level=plots.utility_lines(report, "level"),
            by_length=plots.utility_lines(report, "length_group"),
            stacks=plots.token_stacks(report),
            scatter=success_scatter(report),
            retrieval=plots.retrieval_bars(report),
            stale=plots.stale_bars(report),
            slot=slots(report.study.conditions),
        )
    )


def slots(conditions: Sequence[str]) -> dict[str, int]:
    """The place of each condition in the palette: the same in every report for those that have one, the next free one
    for others."""
    taken = {c: _PALETTE.index(c) for c in conditions if c in _PALETTE}
    free = (n for n in range(len(_PALETTE), len(_PALETTE) + len(conditions)))
    return {c: taken[c] if c in taken else next(free) for c in conditions}


def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["label"] = fmt.condition_label
    made.filters["environment"] = fmt.environment_label
    made.filters["spans"] = spans
    made.filters["counts_width"] = counts_width
    made.filters["repeats"] = repeats
    return made


def spans(columns: tuple[Column, ...]) -> list[tuple[str, int]]:
    """Group headings with the number of columns each spans; empty where no column has a group."""
    if not any(c.group for c in columns):
        return []
    return [(group, len(list(members))) for group, members in groupby(columns, key=lambda c: c.group)]


def counts_width(table: Table) -> list[int]:
    """Per column: digits of its longest denominator with separators; 0 where it has none. So numbers stay aligned."""
    each = zip(*table.rows, strict=True)
    return [max((len(f"{e.n:,}") for e in column if e.n is not None), default=0) for column in each]


def repeats(table: Table) -> bool:
    """Whether neighbouring rows share a heading."""
    return any(one[0].text == two[0].text for one, two in pairwise(table.rows))
