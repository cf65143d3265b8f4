"""`rebind data`: the data of other benchmarks, brought into the user's cache."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from rebind.cli.output import JSON_OPTION, console, emit, facts, progress, table

app = typer.Typer(help="Fetch the data of other benchmarks.", no_args_is_help=True)


@app.command("list")
def list_(as_json: bool = JSON_OPTION) -> None:
    """List datasets: licence, origin, size, and whether they are in the cache."""
    from rebind.envs.adapters.datasets import datasets

    rows = [
        {
            "name": one.name,
            "title": one.title,
            "licence": one.licence,
            "origin": one.origin,
            "files": len(one.files),
            "bytes": one.bytes,
            "state": one.state(),
            "path": str(one.folder),
            "note": one.note,
        }
        for one in datasets()
    ]
    if as_json:
        emit(rows)
        return
    columns = ("name", "licence", "origin", "files", "bytes", "state")
    table("Data", columns, [[row[name] for name in columns] for row in rows])


@app.command()
def get(
    name: str = typer.Argument(..., help="Dataset, as `rebind data list` names it."),
    path: Path | None = typer.Option(None, "--path", help="A local folder to take the files from."),
    accept_licence: bool = typer.Option(False, "--accept-licence", help="Accept the licence without being asked."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Bring a dataset into the user's cache; each file is checked against its pinned SHA-256. Resumable."""
    from rebind.envs.adapters.datasets import dataset
    from rebind.envs.adapters.download import get as fetch

    def accept(text: str) -> bool:
        console().print(text, markup=False)
        return accept_licence or (sys.stdin.isatty() and typer.confirm("Accept this licence?", err=True))

    one = dataset(name)
    with progress(f"data {name}") as bar:
        folder = fetch(one, accept, bar, path)
    result = {"name": name, "path": str(folder), "files": len(one.files), "bytes": one.bytes}
    emit(result) if as_json else facts(one.title, result)
