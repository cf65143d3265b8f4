"""Reads the events of a run, one by one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from rebind.errors import LedgerError
from rebind.eval.ledger.manifest import LEDGER_FILE
from rebind.types import Event, EventKind

_FIELDS = frozenset(Event.model_fields)
_KINDS = frozenset(get_args(EventKind))


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
    try:
        fields = json.loads(line)
    except ValueError:
        fields = None
    if not isinstance(fields, dict) or fields.keys() != _FIELDS or fields["kind"] not in _KINDS:
        raise LedgerError(f"{where}: this is no event of a ledger; `rebind ledger verify` says what was changed")
    return Event.model_construct(_fields_set=set(_FIELDS), **fields)
