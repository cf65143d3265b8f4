"""`rebind envs`: which environments there are, and proof that their tasks are sound."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from rebind.cli.output import JSON_OPTION, emit, facts, progress, table
from rebind.errors import UserError
from rebind.types import Checked, Installable, World

app = typer.Typer(help="List and check environments.", no_args_is_help=True)


@app.command("list")
def list_(as_json: bool = JSON_OPTION) -> None:
    """List environments, what each needs, and whether it can run on this machine."""
    from rebind.envs import names, world

    rows = [_row(world(name)) for name in names()]
    if as_json:
        emit(rows)
        return
    columns = ("name", "id", "families", "needs", "runs here")
    shown = [(r["name"], r["env_id"], r["families"], r["needs"], r["why_not"] or "yes") for r in rows]
    table("Environments", columns, shown)


def _row(world: World) -> dict[str, Any]:
    needs, why_not = (world.needs, world.unavailable()) if isinstance(world, Checked) else ("", None)
    return {
        "name": world.name,
        "env_id": world.env_id,
        "families": len(world.families()),
        "needs": needs,
        "available": why_not is None,
        "why_not": why_not,
    }


@app.command()
def install(env: str = typer.Argument(..., help="An environment that is another package, e.g. tau2.")) -> None:
    """Make the virtual environment that an environment of another package runs in, in the user's cache."""
    from rebind.envs import world

    one = world(env)
    if not isinstance(one, Installable):
        raise UserError(f"the environment {env!r} needs no installing of its own: {getattr(one, 'needs', '')}")
    facts(f"{env}", {"installed": one.install()})


@app.command()
def check(
    env: str = typer.Argument(..., help="Environment, as `rebind envs list` names it."),
    family: list[str] = typer.Option([], "--family", help="Only this family; may be given several times."),
    seeds: int = typer.Option(3, "--seeds", min=1, help="Source tasks per family."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Prove every family: nothing done fails, the oracle passes, replaying the source on a shifted target fails."""
    from rebind.envs import world

    one = world(env)
    if not isinstance(one, Checked):
        raise UserError(f"the environment {env!r} comes from another package and has no check of its own")
    why_not = one.unavailable()
    if why_not:
        raise UserError(f"the environment {env!r} cannot run here: {why_not}")
    with progress(f"check {env}") as bar:
        result = one.check(family or None, range(seeds), bar)
    if as_json:
        emit(result)
    else:
        facts(f"{env}", {k: v for k, v in result.items() if k != "failures"})
        table("Failures", ("what",), [(f,) for f in result["failures"]])
    if result["failures"]:
        raise typer.Exit(1)


@app.command()
def screenshots(
    out: Path = typer.Option(Path("docs/images"), "--out", help="Folder for the pictures."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Make a picture of every application of `sites` and `desk`, with its content."""
    from rebind.envs import world
    from rebind.envs.sites.pictures import screenshots as make

    one = world("sites")
    why_not = one.unavailable() if isinstance(one, Checked) else None
    if why_not:
        raise UserError(f"the sites cannot run here: {why_not}")
    made = [str(path) for path in make(out)]
    if as_json:
        emit(made)
    else:
        table("Pictures", ("file",), [(name,) for name in made])
