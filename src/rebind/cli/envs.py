"""`rebind envs`: which environments there are, and proof that their tasks are sound."""

from __future__ import annotations

import typer

from rebind.cli.output import JSON_OPTION, emit, facts, progress, table
from rebind.errors import UserError

app = typer.Typer(help="List and check environments.", no_args_is_help=True)


@app.command("list")
def list_(as_json: bool = JSON_OPTION) -> None:
    """List environments."""
    from rebind.envs import names, world

    worlds = [world(n) for n in names()]
    rows = [{"name": w.name, "env_id": w.env_id, "families": len(w.families())} for w in worlds]
    if as_json:
        emit(rows)
    else:
        table("Environments", ("name", "id", "families"), [tuple(r.values()) for r in rows])


@app.command()
def check(
    env: str = typer.Argument(..., help="Environment, as `rebind envs list` names it."),
    family: list[str] = typer.Option([], "--family", help="Only this family; may be given several times."),
    seeds: int = typer.Option(3, "--seeds", min=1, help="Source tasks per family."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Prove every family: nothing done fails, the oracle passes, replaying the source on a shifted target fails."""
    from rebind.envs import names

    if env != "apps":
        from rebind.errors import did_you_mean

        raise UserError(f"no environment named {env!r}{did_you_mean(env, names())}")
    from rebind.envs.apps.check import check as check_apps

    with progress(f"check {env}") as bar:
        result = check_apps(families=family or None, seeds=range(seeds), progress=bar)
    if as_json:
        emit(result)
    else:
        facts(f"{env}", {k: v for k, v in result.items() if k != "failures"})
        table("Failures", ("what",), [(f,) for f in result["failures"]])
    if result["failures"]:
        raise typer.Exit(1)
