"""A report as one self-contained HTML page: no script, no network, light and dark."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from rebind.eval.report import format as fmt
from rebind.eval.report import plots
from rebind.eval.report.files import write_whole
from rebind.eval.report.model import Column, Report, Table

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).with_name("templates")


def write_html(report: Report, path: Path) -> Path:
    """Writes the page; returns its path."""
    return write_whole(path, to_html(report))


def to_html(report: Report) -> str:
    """The page as text."""
    conditions = {c: n for n, c in enumerate(report.study.conditions)}
    return (
        _environment()
        .get_template("report.html")
        .render(
            r=report,
            study=report.study,
            tables={t.id: t for t in report.tables},
            number={t.id: n for n, t in enumerate((t for t in report.tables if t.rows), 1)},
            forest=plots.forest(report),
            by_level=plots.utility_lines(report, "level"),
            by_length=plots.utility_lines(report, "length_group"),
            stacks=plots.token_stacks(report),
            scatter=plots.success_scatter(report),
            retrieval=plots.retrieval_bars(report),
            stale=plots.stale_bars(report),
            families=[(name, list(group)) for name, group in groupby(report.drill.targets, key=lambda t: t.family)],
            index=conditions,
            invalid_differs=_rows(report, "end_to_end") != _rows(report, "end_to_end_failed"),
        )
    )


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
    return made


def spans(columns: tuple[Column, ...]) -> list[tuple[str, int]]:
    """Group headings with the number of columns each spans; empty where no column has a group."""
    if not any(c.group for c in columns):
        return []
    return [(group, len(list(members))) for group, members in groupby(columns, key=lambda c: c.group)]


def _rows(report: Report, name: str) -> list[list[tuple[str, int | None]]]:
    table: Table = report.table(name)
    return [[(entry.text, entry.n) for entry in row] for row in table.rows]
