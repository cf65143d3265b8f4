"""What writes events sees of a ledger, wherever the ledger is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from pydantic import JsonValue

from rebind.types import Cell, EventKind


class EventLog(Protocol):
    """Takes events in order: the ledger itself, or what sends them to the one process that has it. Thread-safe."""

    def append(
        self, kind: EventKind, data: Mapping[str, JsonValue], cell: Cell | None = None, attempt: int | None = None
    ) -> None:
        """Adds an event. Raises `LedgerError`: an unknown kind, a value that JSON cannot hold, or a log that failed."""
        ...

    def commit(self) -> None:
        """Asks that all events so far be made durable before anybody takes what they tell for done. Raises
        `LedgerError`."""
        ...
