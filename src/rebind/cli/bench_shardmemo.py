"""`rebind bench shardmemo`: ShardMemo's evidence half, measured."""

from __future__ import annotations

from pathlib import Path

import typer

from rebind.cli.output import JSON_OPTION, progress, show

app = typer.Typer(help="Scope before routing: sharded evidence memory (ShardMemo).", no_args_is_help=True)
_CHECKPOINTS = typer.Option(None, "--checkpoints", help="Folder where trained routers are kept and taken from.")


@app.command()
def locomo(
    data: Path = typer.Option(..., "--data", help="LoCoMo's file, locomo10.json.gz."),
    seeds: int = typer.Option(3, "--seeds", min=1, help="Seeds 0 to N-1 of trained routers."),
    sweeps: bool = typer.Option(True, help="Also shard counts, label noise and adaptive Top-P (Tables 4, 5, 10-12)."),
    papers: bool = typer.Option(True, help="Also the paper's router, whose training takes most of the time."),
    checkpoints: Path | None = _CHECKPOINTS,
    model: str | None = typer.Option(None, "--model", help="Also answer with this model, and score F1 and BLEU-1."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Routers and ablations on LoCoMo: ShardHit, vectors scanned, evidence recall."""
    from rebind.eval.bench.shardmemo.locomo import run_locomo
    from rebind.eval.bench.shardmemo.locomo_tables import tables
    from rebind.eval.models import open_model

    with progress("locomo") as bar, open_model(model) as named:
        result = run_locomo(
            data,
            range(seeds),
            bar,
            sweeps=sweeps,
            papers=papers,
            checkpoints=checkpoints,
            reader=None if named is None else (named.model, named.name),
        )
    show(result, tables(result), as_json)


@app.command()
def hotpot(
    data: Path = typer.Option(..., "--data", help="Folder of the real data, or the sample's file."),
    tokens: int = typer.Option(56_000, "--tokens", min=1_000, help="Length of a question's context."),
    model: str | None = typer.Option(None, "--model", help="Also answer with this model, and score F1 and BLEU-1."),
    as_json: bool = JSON_OPTION,
) -> None:
    """HotpotQA questions at long contexts: scope admits the documents of a question's own context."""
    from rebind.eval.bench.shardmemo.hotpot import run_hotpot, tables
    from rebind.eval.models import open_model

    with progress("hotpot") as bar, open_model(model) as named:
        answering = None if named is None else named.model
        result = run_hotpot(
            data, tokens=tokens, model=answering, model_name="" if named is None else named.name, progress=bar
        )
    show(result, tables(result), as_json)


@app.command()
def banking(
    data: Path = typer.Option(..., "--data", help="Folder of the real data, or of the domain's files."),
    as_json: bool = JSON_OPTION,
) -> None:
    """τ²-bench's banking documents, with topic namespaces as scope."""
    from rebind.eval.bench.shardmemo.banking import run_banking, tables

    with progress("banking") as bar:
        result = run_banking(data, progress=bar)
    show(result, tables(result), as_json)


@app.command()
def scope(
    sizes: str = typer.Option("20000,100000,1000000", "--sizes", help="How many vectors, with commas between."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Scope before search against HNSW with a selector and against a post-filter; look-alike tenants."""
    from rebind.errors import UserError
    from rebind.eval.bench.shardmemo.scope import run_scope, tables

    if not all(one.strip().isdigit() and int(one) >= 1000 for one in sizes.split(",")):
        raise UserError(f"--sizes {sizes!r}: give whole numbers of at least 1000 with commas between, as 20000,100000")
    with progress("scope") as bar:
        result = run_scope([int(one) for one in sizes.split(",")], bar)
    show(result, tables(result), as_json)


@app.command()
def scale(
    shards: int = typer.Option(10_000, "--shards", min=200, help="How many shards."),
    items: int = typer.Option(1_000_000, "--items", min=2_000, help="How many items."),
    queries: int = typer.Option(1_000, "--queries", min=1, help="How many random scopes."),
    folder: Path | None = typer.Option(None, "--folder", help="Keep the store here; temporary if not given."),
    as_json: bool = JSON_OPTION,
) -> None:
    """The whole read path on 10,000 shards and 1,000,000 items; memory of eight processes at once."""
    from rebind.eval.bench.shardmemo.scale import run_scale, tables

    with progress("scale") as bar:
        result = run_scale(shards, items, queries, folder=folder, progress=bar)
    show(result, tables(result), as_json)


@app.command()
def permissions(
    changes: int = typer.Option(10_000, "--changes", min=1, help="How many changes, a read after each."),
    seed: int = typer.Option(0, "--seed", help="Of the random changes."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Random grants, revocations, relabelling and deletions between reads; leaks and the audit trail."""
    from rebind.eval.bench.shardmemo.permissions import run_permissions, tables

    with progress("permissions") as bar:
        result = run_permissions(changes, seed, bar)
    show(result, tables(result), as_json)
