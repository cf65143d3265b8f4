"""`rebind ledger` and `rebind audit`: what a run recorded, and whether it can be believed."""

from __future__ import annotations

from pathlib import Path

import typer

from rebind.cli.output import JSON_OPTION, emit, facts, progress, table
from rebind.cli.runs import OWN_RUN, RUN

app = typer.Typer(help="Verify, sign, redact and look at a run's ledger.", no_args_is_help=True)


@app.command()
def verify(
    run: Path = RUN,
    key: Path | None = typer.Option(None, "--key", help="The signer's public key: check the signature, too."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Check the hash chain, the manifest and the signature; exit code 1 names the first line that does not hold."""
    from rebind.eval.ledger import verify as verify_ledger

    found = verify_ledger(run, key)
    emit(found.as_json()) if as_json else facts(str(run), found.as_json())
    if not found.ok:
        raise typer.Exit(1)


@app.command()
def keygen(file: Path = typer.Argument(..., help="File of the private key; the public key goes to FILE.pub.")) -> None:
    """Make an Ed25519 key pair to sign runs with."""
    from rebind.eval.ledger.signing import keygen as make_keys

    public = make_keys(file)
    typer.echo(f"private key: {file} (keep it)\npublic key:  {public} (give it to who verifies)")


@app.command()
def sign(
    run: Path = OWN_RUN,
    key: Path = typer.Option(..., "--key", help="Private key that `rebind ledger keygen` made."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Sign the manifest of a finished run that verifies."""
    from rebind.eval.ledger.signing import sign as sign_run

    signed = {"run": str(run), "key": sign_run(run, key)}
    emit(signed) if as_json else facts("Signed", signed)


@app.command()
def redact(
    run: Path = OWN_RUN,
    fields: list[str] = typer.Option([], "--field", help="What to take out, such as call.messages; may be repeated."),
    listed: Path | None = typer.Option(None, "--fields", help="A file of such fields, one a line; # begins a remark."),
    pattern: str | None = typer.Option(None, "--pattern", help="Take out every value that this expression matches in."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Take values out of a finished run and leave their digests, so that it still verifies. Keep a copy if you must.

    A field is KIND.FIELD, KIND.FIELD.MEMBER or KIND.FIELD[N], with * for any: call.messages, step.calls[*], *.error.
    """
    from rebind.eval.ledger.redaction import Selector, read_selectors
    from rebind.eval.ledger.redaction import redact as redact_run

    selectors = [Selector.parse(text) for text in fields] + (read_selectors(listed) if listed else [])
    done = redact_run(run, selectors, pattern).model_dump(mode="json")
    emit(done) if as_json else facts(f"Redacted {run}", done)


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
        emit([e._asdict() for e in events])
        return
    rows = [(e.n, e.kind, e.cell, e.attempt, ", ".join(e.data)[:80], e.hash[:12]) for e in events]
    table(str(run), ("n", "kind", "cell", "attempt", "data", "hash"), rows)


@app.command()
def replay(
    run: Path = RUN,
    cell: str | None = typer.Option(None, "--cell", help="Only cells whose id starts so; every cell without."),
    every: bool = typer.Option(False, "--all", help="Earlier attempts at a cell too, not its last one alone."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Run the recorded actions again in the environment; exit code 1 shows the first step that differs."""
    from rebind.eval.replay import replay as replay_run

    with progress("replay") as bar:
        found = replay_run(run, cell=cell, every=every, progress=bar)
    if as_json:
        emit(found.as_json())
    else:
        facts(f"Replay of {run}", {k: v for k, v in found.as_json().items() if k != "differences"})
        for one in found.differences[:20]:
            typer.echo(f"\n{one.cell}, attempt {one.attempt}: {one.what}; verdict: {one.verdict}")
            typer.echo("\n".join(f"  {line}" for line in one.diff))
        if found.differ > 20:
            typer.echo(f"\n… and {found.differ - 20} more; --json has them all")
    if found.differ:
        raise typer.Exit(1)


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
