"""How commands speak: JSON on standard output when asked, tables and progress on the terminal otherwise."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from rebind.types import Progress

if TYPE_CHECKING:
    from rich.console import Console

JSON_OPTION = typer.Option(False, "--json", help="Print the data as JSON on standard output.")


def console() -> Console:
    """Where people read: standard error, so that standard output stays clean for data."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def emit(value: Any) -> None:
    """Prints a value as JSON on standard output."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False, default=str))


@contextmanager
def progress(title: str) -> Iterator[Progress]:
    """A progress bar with elapsed and remaining time on standard error; plain lines where that is no terminal."""
    screen = console()
    if not screen.is_terminal:
        yield _plain(screen, title)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[word]}"),
    )
    with Bar(*columns, console=screen) as bar:
        task = bar.add_task(title, total=None, word="")
        yield lambda word, done, total: bar.update(task, completed=done, total=total, word=word)


def _plain(screen: Console, title: str) -> Progress:
    """About twenty lines over each part of the work, for logs."""
    began = time.monotonic()
    part, before, last, twentieth = began, 0, -1, -1
    """When the part under way began, and what was done of it then: an earlier run's work took none of this one's
    time."""

    def advance(word: str, done: int, total: int) -> None:
        nonlocal part, before, last, twentieth
        now = time.monotonic()
        if last < 0 or done < last:
            part, before, twentieth = now, done, -1
        last = done
        if twentieth == (twentieth := done * 20 // max(total, 1)):
            return
        left = f", about {(now - part) / (done - before) * (total - done):.0f} s left" if before < done < total else ""
        line = f"{title}: {done}/{total} after {now - began:.0f} s{left}  {word}".rstrip()
        screen.print(line, markup=False, soft_wrap=True)

    return advance


def screen() -> Console:
    """Standard output, for what is no plain table."""
    from rich.console import Console

    return Console(highlight=False, markup=False)


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A table on standard output."""
    from rich.console import Console
    from rich.table import Table

    made = Table(title=title, title_justify="left", show_edge=False, pad_edge=False)
    for n, name in enumerate(columns):
        numeric = bool(rows) and all(isinstance(row[n], int | float) for row in rows)
        made.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        made.add_row(*("–" if value is None else str(value) for value in row))
    Console(highlight=False, markup=False).print(made)  # a cell may hold square brackets


def show(result: Any, shown: Sequence[tuple[str, list[str], list[list[str]]]], as_json: bool) -> None:
    """A result as JSON where asked for, else as its tables: (title, columns, rows) each."""
    if as_json:
        emit(result)
        return
    for title, columns, rows in shown:
        table(title, columns, rows)


def facts(title: str, values: Mapping[str, Any]) -> None:
    """Names and values, one a line, on standard output."""
    width = max((len(k) for k in values), default=0)
    typer.echo(title)
    for key, value in values.items():
        typer.echo(f"  {key:<{width}}  {'–' if value is None else value}")
