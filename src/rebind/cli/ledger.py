"""`rebind ledger` and `rebind audit`: what a run recorded, and whether it can be believed."""

from __future__ import annotations

from pathlib import Path

import typer

from rebind.cli.output import JSON_OPTION, emit, facts, table

app = typer.Typer(help="Verify and look at a run's ledger.", no_args_is_help=True)
RUN = typer.Argument(..., help="Run folder.")


@app.command()
def verify(run: Path = RUN, as_json: bool = JSON_OPTION) -> None:
    """Check the hash chain and the manifest; exit code 1 names the first line that does not hold."""
    from rebind.eval.ledger import verify as verify_ledger

    found = verify_ledger(run)
    emit(found.as_json()) if as_json else facts(str(run), found.as_json())
    if not found.ok:
        raise typer.Exit(1)


@app.command()
def show(
    run: Path = RUN,
    cell: str | None = typer.Option(None, "--cell", help="Only events of this cell, by the start of its id."),
    kind: str | None = typer.Option(None, "--kind", help="Only events of this kind."),
    limit: int = typer.Option(50, "--limit", min=1, help="At most this many events."),
    as_json: bool = JSON_OPTION,
) -> None:
    """List events, oldest first."""
    from itertools import islice
    from typing import get_args

    from rebind.errors import UserError, did_you_mean
    from rebind.eval.ledger import read_events
    from rebind.types import EventKind

    if kind is not None and kind not in get_args(EventKind):
        raise UserError(f"no kind of event is called {kind!r}{did_you_mean(kind, get_args(EventKind))}")
    wanted = (
        e
        for e in read_events(run)
        if (kind is None or e.kind == kind) and (cell is None or (e.cell or "").startswith(cell))
    )
    events = list(islice(wanted, limit))
    if as_json:
        emit([e.model_dump(mode="json") for e in events])
        return
    rows = [(e.n, e.kind, e.cell, e.attempt, ", ".join(e.data)[:80], e.hash[:12]) for e in events]
    table(str(run), ("n", "kind", "cell", "attempt", "data", "hash"), rows)


def audit(run: Path = RUN, as_json: bool = JSON_OPTION) -> None:
    """Prove from the ledger alone that the protocol was kept; exit code 1 if a check finds something."""
    from rebind.eval.audit import audit as audit_run
    from rebind.eval.audit import holds

    found = audit_run(run)
    if as_json:
        emit(found)
    else:
        facts(f"Audit of {run}", {k: v for k, v in found.items() if k != "findings"})
        for finding in found["findings"][:20]:
            typer.echo(f"  {finding}")
    if not holds(found):
        raise typer.Exit(1)
