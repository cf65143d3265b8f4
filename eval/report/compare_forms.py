"""The forms of a comparison of runs: tables, terminal, one HTML page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import JsonValue

from rebind.eval.compare import Comparison, Difference, Kind, Side
from rebind.eval.metrics import METRICS
from rebind.eval.report import format as fmt
from rebind.eval.report.files import table_csv, write_whole
from rebind.eval.report.model import Column, Entry, Table
from rebind.eval.report.page import _environment
from rebind.eval.report.terminal import parts

if TYPE_CHECKING:
    from rich.console import Console

_WIDEST = 100
"""Columns of the terminal that a table takes at most."""
_PAGE_ONLY = ("outcome_milestone", "outcome_api_calls", "gain_online")
_PAGE_COLUMNS = ("bootstrap", "clusters", "pairs", "last")
_LONGEST = 60
"""Characters of a lock's value that are shown."""
_EFFECT_CAPTION = (
    "Paired on target and seed within a condition, over the targets both runs have. Shares in percentage points. "
    "Cluster-robust interval (t over source trajectories), BCa bootstrap, sign-flip test over source trajectories, "
    "Holm across conditions. Small figures: paired targets."
)


def tables(made: Comparison) -> list[Table]:
    """Every table that has a row, in reading order."""
    found = [_runs(made.sides), _success(made.sides), *(_differences(made, "outcome", m) for m in METRICS)]
    found += [_differences(made, "gain", m) for m in ("success", "online")]
    found += [_by_level(made), _selections(made.sides), _lock(made)]
    return [t for t in found if t.rows]


def print_comparison(made: Comparison, console: Console) -> None:
    """Prints a comparison, in short: the page has every table and column."""
    from rich.markup import escape

    if made.simulated:
        console.print("[bold reverse] SIMULATED MODEL: harness test, not a result [/]\n")
    width = min(console.width, _WIDEST)
    sides = " · ".join(side.label for side in made.sides)
    console.print(f"[bold]{escape(sides)}[/]: paired on target, seed and condition", width=width)
    for note in made.notes:
        console.print(f"[yellow]![/] {escape(note)}", width=width)
    for table in tables(made):
        if table.id in _PAGE_ONLY:
            continue
        console.print(f"\n[bold]{escape(table.title)}[/]", width=width)
        for part in parts(_brief(table), width):
            console.print(part)
        console.print(f"[dim]{escape(table.caption)}[/]", width=width)


def _brief(table: Table) -> Table:
    """A table without the columns that only the page has."""
    kept = [n for n, column in enumerate(table.columns) if column.key not in _PAGE_COLUMNS]
    return table.model_copy(
        update={
            "columns": tuple(table.columns[n] for n in kept),
            "rows": tuple(tuple(row[n] for n in kept) for row in table.rows),
        }
    )


def write_comparison(made: Comparison, folder: Path) -> Path:
    """Writes the page and a CSV file per table; returns the page's path."""
    for table in tables(made):
        write_whole(folder / f"{table.id}.csv", table_csv(table))
    return write_whole(folder / "compare.html", comparison_html(made))


def comparison_html(made: Comparison) -> str:
    """The page as text: self-contained, no script, no network."""
    shown = tables(made)
    return (
        _environment()
        .get_template("compare.html")
        .render(c=made, tables=shown, number={t.id: n for n, t in enumerate(shown, 1)})
    )


def _column(key: str, label: str, group: str = "", *, numeric: bool = True) -> Column:
    return Column(key=key, label=label, group=group, numeric=numeric)


def _runs(sides: Sequence[Side]) -> Table:
    columns = (
        _column("run", "Run", numeric=False),
        _column("model", "Actor", numeric=False),
        _column("ranker", "Ranker", numeric=False),
        _column("targets", "Targets"),
        _column("shared", "Shared"),
        _column("seeds", "Shared seeds", numeric=False),
        _column("same", "Same record"),
        _column("lock", "Lock", numeric=False),
        _column("last", "Ledger ends", numeric=False),
    )
    rows = tuple(
        (
            fmt.heading(s.label),
            fmt.word(s.model),
            fmt.word(s.ranker),
            fmt.count(s.targets),
            fmt.count(s.shared_targets),
            fmt.word(", ".join(map(str, s.shared_seeds))),
            fmt.count(s.same_selection),
            fmt.word(s.lock[:12]),
            fmt.word(s.last_hash[:12]),
        )
        for s in sides
    )
    caption = (
        "The first run is the reference of all others. Shared: targets that a run and the first have in common. Same "
        "record: shared targets for which both selected the same record."
    )
    return Table(id="runs", title="Runs", caption=caption, columns=columns, rows=rows)


def _success(sides: Sequence[Side]) -> Table:
    conditions = list(dict.fromkeys(c for s in sides for c in s.conditions))
    columns = (_column("run", "Run", numeric=False), *(_column(c, fmt.condition_label(c)) for c in conditions))
    dash = Entry(text=fmt.DASH)
    rows = tuple(
        (fmt.heading(s.label), *(fmt.percent(s.success[c]) if c in s.success else dash for c in conditions))
        for s in sides
    )
    caption = "Percent, over the targets shared with the first run, invalid runs excluded. Small figures: targets."
    return Table(id="success", title="Success by run and condition", caption=caption, columns=columns, rows=rows)


def _differences(made: Comparison, kind: Kind, metric: str) -> Table:
    found = [d for d in made.differences if (d.kind, d.metric, d.dimension) == (kind, metric, "all")]
    columns = (
        _column("difference_of", "Difference", numeric=False),
        _column("condition", "Condition", numeric=False),
        _column("treatment", "Invalid runs", numeric=False),
        _column("difference", "Mean"),
        _column("robust", "Cluster-robust", "95 % interval"),
        _column("bootstrap", "BCa bootstrap", "95 % interval"),
        _column("p", "p", "Sign-flip"),
        _column("holm", "Holm", "Sign-flip"),
        _column("pairs", "Pairs"),
        _column("clusters", "Sources"),
    )
    title = {"outcome": "Difference in {}", "gain": "Difference in what memory adds to {}"}[kind]
    return Table(
        id=f"{kind}_{metric}",
        title=title.format(fmt.metric_label(metric)),
        caption=_EFFECT_CAPTION + (" Of each run's own paired difference to No Memory." if kind == "gain" else ""),
        columns=columns,
        rows=tuple(_difference_row(d) for d in found),
    )


def _difference_row(d: Difference) -> tuple[Entry, ...]:
    e = d.effect
    return (
        fmt.heading(f"{d.run} {fmt.MINUS} {d.reference}"),
        fmt.word(fmt.condition_label(d.condition)),
        fmt.treatment(d.treatment),
        fmt.difference(e, d.metric),
        fmt.interval(e.robust, d.metric),
        fmt.interval(e.bootstrap, d.metric),
        fmt.p_value(e.sign_flip.p, e.sign_flip.reason),
        fmt.p_value(e.sign_flip.holm, e.sign_flip.reason),
        fmt.count(e.pairs),
        fmt.count(e.clusters),
    )


def _by_level(made: Comparison) -> Table:
    found = [d for d in made.differences if (d.kind, d.dimension, d.treatment) == ("outcome", "level", "excluded")]
    levels = list(dict.fromkeys(d.group for d in found))
    by = {(d.run, d.condition, d.group): d for d in found}
    heads = list(dict.fromkeys((d.run, d.reference, d.condition) for d in found))
    columns = [_column("difference_of", "Difference", numeric=False), _column("condition", "Condition", numeric=False)]
    for level in levels:
        group = f"{level.capitalize()} shift"
        columns += [_column(f"{level}.mean", "Mean", group), _column(f"{level}.interval", "95 % interval", group)]
    rows = []
    for run, reference, condition in heads:
        row = [fmt.heading(f"{run} {fmt.MINUS} {reference}"), fmt.word(fmt.condition_label(condition))]
        for level in levels:
            effect = by[run, condition, level].effect
            row += [fmt.difference(effect), fmt.interval(effect.robust)]
        rows.append(tuple(row))
    caption = "Percentage points, invalid runs excluded; cluster-robust intervals. Small figures: paired targets."
    return Table(
        id="by_level",
        title="Difference in Success by binding shift",
        caption=caption,
        columns=tuple(columns),
        rows=tuple(rows),
    )


def _selections(sides: Sequence[Side]) -> Table:
    columns = (
        _column("run", "Run", numeric=False),
        _column("ranker", "Ranker", numeric=False),
        _column("paired", "Paired", "Selected"),
        _column("usable", "Usable", "Selected"),
        _column("paired_k", "Paired", "Among the candidates"),
        _column("usable_k", "Usable", "Among the candidates"),
    )
    rows = tuple(
        (
            fmt.heading(s.label),
            fmt.word(s.ranker),
            fmt.percent(s.retrieval.chosen_paired),
            fmt.percent(s.retrieval.chosen_usable),
            fmt.percent(s.retrieval.paired_at_k),
            fmt.percent(s.retrieval.usable_at_k),
        )
        for s in sides
    )
    caption = (
        "Percent of shared targets. Paired: the record the target was made from. Usable: a record of the same task "
        "family and environment, by the seals. Small figures: targets."
    )
    return Table(id="selections", title="Selection", caption=caption, columns=columns, rows=rows)


def _lock(made: Comparison) -> Table:
    labels = [s.label for s in made.sides]
    columns = (_column("where", "Place", numeric=False), *(_column(n, n, numeric=False) for n in labels))
    rows = tuple(
        (fmt.heading(d.where), *(fmt.word(_short(d.values.get(label))) for label in labels)) for d in made.lock
    )
    caption = "Every place at which the study locks differ; long values are cut. A dash: not in that lock, or null."
    return Table(id="lock", title="What differs between the locks", caption=caption, columns=columns, rows=rows)


def _short(value: JsonValue) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    digest_like = len(text) == 64 and all(c in "0123456789abcdef" for c in text)
    return text[:12] if digest_like else text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
