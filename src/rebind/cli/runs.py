"""How commands take a run: a folder of this machine, or a URL of shared storage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from rebind.banks.storage import url_of
from rebind.errors import UserError


def here(run: Path) -> Path:
    """The folder of this machine to read a run from."""
    if url_of(run) is None:
        return run
    from rebind.eval.mirror import run_here

    return run_here(run)


def _own(run: Path) -> Path:
    """A run that is to be changed."""
    url = url_of(run)
    if url is not None:
        raise UserError(f"{url}: a run is changed in a folder of this machine; copy it here, and push it afterwards")
    return run


def report_folder(run: Path) -> Path:
    """Where a run's report is written, if nothing else was said: beside its ledger, or in `runs/` of this folder."""
    url = url_of(run)
    return (run if url is None else Path("runs") / url.rpartition("/")[2]) / "report"


RUN: Any = typer.Argument(..., help="Run folder, or its URL.", callback=here)
OWN_RUN: Any = typer.Argument(..., help="Run folder.", callback=_own)
