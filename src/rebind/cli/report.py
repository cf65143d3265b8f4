"""`rebind report`: everything a run shows, recomputed from its ledger."""

from __future__ import annotations

from pathlib import Path

import typer

from rebind.cli.output import JSON_OPTION, console, emit


def report(
    run: Path = typer.Argument(..., help="Run folder."),
    out: Path | None = typer.Option(None, "--out", help="Folder for report.html, CSV and LaTeX; RUN/report by default."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Recompute the report from the ledger: tables here, and HTML, CSV and LaTeX files."""
    from rebind.eval.report import build, print_report, to_json, write_files

    made = build(run)
    page = write_files(made, out or run / "report")
    if as_json:
        emit(to_json(made))
    else:
        print_report(made)
    console().print(f"report: {page}", markup=False, soft_wrap=True)
