"""`rebind report`: everything a run shows, recomputed from its ledger."""

from __future__ import annotations

from pathlib import Path

import typer

from rebind.cli.output import JSON_OPTION, console


def report(
    run: Path = typer.Argument(..., help="Run folder."),
    out: Path | None = typer.Option(None, "--out", help="Folder for HTML, CSV and LaTeX; RUN/report by default."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Recompute the report from the ledger: tables here, and HTML, CSV and LaTeX files."""
    publish(run, out or run / "report", as_json)


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
