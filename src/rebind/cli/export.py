"""`rebind export`: a run in the formats of other tools."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from rebind.cli.output import JSON_OPTION, emit, facts, progress
from rebind.cli.runs import RUN

app = typer.Typer(help="Write a run in the format of another tool.", no_args_is_help=True)
FOLDER = typer.Option(..., "--out", help="Folder to write; an earlier export of the same format there is replaced.")


@app.command()
def inspect(run: Path = RUN, out: Path = FOLDER, as_json: bool = JSON_OPTION) -> None:
    """Write logs that open in `inspect view`: one per environment and condition, a sample per episode."""
    from rebind.eval.export.inspect import export

    _write(export, run, out, as_json)


@app.command()
def atif(run: Path = RUN, out: Path = FOLDER, as_json: bool = JSON_OPTION) -> None:
    """Write an Agent Trajectory Interchange Format document (Harbor) per episode."""
    from rebind.eval.export.atif import export

    _write(export, run, out, as_json)


@app.command()
def parquet(run: Path = RUN, out: Path = FOLDER, as_json: bool = JSON_OPTION) -> None:
    """Write the frames of `rebind.load_run` (episodes, attempts, targets, selections) as Parquet files."""
    from rebind.eval.export.parquet import export

    _write(export, run, out, as_json)


@app.command()
def otel(
    run: Path = RUN,
    out: Path = typer.Option(..., "--out", help="File to write; an earlier export there is replaced."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Write spans with OpenTelemetry's GenAI names as OTLP JSON lines, one line per episode."""
    from rebind.eval.export.otel import export

    _write(export, run, out, as_json)


def _write(export: Callable[..., dict[str, Any]], run: Path, out: Path, as_json: bool) -> None:
    with progress("export") as bar:
        written = export(run, out, bar)
    emit(written) if as_json else facts("Export", written)
