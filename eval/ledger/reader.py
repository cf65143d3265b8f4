"""Reads the events of a run, one by one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rebind.errors import LedgerError
from rebind.eval.ledger.lines import parse_line
from rebind.eval.ledger.manifest import LEDGER_FILE
from rebind.types import Event


def read_events(folder: Path) -> Iterator[Event]:
    """The events of a run in order, while it runs too: a last line that is still being written is left out. Checks the
    form of every line; `verify` checks the hashes.

    Raises:
        LedgerError: the folder holds no ledger, or a line is no event; names the line.
    """
    path = folder / LEDGER_FILE
    try:
        lines = path.open("rb")
    except OSError as error:
        hint = "name the folder of a run, such as runs/demo"
        raise LedgerError(f"{path} cannot be read ({error.strerror}); {hint}") from None
    with lines:
        for number, line in enumerate(lines, 1):
            if not line.endswith(b"\n"):
                return
            yield parse_event(line, f"{path}, line {number}")


def parse_event(line: bytes, where: str) -> Event:
    """The event on a line. `where` names the line in the error.

    Raises:
        LedgerError: the line is no event.
    """
    event = parse_line(line)
    if event is None:
        raise LedgerError(f"{where}: this is no event of a ledger; `rebind ledger verify` says what was changed")
    return event


@contextmanager
def explained(event: Event, wanted: str) -> Iterator[None]:
    """While an event is taken in: an error that comes of its redaction becomes one that says so.

    Raises:
        LedgerError: `wanted` needs what was redacted.
    """
    try:
        yield
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        if not event.redacted:
            raise
        missing = ", ".join(event.redacted)
        raise LedgerError(
            f"event {event.n} ({event.kind}) was redacted at {missing}: {wanted} cannot be had without it"
        ) from error
