"""`rebind bench skills`: ShardMemo's skill memory, measured."""

from __future__ import annotations

from pathlib import Path

import typer

from rebind.cli.output import JSON_OPTION, progress, show

app = typer.Typer(help="Skill memory (ShardMemo, Tier C) against five baselines.", no_args_is_help=True)
_SEEDS = typer.Option(3, "--seeds", min=1, help="How often induction traces are drawn anew.")
_FIRST_HELP = "The first of the seeds they are drawn by."


@app.command()
def apps(
    instances: int = typer.Option(8, "--instances", min=2, help="Tasks of each family, 70 % of them for induction."),
    seeds: int = _SEEDS,
    first: int = typer.Option(1, "--first-seed", min=0, help=_FIRST_HELP),
    as_json: bool = JSON_OPTION,
) -> None:
    """Skills of the app world's families, executed in it and judged by its verifier."""
    from rebind.eval.bench.skills.apps import run_apps, tables

    with progress("skills apps") as bar:
        result = run_apps(instances, range(first, first + seeds), progress=bar)
    show(result, tables(result), as_json)


@app.command()
def toolbench(
    data: Path = typer.Option(..., "--data", help="Folder of the real data."),
    seeds: int = _SEEDS,
    first: int = typer.Option(7, "--first-seed", min=0, help=_FIRST_HELP),
    as_json: bool = JSON_OPTION,
) -> None:
    """Skills of recorded ToolBench runs, executed against the recorded responses."""
    from rebind.eval.bench.skills.toolbench import run_toolbench, tables

    with progress("skills toolbench") as bar:
        result = run_toolbench(data, range(first, first + seeds), progress=bar)
    show(result, tables(result), as_json)
