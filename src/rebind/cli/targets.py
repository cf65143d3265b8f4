"""`rebind targets`: build, check and look at binding-shift targets."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import typer

from rebind.cli.output import JSON_OPTION, console, emit, facts, progress, table
from rebind.errors import UserError

_FREE = ("Apache-2.0", "MIT")
"""Licences of data that need no word of acceptance to be used."""
app = typer.Typer(help="Build target tasks whose bindings shift from their source's.", no_args_is_help=True)


@app.command()
def build(  # noqa: PLR0913, PLR0917 — one parameter an option
    out: Path | None = typer.Option(None, "--out", help="Folder of the new targets; with --from, a file of pairs."),
    bank: Path | None = typer.Option(None, "--bank", help="Frozen bank to make targets from."),
    env: str | None = typer.Option(None, "--env", help="With --paper-scale: the environment to build a bank of, too."),
    paper_scale: bool = typer.Option(
        False,
        "--paper-scale",
        help="Build its bank too, at the paper's scale (records/targets: apps 194/745, sites 228/874, desk 201/772).",
    ),
    workers: int = typer.Option(2, "--workers", min=1, help="Processes."),
    from_: str | None = typer.Option(None, "--from", help="Pairs of a benchmark: webarena, workarena, tau-bench."),
    data: Path | None = typer.Option(None, "--data", help="With --from: its tasks, where not from `rebind data get`."),
    dry_run: bool = typer.Option(False, "--dry-run", help="With --from: count the pairs, write nothing."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Make up to four targets a record, one a shift level, and keep those that pass every check.

    With --from, pair the tasks of another benchmark that fill one template with different bindings.
    """
    if from_ is not None:
        if bank or env or paper_scale or dry_run == (out is not None):
            raise UserError("with --from NAME give either --dry-run or --out FILE; beside these only --data PATH")
        _pairs(from_, data or _tasks_of(from_), out, as_json)
        return
    if out is None or data or dry_run:
        raise UserError("give --out FOLDER; --data and --dry-run go with --from NAME")
    if paper_scale == (bank is not None) or paper_scale != (env is not None):
        raise UserError("give either --bank BANK, or --paper-scale with --env NAME")
    _build(out, bank, env, workers, as_json)


def _build(out: Path, bank: Path | None, env: str | None, workers: int, as_json: bool) -> None:
    from rebind.banks.paper import build_paper_scale
    from rebind.banks.shift import build_targets
    from rebind.banks.shipped import locate

    with progress("targets") as bar:
        if bank is not None:
            built = build_targets(locate(bank), out, workers=workers, progress=bar)
        else:
            built = build_paper_scale(env or "", out, workers=workers, progress=bar)
    result = {**asdict(built), "path": str(built.path)}
    if as_json:
        emit(result)
        return
    facts("Targets", {k: v for k, v in result.items() if not isinstance(v, dict)})
    table("By shift level", ("level", "targets"), list(built.by_level.items()))
    table("Not kept", ("reason", "attempts"), list(built.rejected.items()))


def _tasks_of(name: str) -> Path:
    """The cached data of a benchmark; brought there first where it is not, its licence shown."""
    from rebind.envs.adapters.datasets import dataset
    from rebind.envs.adapters.download import get

    one = dataset(name)
    if one.state() == "complete":
        return one.folder

    def show(licence: str) -> bool:
        console().print(licence, markup=False)
        if one.licence not in _FREE:
            raise UserError(f"the data of {name} comes under {one.licence}: accept it with `rebind data get {name}`")
        return True

    with progress(f"data {name}") as bar:
        return get(one, show, bar)


def _pairs(name: str, data: Path, out: Path | None, as_json: bool) -> None:
    from rebind.banks.files import write_lines
    from rebind.envs.adapters.benchmarks import load
    from rebind.envs.adapters.instances import count, one_a_level

    instances = load(name, data)
    result = count(instances)
    if out is not None:
        made = [pair.row() for pair in one_a_level(instances)]
        unfinished = out.with_name(f".{out.name}.unfinished")
        write_lines(unfinished, made)
        unfinished.replace(out)
        result |= {"written": len(made), "path": str(out)}
    if as_json:
        emit(result)
        return
    facts(f"Pairs of {name}", {k: v for k, v in result.items() if not isinstance(v, dict)})
    table("By shift level", ("level", "ordered pairs"), list(result["by_level"].items()))


@app.command()
def push(
    targets: Path = typer.Argument(..., help="Targets folder, or `shipped:NAME`."),
    url: str = typer.Argument(..., help="Where they go, such as s3://BUCKET/FOLDER."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Send targets to shared storage; every command and study takes their URL in place of the folder."""
    from rebind.banks.remote import push as push_folder
    from rebind.banks.shipped import locate

    sent = {"url": url, "digest": push_folder(locate(targets), url)}
    emit(sent) if as_json else facts("Pushed targets", sent)


@app.command()
def verify(
    targets: Path = typer.Argument(..., help="Targets folder, or `shipped:NAME`."),
    bank: Path | None = typer.Option(None, "--bank", help="Where the bank lies now, if it was moved."),
    workers: int = typer.Option(1, min=1, help="Processes, each with an environment of its own."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Check files and every target again in the real environment; exit code 1 if any is invalid."""
    from rebind.banks.revalidate import verify_targets
    from rebind.banks.shipped import locate

    with progress("verify") as bar:
        where = locate(bank) if bank else None
        found = verify_targets(locate(targets), bank_path=where, workers=workers, progress=bar)
    emit(asdict(found)) if as_json else facts("Verification", asdict(found))
    if found.invalid:
        raise typer.Exit(1)


@app.command()
def show(
    targets: Path = typer.Argument(..., help="Targets folder, or `shipped:NAME`."),
    key: str | None = typer.Argument(None, help="A target, by the start of its key; without it, all are listed."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Put a target beside its source: changed bindings, old and new values."""
    from rebind.banks.compare import side_by_side
    from rebind.banks.shipped import locate
    from rebind.banks.targets import TargetSet

    opened = TargetSet.open(locate(targets))
    if key is None:
        rows = [(t.task.key[:16], t.seal.level, t.seal.family, t.task.goal) for t in opened.targets()]
        if as_json:
            emit([dict(zip(("key", "level", "family", "goal"), row, strict=True)) for row in rows])
        else:
            table(f"{targets}: {len(rows)} targets", ("key", "level", "family", "goal"), rows)
        return
    pair = side_by_side(opened, key)
    if as_json:
        emit(
            {
                **asdict(pair),
                "changed": [asdict(c) for c in pair.changed],
                "same": [b.model_dump(mode="json") for b in pair.same],
            }
        )
        return
    goals = {"source": pair.source_goal, "target": pair.target_goal, "workflow": pair.workflow}
    facts(f"{pair.family}, {pair.level}", goals)
    rows_changed = [(c.name, c.kind, c.source, c.target) for c in pair.changed]
    table("Changed bindings", ("binding", "kind", "source", "target"), rows_changed)
    table("Same bindings", ("binding", "kind", "value"), [(b.name, b.kind, b.value) for b in pair.same])
