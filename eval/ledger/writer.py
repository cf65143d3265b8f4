"""The writer of a ledger: one process at a time, any number of its threads, nothing acknowledged is ever lost."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from pydantic import JsonValue

from rebind.errors import LedgerError
from rebind.eval.ledger.chain import Walk, line_end, make_line, skim, walk
from rebind.eval.ledger.intake import Intake, Taken
from rebind.eval.ledger.lock import take_lock
from rebind.eval.ledger.manifest import (
    LEDGER_FILE,
    MANIFEST_FILE,
    SIGNATURE_FILE,
    Manifest,
    read_manifest,
    sync_folder,
    write_manifest,
)
from rebind.eval.ledger.rescue import put_back
from rebind.types import Cell, EventKind

_BUFFER = 256 * 1024
"""Bytes held back at most before they are handed to the operating system."""
_SHOWN = 400
"""Bytes of a torn line that the note about it quotes."""
_SYNC = getattr(os, "fdatasync", os.fsync)
"""The size of the file is synced by both, its times need not be."""


class _Link(NamedTuple):
    """The end of the chain after an event: how many events there are, the last one's hash, and its line."""

    events: int
    hash: str
    line: bytes = b""


class Ledger:
    """An append-only, hash-chained file of events. `append` is buffered; an event is acknowledged once `commit`
    returns. Use as a context manager."""

    def __init__(self, folder: Path, lock: int, file: int, state: Walk, sealed: Manifest | None) -> None:
        """For `open` alone."""
        self.folder = folder
        self.repairs: tuple[str, ...] = ()
        """What `open` had to repair, as sentences."""
        self.fsyncs = 0
        """How often the file was synced."""
        self._lock_file, self._file = lock, file
        self._written = _Link(state.events, state.last_hash)
        self._pending: list[_Link] = []
        """Events not yet handed to the operating system. Adding to this list is the one act that appends an event, so
        an interrupt (Ctrl-C) between two statements cannot break the chain."""
        self._held = 0
        self._content = state.content
        """SHA-256 of all that was written."""
        self._synced = state.events
        self._sealed = sealed
        self._failed: str | None = None
        self._closed = False
        self._chain = threading.Lock()
        self._sync = threading.Lock()
        self._intake = Intake()

    @classmethod
    def open(cls, folder: Path) -> Ledger:
        """Creates a run's ledger, or opens it to go on: checks the whole chain, and cuts off a torn last line and notes
        it (a `note` event, and `repairs`).

        Raises:
            LedgerError: another process writes this run; the ledger was edited; the folder cannot be written.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = take_lock(folder)
        except OSError as error:
            raise LedgerError(f"{folder} cannot be written: {error.strerror}") from None
        try:
            state, sealed = _past(folder)
            file = os.open(folder / LEDGER_FILE, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            sync_folder(folder)
        except OSError as error:
            os.close(lock)
            raise LedgerError(f"{folder / LEDGER_FILE} cannot be opened: {error.strerror}") from None
        except LedgerError:
            os.close(lock)
            raise
        ledger = cls(folder, lock, file, state, sealed)
        try:
            if state.fault:
                ledger._cut(state.size)
        except BaseException:
            ledger.close()
            raise
        return ledger

    def append(
        self, kind: EventKind, data: Mapping[str, JsonValue], cell: Cell | None = None, attempt: int | None = None
    ) -> None:
        """Adds an event; safe from any thread. Secrets in `data` are masked and lone surrogates replaced by U+FFFD
        before anything is hashed or written.

        Raises:
            LedgerError: an unknown kind, a value that JSON cannot hold, or a ledger that is closed or failed.
        """
        taken = self._intake.take(kind, data)
        with self._chain:
            self._check_usable()
            if self._sealed:
                self._reopen(self._sealed)
            self._chain_on(kind, taken, cell.id if cell else None, attempt)

    def commit(self) -> None:
        """Makes everything appended so far durable. Threads that commit at once share one fsync.

        Raises:
            LedgerError: the file could not be written or synced; what was not committed before is not acknowledged.
        """
        with self._chain:
            self._check_usable()
            wanted = self._tip.events
        with self._sync:
            with self._chain:  # `_failed` is set while another thread flushes: it is to be read under the lock alone
                self._check_usable()
                if self._synced >= wanted:
                    return
                self._flush()
                written = self._written.events
            try:
                _SYNC(self._file)
            except OSError as error:
                raise self._fail(error) from None
            self._check_place()
            self._synced = written
            self.fsyncs += 1

    def seal(self, files: Iterable[str] = ("study.lock",)) -> Manifest:
        """Commits, compares the file with what was appended and writes the manifest, with the digests of `files` (names
        in the run folder; those that exist). A ledger that was sealed and not added to keeps its manifest.

        Raises:
            LedgerError: the file on disk is not what was appended, or the manifest cannot be written.
        """
        self.commit()
        with self._chain:
            self._check_usable()
            self._check_place()
            if self._sealed:
                return self._sealed
            path = self.folder / LEDGER_FILE
            state = skim(path)
            if state.content.digest() != self._content.digest():
                fault = walk(path).fault
                why = fault.why if fault else "it is not what was appended"
                raise LedgerError(f"{path} was changed while it was being written: {why}")
            self._sealed = write_manifest(self.folder, state, files)
            return self._sealed

    def close(self) -> None:
        """Commits and lets the folder go. May be called twice."""
        if self._closed:
            return
        try:
            if not self._failed:
                self.commit()
        finally:
            self._closed = True
            os.close(self._file)
            os.close(self._lock_file)

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def _tip(self) -> _Link:
        return self._pending[-1] if self._pending else self._written

    def _chain_on(self, kind: EventKind, taken: Taken, cell: str | None, attempt: int | None) -> None:
        """Adds an event to the chain. The caller holds the chain lock."""
        n, prev, _ = self._tip
        end = line_end([], taken.seed.hex())
        line, digest = make_line(n, time.time(), kind, cell, attempt, prev, taken.committed, end)
        self._pending.append(_Link(n + 1, digest, line))
        self._held += len(line)
        if self._held >= _BUFFER:
            self._flush()

    def _reopen(self, manifest: Manifest) -> None:
        """Going on after the manifest was written: the manifest goes, what it said stays in the chain."""
        try:
            for name in (SIGNATURE_FILE, MANIFEST_FILE):
                (self.folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise self._fail(error) from None
        self._sealed = None
        self._chain_on("note", self._intake.take("note", {"reopened": manifest.model_dump(mode="json")}), None, None)

    def _cut(self, size: int) -> None:
        """Removes what stands after the last good line, and notes what it was."""
        try:
            torn = os.pread(self._file, os.fstat(self._file).st_size - size, size)
            os.ftruncate(self._file, size)
        except OSError as error:
            raise self._fail(error) from None
        sentence = f"cut {len(torn)} bytes of an interrupted write off the end, after {self._tip.events} events"
        self.repairs = (sentence,)
        cut: dict[str, JsonValue] = {
            "bytes": len(torn),
            "sha256": hashlib.sha256(torn).hexdigest(),
            "text": torn[:_SHOWN].decode("utf-8", "replace"),
        }
        self.append("note", {"repair": sentence, "cut": cut})
        self.commit()

    def _flush(self) -> None:
        """Hands what is pending to the operating system. The caller holds the chain lock. An interrupt in the middle
        leaves the ledger failed: how much was written is unknown then."""
        if not self._pending:
            return
        tip, whole = self._tip, b"".join([link.line for link in self._pending])
        data = memoryview(whole)
        self._failed = f"a write to {self.folder / LEDGER_FILE} was interrupted; resume the run"
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            raise self._fail(error) from None
        self._content.update(whole)
        self._written, self._pending, self._held = tip, [], 0
        self._failed = None

    def _fail(self, error: OSError) -> LedgerError:
        """After a failed write or sync the state of the file's end is unknown: nothing more is appended to it."""
        self._failed = (
            f"{self.folder / LEDGER_FILE} could not be written: {error.strerror}. What was committed is safe; "
            "mend this and resume the run"
        )
        return LedgerError(self._failed)

    def _check_place(self) -> None:
        """An event on the disk is acknowledged only where the file can be found. One that was deleted lives as long as
        it is open, and is put back."""
        path = self.folder / LEDGER_FILE
        try:
            if os.path.samestat(os.fstat(self._file), path.stat()):
                return
            what = "another file was put in its place"
        except FileNotFoundError:
            what = "it was removed"
        except OSError as error:
            what = f"it cannot be reached: {error.strerror}"
        rescued = put_back(self._file, path)
        where = f"its events are in {rescued}" if rescued else "its events are lost with the folder"
        self._failed = f"{path} is not the file being written: {what}; {where}. Mend this and resume the run"
        raise LedgerError(self._failed)

    def _check_usable(self) -> None:
        if self._closed:
            raise LedgerError(f"the ledger of {self.folder} is closed")
        if self._failed:
            raise LedgerError(self._failed)


def _past(folder: Path) -> tuple[Walk, Manifest | None]:
    """What a run folder already holds; the manifest where the run was finished and is still as it was."""
    state = walk(folder / LEDGER_FILE)
    if state.fault and not state.fault.torn:
        raise LedgerError(
            f"{folder / LEDGER_FILE}, line {state.fault.line}: {state.fault.why}; this run cannot be resumed. "
            "Restore the file, or run into a new folder"
        )
    manifest = read_manifest(folder)
    if manifest is None:
        return state, None
    why = "bytes were added after the manifest was written" if state.fault else manifest.differs(state)
    if why:
        raise LedgerError(f"{folder}: {why}; this run was edited and cannot be resumed")
    return state, manifest
