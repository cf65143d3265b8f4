"""`rebind bank`: collect rollouts, freeze them, check and look at a bank."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import typer

from rebind.cli.output import JSON_OPTION, emit, facts, progress, table

app = typer.Typer(help="Collect verified rollouts and freeze them into a bank.", no_args_is_help=True)


@app.command()
def build(  # noqa: PLR0913, PLR0917  # one parameter for each option of the command
    out: Path = typer.Option(..., "--out", help="Folder for the rollouts; a stopped build resumes there."),
    env: str = typer.Option("apps", "--env", help="Environment, as `rebind envs list` names it."),
    seeds: int = typer.Option(8, "--seeds", min=1, help="Source tasks per family: seeds 0 to N-1."),
    family: list[str] = typer.Option([], "--family", help="Only this family; may be given several times."),
    model: str = typer.Option(
        "oracle", "--model", help="Who acts: `oracle` (with seeded detours), or a model by name."
    ),
    detours: float = typer.Option(
        0.15, "--detours", min=0.0, max=1.0, help="Oracle only: chance of a detour at a call."
    ),
    difficulty: Literal["all", "intermediate"] = typer.Option(
        "all", "--difficulty", help="`intermediate` drops families that a no-memory baseline always or never solves."
    ),
    workers: int = typer.Option(1, "--workers", min=1, help="Rollouts at once, each in an environment of its own."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Collect rollouts of source tasks and keep those the verifier accepts."""
    from rebind.banks.build import build as build_rollouts
    from rebind.envs import world
    from rebind.eval.rollouts import roller

    chosen = world(env)
    with roller(chosen, model, detours) as acting, progress("rollouts") as bar:
        built = build_rollouts(
            chosen,
            out,
            acting,
            seeds=range(seeds),
            families=family,
            difficulty=difficulty,
            workers=workers,
            progress=bar,
        )
    result = {"out": str(out), "rollouts": built.rollouts, "accepted": built.accepted, "families": len(built.families)}
    if as_json:
        emit({**result, "kept": list(built.families), "dropped": built.dropped})
        return
    facts("Rollouts", result)
    if built.dropped:
        table("Dropped families", ("family", "why"), list(built.dropped.items()))


@app.command()
def freeze(
    builds: list[Path] = typer.Argument(..., help="Folders made by `rebind bank build`; their rollouts are pooled."),
    out: Path = typer.Option(..., "--out", help="Folder of the new bank; must not exist."),
    encoder: str = typer.Option("all-minilm-l6-v2", "--encoder", help="Encoder: all-minilm-l6-v2 or bge-m3."),
    summaries: str | None = typer.Option(None, "--summaries", help="Model that writes the generic summaries."),
    workers: int = typer.Option(1, "--workers", min=1, help="Records whose skills are verified at once."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Write a frozen, content-addressed, read-only bank."""
    from rebind.banks.freeze import freeze as freeze_bank
    from rebind.banks.summaries import Writer
    from rebind.envs import names, world
    from rebind.eval.models import open_model

    with open_model(summaries) as writer, progress("freeze") as bar:
        frozen = freeze_bank(
            builds,
            out,
            [world(n) for n in names()],
            encoder_name=encoder,
            writer=Writer(writer.model, writer.name) if writer else None,
            workers=workers,
            progress=bar,
        )
    result = {"bank": str(frozen.path), "digest": frozen.digest, **frozen.counts}
    emit(result) if as_json else facts("Frozen bank", result)


@app.command()
def push(
    bank: Path = typer.Argument(..., help="Bank folder, or `shipped:NAME`."),
    url: str = typer.Argument(..., help="Where it goes, such as s3://BUCKET/FOLDER."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Send a frozen bank to shared storage; every command and study takes its URL in place of the folder."""
    from rebind.banks.remote import push as push_folder
    from rebind.banks.shipped import locate

    sent = {"url": url, "digest": push_folder(locate(bank), url)}
    emit(sent) if as_json else facts("Pushed bank", sent)


@app.command()
def verify(
    bank: Path = typer.Argument(..., help="Bank folder, or `shipped:NAME`."), as_json: bool = JSON_OPTION
) -> None:
    """Check every file of a bank against its manifest; exit code 1 names the first that differs."""
    from rebind.banks.shipped import locate
    from rebind.banks.store import verify as verify_bank

    differs = verify_bank(locate(bank))
    if as_json:
        emit({"bank": str(bank), "ok": differs is None, "differs": differs})
    else:
        typer.echo(f"{bank}: every file is as it was frozen" if differs is None else f"{bank}: {differs} differs")
    if differs is not None:
        raise typer.Exit(1)


@app.command()
def show(
    bank: Path = typer.Argument(..., help="Bank folder, or `shipped:NAME`."),
    record: str | None = typer.Option(None, "--record", help="Show this record whole, by the start of its id."),
    as_json: bool = JSON_OPTION,
) -> None:
    """List a bank's records, or show one whole."""
    from rebind.banks.shipped import locate
    from rebind.banks.store import Bank
    from rebind.memory.render import render

    opened = Bank.open(locate(bank))
    if record is None:
        rows = [(r.id, r.effective_actions, len(opened.skills(r.id)), r.instruction) for r in opened.records.values()]
        if as_json:
            emit({"manifest": dict(opened.manifest), "records": [r.id for r in opened.records.values()]})
        else:
            table(f"{bank}: {len(rows)} records", ("record", "actions", "skills", "instruction"), rows)
        return
    one = opened.find(record)
    if as_json:
        emit({"id": one.id, **one.model_dump(mode="json"), "summary": opened.summary(one.id)})
    else:
        typer.echo(render(one))
        typer.echo(f"\nSummary: {opened.summary(one.id) or '–'}")
