"""`rebind study`: plan and run a study file."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from rebind.banks.storage import url_of
from rebind.cli.output import JSON_OPTION, emit, facts, progress, screen, table
from rebind.cli.runs import here
from rebind.errors import UserError

app = typer.Typer(help="Plan and run a study.", no_args_is_help=True)
STUDY = typer.Argument(..., help="Study file (TOML).")


@app.command()
def plan(study: Path = STUDY, as_json: bool = JSON_OPTION) -> None:
    """Print the cells and an estimate of calls, tokens and cost, before anything is spent."""
    from rebind.banks.store import Bank
    from rebind.eval.models import check_limits
    from rebind.eval.plan import estimate, make_plan
    from rebind.eval.study import load_study

    made = make_plan(load_study(study))
    check_limits(made.study)
    expected = estimate(made, Bank.open(made.study.bank.path))
    if as_json:
        emit({"study": made.study.name, "cells": [c.id for c in made.cells], "estimate": asdict(expected)})
        return
    levels: dict[str, int] = {}
    for target in made.targets:
        levels[str(target.seal.level)] = levels.get(str(target.seal.level), 0) + 1
    facts(
        f"Study {made.study.name}",
        {
            "targets": len(made.targets),
            "conditions": ", ".join(made.study.conditions),
            "seeds": ", ".join(map(str, made.study.seeds)),
            "actor": made.study.model.actor,
            **asdict(expected),
        },
    )
    table("Targets by shift level", ("level", "targets"), list(levels.items()))


@app.command()
def run(
    study: Path = STUDY,
    out: Path | None = typer.Option(
        None, "--out", help="Run folder or URL, runs/NAME by default; an interrupted run resumes."
    ),
    as_json: bool = JSON_OPTION,
) -> None:
    """Run a study to its end, or resume it; then print its report's location."""
    from rebind.eval.study import load_study

    loaded = load_study(study)
    summary = execute(loaded, out or Path("runs") / loaded.name)
    emit(summary) if as_json else facts(f"Run {loaded.name}", summary)


@app.command()
def watch(
    run: Path = typer.Argument(..., help="Run folder, which need not exist yet; or, for one frame, a URL."),
    once: bool = typer.Option(False, "--once", help="Print one frame and end."),
    as_json: bool = typer.Option(False, "--json", help="Print one frame as JSON and end."),
) -> None:
    """Watch a run from another terminal, from its ledger alone, until it is finished."""
    from rebind.cli.watching import draw, live
    from rebind.eval.watch import Watch

    if url_of(run) and not (once or as_json):
        raise UserError(f"{url_of(run)}: a run on shared storage is looked at with --once or --json")
    seen = Watch(here(run))

    def frame() -> dict[str, Any]:
        seen.refresh()
        return seen.frame()

    if as_json:
        emit(frame())
    elif once:
        screen().print(draw(frame()))
    else:
        live(screen(), frame)


def execute(study: Any, folder: Path) -> dict[str, Any]:
    """Runs a study with a progress bar; what happened, as data."""
    from rebind.eval.mirror import written_here
    from rebind.eval.plan import make_plan
    from rebind.eval.runner import run_study

    made = make_plan(study)
    with written_here(folder) as own, progress(study.name) as bar:
        summary = run_study(made, own, bar)
    return {
        "run": url_of(folder) or str(folder),
        "cells": summary.cells,
        "resumed": summary.resumed,
        "outcomes": summary.outcomes,
    }
