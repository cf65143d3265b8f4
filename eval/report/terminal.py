"""A report's tables on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebind.eval.report.model import Entry, Report, Table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

SHORT = (
    "end_to_end",
    "effects",
    "utility_by_level",
    "utility_by_length_group",
    "tokens",
    "staleness",
    "retrieval",
    "endings",
)
"""The tables shown unless all are asked for."""


def print_report(report: Report, console: Console, *, everything: bool = False) -> None:
    """Prints a report; `everything` adds the tables that say the same in another way."""
    from rich.markup import escape

    study = report.study
    if study.simulated:
        console.print("[bold reverse] SIMULATED MODEL: harness test, not a result [/]\n")
    facts = (
        f"{study.targets:,} targets from {study.sources:,} source trajectories",
        f"{len(study.seeds)} seeds",
        f"{study.cells_ended:,} of {study.cells_planned:,} cells",
    )
    console.print(f"[bold]{escape(study.name)}[/] · {escape(study.model)} · {' · '.join(facts)}", highlight=False)
    for note in report.notes:
        console.print(f"[yellow]![/] {escape(note)}", highlight=False)
    for table in report.tables:
        if table.rows and (everything or table.id in SHORT):
            console.print()
            console.print(rich_table(table))


def rich_table(table: Table) -> RichTable:
    """One table; the denominator stands dim beside its number."""
    from rich.table import Table as RichTable

    made = RichTable(title=table.title, title_justify="left", caption=table.caption, caption_justify="left", box=None)
    made.title_style, made.caption_style, made.header_style = "bold", "dim", "bold"
    for column in table.columns:
        label = f"{column.group}\n{column.label}" if column.group else column.label
        made.add_column(label, justify="right" if column.numeric else "left", vertical="bottom")
    for row in table.rows:
        made.add_row(*(_entry(entry) for entry in row))
    return made


def _entry(entry: Entry) -> str:
    from rich.markup import escape

    text = escape(entry.text)
    return text if entry.n is None else f"{text} [dim]{entry.n:,}[/]"
