"""`rebind bench`: measurements that back the claims in the documentation."""

from __future__ import annotations

import typer

from rebind.cli.output import JSON_OPTION, emit, facts, progress

app = typer.Typer(help="Measure what Rebind claims about itself.", no_args_is_help=True)


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
