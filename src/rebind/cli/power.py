"""`rebind power`: how large a study must be, from a pilot run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from rebind.cli.output import JSON_OPTION, emit, table
from rebind.cli.runs import here

if TYPE_CHECKING:
    from rebind.eval.power import Power


def power(
    pilot: Path = typer.Argument(..., help="Run folder of a pilot, or its URL.", callback=here),
    effect: float = typer.Option(5.0, "--effect", help="Effect to find: points for shares, else the metric's unit."),
    wanted: float = typer.Option(0.8, "--power", help="Chance of finding it."),
    metric: str = typer.Option("success", "--metric", help="success, milestone, stale_binding, api_calls or online."),
    alpha: float = typer.Option(0.05, "--alpha", help="Level of the two-sided test."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Tell how many source trajectories, targets and seeds each contrast needs to find an effect."""
    from rebind.eval.frames import load_run
    from rebind.eval.power import needed, wish

    asked = wish(metric, effect, wanted, alpha)
    run = load_run(pilot)
    found = needed(run, asked)
    simulated = bool(run.plan["simulated"])
    if as_json:
        emit({"simulated": simulated, **asked.model_dump(), "contrasts": [p.model_dump() for p in found]})
        return
    if simulated:
        typer.echo("SIMULATED MODEL: the pilot was a test of the harness; so is what follows\n")
    for contrast in found:
        _show(contrast, effect, wanted)


def _show(found: Power, effect: float, wanted: float) -> None:
    from rebind.eval.metrics import SHARES
    from rebind.eval.power import grid

    name = f"{found.condition} − {found.reference} on {found.metric}"
    if found.reason:
        typer.echo(f"{name}: {found.reason}\n")
        return
    title = f"{name}: for an effect of {effect:g} with power {wanted:g}"
    columns = ("seeds", "sources", "targets", "episodes", "sources, cautious", "sources, Holm")
    table(title, columns, [(n.seeds, n.sources, n.targets, n.episodes, n.cautious, n.holm) for n in found.needs])
    seeds, rows = grid(found)
    names = ("sources", "targets", *(f"{k} seed{'s' if k > 1 else ''}" for k in seeds))
    table("Power", names, [(s, t, *(round(p, 2) for p in each)) for s, t, each in rows])
    scale, unit = (100, " points") if found.metric in SHARES else (1, "")
    smallest = "–" if found.detectable is None else f"{scale * found.detectable:,.1f}{unit}"
    typer.echo(f"A study of the pilot's size ({found.pilot_sources} sources) finds {smallest} with that power.")
    if len(seeds) == 1:
        typer.echo("The pilot has one seed a target: what more seeds would bring cannot be told from it.")
    typer.echo("")
