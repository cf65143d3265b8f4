"""`rebind bench`: measurements that back the claims in the documentation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from rebind.cli.output import JSON_OPTION, emit, facts, progress, table

app = typer.Typer(help="Measure what Rebind claims about itself.", no_args_is_help=True)
osu = typer.Typer(help="Overlapping semantic units against every baseline (OSU-Mem).", no_args_is_help=True)
app.add_typer(osu, name="osu")
DATA = typer.Option(..., "--data", help="Folder of the real data.")


@app.command()
def crash(
    kills: int = typer.Option(20, "--kills", min=1, help="How often the run is killed, at random moments."),
    seed: int = typer.Option(0, "--seed", help="Of the random moments."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Kill a run (kill -9) at random moments and resume it; compare with a run nobody killed."""
    from rebind.eval.bench.crash import run

    with progress("crash") as bar:
        result = run(kills=kills, seed=seed, progress=bar)
    emit(result) if as_json else facts("Crash", result)


@app.command()
def tamper(
    edits: int = typer.Option(1000, "--edits", min=1, help="How many edits to try, each on a fresh copy."),
    seed: int = typer.Option(0, "--seed", help="Of the random edits."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Edit a finished ledger in every way and count what verification finds."""
    from rebind.eval.bench.tamper import run

    with progress("tamper") as bar:
        result = run(edits=edits, seed=seed, progress=bar)
    emit(result) if as_json else facts("Tamper", result)


@osu.command()
def synthetic(
    seeds: int = typer.Option(10, "--seeds", min=1, help="Seeds 0 to N-1, 200 episodes each."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Run the synthetic benchmark: evidence that shares an entity by construction."""
    from rebind.eval.bench.osu.synthetic import run_synthetic
    from rebind.eval.bench.osu.synthetic_tables import tables

    with progress("synthetic") as bar:
        result = run_synthetic(range(seeds), lambda done, total: bar("seeds", done, total))
    _show(result, tables(result), as_json)


@osu.command()
def tau(data: Path = DATA, as_json: bool = JSON_OPTION) -> None:
    """Run the benchmark on recorded tau-bench runs: cells, budgets, augmented cache, router."""
    from rebind.eval.bench.osu.tau import run_tau
    from rebind.eval.bench.osu.tau_tables import tables

    with progress("tau") as bar:
        result = run_tau(data, lambda done, total: bar("stages", done, total))
    _show(result, tables(result), as_json)


@osu.command()
def toolbench(data: Path = DATA, as_json: bool = JSON_OPTION) -> None:
    """Run the planted retrieval on ToolBench trajectories."""
    from rebind.eval.bench.osu.toolbench import run_toolbench
    from rebind.eval.bench.osu.toolbench_tables import tables

    with progress("toolbench") as bar:
        result = run_toolbench(data, lambda done, total: bar("seeds", done, total))
    _show(result, tables(result), as_json)


@osu.command()
def speed(as_json: bool = JSON_OPTION) -> None:
    """Time retrieval, building and appending beside flat and MMR retrieval, in one run."""
    from rebind.eval.bench.osu.speed import run_speed, tables

    with progress("speed") as bar:
        result = run_speed(lambda done, total: bar("parts", done, total))
    _show(result, tables(result), as_json)


def _show(result: dict[str, Any], shown: list[tuple[str, list[str], list[list[str]]]], as_json: bool) -> None:
    if as_json:
        emit(result)
        return
    for title, columns, rows in shown:
        table(title, columns, rows)
