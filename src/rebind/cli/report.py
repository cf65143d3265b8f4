"""`rebind report`: everything a run shows, recomputed from its ledger."""

from __future__ import annotations

from pathlib import Path

import typer

from rebind.cli.output import JSON_OPTION, console
from rebind.cli.runs import here, report_folder
from rebind.errors import UserError


def report(
    runs: list[Path] = typer.Argument(
        ..., help="Run folder or URL; with --compare two or more, the first as reference."
    ),
    out: Path | None = typer.Option(None, "--out", help="Folder for HTML, CSV and LaTeX; RUN/report by default."),
    compare: bool = typer.Option(False, "--compare", help="Compare runs, paired on target, seed and condition."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Recompute the report from the ledger: tables here, and HTML, CSV and LaTeX files."""
    if compare:
        publish_comparison([here(run) for run in runs], out or report_folder(runs[0]) / "compare", as_json)
        return
    if len(runs) > 1:
        raise UserError(f"a report is of one run, got {len(runs)}: with --compare they are set side by side")
    publish(here(runs[0]), out or report_folder(runs[0]), as_json)


def publish_comparison(runs: list[Path], out: Path, as_json: bool) -> None:
    """Compares runs, writes the page and its tables, and prints them."""
    from rich.console import Console

    from rebind.eval.compare import compare
    from rebind.eval.report.compare_forms import print_comparison, write_comparison

    made = compare(runs)
    page = write_comparison(made, out)
    if as_json:
        typer.echo(made.model_dump_json(indent=2))
    else:
        print_comparison(made, Console(highlight=False))
    console().print(f"comparison: {page.resolve()}", markup=False, soft_wrap=True)


def publish(run: Path, out: Path, as_json: bool) -> None:
    """Builds a run's report, writes its files, and prints it."""
    from rich.console import Console

    from rebind.eval.report import build, print_report, to_json, write_csv, write_html, write_latex

    made = build(run)
    out.mkdir(parents=True, exist_ok=True)
    write_csv(made, out)
    write_latex(made, out)
    page = write_html(made, out / "report.html")
    if as_json:
        typer.echo(to_json(made))
    else:
        print_report(made, Console(highlight=False))
    console().print(f"report: {page.resolve()}", markup=False, soft_wrap=True)
