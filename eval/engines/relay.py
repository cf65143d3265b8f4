"""The ledger as an episode in another process sees it: what it appends is sent, in order and several events at once, to
the process that has the ledger.

A commit is a mark among the events: the run's process commits when it comes to it, and takes an episode for ended only
after that. Nothing within an episode waits for it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec
from pydantic import JsonValue

from rebind.eval.ledger import EventLog
from rebind.eval.ledger.intake import Intake
from rebind.types import Cell, Episode, EventKind

_LINGER = 0.25
"""Seconds that an event waits for others, so that not each one is sent by itself."""


class Sent(NamedTuple):
    """An event on its way. Its secrets, those of the sending machine's environment, are masked already."""

    kind: EventKind
    text: bytes
    """RFC 8785 form of its data."""
    cell: Cell | None
    attempt: int | None


class Batch(NamedTuple):
    """What an episode in another process has to say since the last time."""

    events: tuple[Sent, ...] = ()
    commit: bool = False
    """Whether what is sent so far is to be made durable."""
    spent: float = 0.0
    """US dollars, since the last batch."""
    unpriced: int = 0
    """Answers whose cost is not known, since the last batch."""
    episode: Episode | None = None
    """In the last batch, unless there is an error or the attempt did not begin."""
    error: Exception | None = None
    """What the attempt raised; in the last batch."""
    withdrawn: bool = False
    """The attempt did not begin, for the run is to stop; in the only batch."""

    def write(self, log: EventLog) -> None:
        """Appends the events to a log, and commits where that is wanted. Raises `LedgerError`."""
        for event in self.events:
            log.append(event.kind, msgspec.json.decode(event.text), event.cell, event.attempt)
        if self.commit:
            log.commit()


class Relay:
    """An `EventLog` that keeps what it is given until somebody takes it. Any number of threads append, one takes."""

    def __init__(self) -> None:
        self._intake = Intake()
        self._held: list[Sent] = []
        self._commit = False
        self._ended = False
        self._changed = threading.Condition()

    def append(
        self, kind: EventKind, data: Mapping[str, JsonValue], cell: Cell | None = None, attempt: int | None = None
    ) -> None:
        taken = self._intake.take(kind, data)
        with self._changed:
            self._held.append(Sent(kind, taken.committed.text, cell, attempt))
            self._changed.notify_all()

    def commit(self) -> None:
        with self._changed:
            self._commit = True

    def end(self) -> None:
        """Nothing more will be appended."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def batches(self) -> Iterator[Batch]:
        """What was appended, as it comes; the last batch once all has ended."""
        ended = False
        while not ended:
            with self._changed:
                self._changed.wait_for(lambda: self._held or self._ended)
                ended = self._changed.wait_for(lambda: self._ended, _LINGER)
                held, self._held = self._held, []
                commit, self._commit = self._commit, False
            yield Batch(tuple(held), commit)
