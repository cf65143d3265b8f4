"""A report's tables on a terminal, within its width."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rebind.eval.report.model import Column, Entry, Report, Table

if TYPE_CHECKING:
    from rich.console import Console, JustifyMethod
    from rich.table import Table as RichTable

SHORT = (
    "end_to_end",
    "effects",
    "savings",
    "utility_by_level",
    "utility_by_length_group",
    "tokens",
    "staleness",
    "retrieval",
    "endings",
)
"""The tables shown unless all are asked for."""
_WIDEST = 100
"""Columns of the terminal that a table takes at most."""
_APART = 2
"""Spaces between columns."""


def print_report(report: Report, console: Console, *, everything: bool = False) -> None:
    """Prints a report; `everything` adds the tables that say the same in another way."""
    from rich.markup import escape

    study = report.study
    width = min(console.width, _WIDEST)
    if study.simulated:
        console.print("[bold reverse] SIMULATED MODEL: harness test, not a result [/]\n")
    facts = (
        f"{study.targets:,} targets from {study.sources:,} source trajectories",
        f"{len(study.seeds)} seed{'s' if len(study.seeds) != 1 else ''}",
        f"{study.cells_ended:,} of {study.cells_planned:,} cells",
    )
    console.print(f"[bold]{escape(study.name)}[/] · {escape(study.model)} · {' · '.join(facts)}", width=width)
    for note in report.notes:
        console.print(f"[yellow]![/] {escape(note)}", width=width)
    for table in report.tables:
        if table.rows and (everything or table.id in SHORT):
            console.print(f"\n[bold]{escape(table.title)}[/]", width=width)
            for n, part in enumerate(parts(table, width)):
                console.print(*([""] if n else []), part, sep="\n")
            console.print(f"[dim]{escape(table.caption)}[/]", width=width)


def parts(table: Table, width: int) -> Iterator[RichTable]:
    """The table in as many parts as it needs to fit; each repeats the columns of words that stand first."""
    heads = _leading(table)
    room = width - sum(_width(table, n) + _APART for n in heads)
    part: list[int] = []
    used = 0
    for n in range(len(heads), len(table.columns)):
        needed = _width(table, n) + _APART
        if part and used + needed > room:
            yield _rich(table, [*heads, *part])
            part, used = [], 0
        part.append(n)
        used += needed
    yield _rich(table, [*heads, *part])


def _leading(table: Table) -> list[int]:
    numeric = [c.numeric for c in table.columns]
    return list(range(numeric.index(True) if True in numeric else 1))


def _width(table: Table, n: int) -> int:
    shared = _shared(table, n)
    lines = [*_label(table.columns[n], shared).split("\n"), *(_plain(row[n], shared) for row in table.rows)]
    return max(len(line) for line in lines)


def _shared(table: Table, n: int) -> int | None:
    """The denominator that all numbers of a column have in common: it stands in the heading then."""
    counts = {row[n].n for row in table.rows}
    return counts.pop() if len(counts) == 1 else None


def _label(column: Column, shared: int | None) -> str:
    count = [] if shared is None else [f"n {shared:,}"]
    return "\n".join([*([column.group] if column.group else []), column.label, *count])


def _plain(entry: Entry, shared: int | None) -> str:
    return entry.text if entry.n is None or entry.n == shared else f"{entry.text} ({entry.n:,})"


def _rich(table: Table, columns: list[int]) -> RichTable:
    """Some columns of a table; a denominator stands dim in brackets beside its number."""
    from rich.markup import escape
    from rich.table import Table as RichTable

    made = RichTable(box=None, padding=(0, _APART, 0, 0), pad_edge=False, header_style="bold")
    for n in columns:
        column, shared = table.columns[n], _shared(table, n)
        justify: JustifyMethod = "right" if column.numeric else "left"
        made.add_column(escape(_label(column, shared)), justify=justify, vertical="bottom", no_wrap=True)
    before = ""
    for row in table.rows:
        cells = [_entry(row[n], _shared(table, n)) for n in columns]
        made.add_row("" if row[0].text == before else cells[0], *cells[1:])
        before = row[0].text
    return made


def _entry(entry: Entry, shared: int | None) -> str:
    from rich.markup import escape

    text = escape(entry.text)
    return text if entry.n is None or entry.n == shared else f"{text} [dim]({entry.n:,})[/]"
