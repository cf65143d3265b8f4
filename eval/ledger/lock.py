"""One process at a time changes a run folder."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rebind.errors import LedgerError

LOCK_FILE = "ledger.lock"


def take_lock(folder: Path) -> int:
    """An exclusive lock on a run folder, held until the file is closed or the process dies.

    Raises:
        LedgerError: another process holds it.
        OSError: the folder cannot be written.
    """
    lock = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
    except BlockingIOError:
        holder = os.pread(lock, 32, 0).decode("ascii", "replace").strip() or "unknown"
        os.close(lock)
        raise LedgerError(
            f"{folder} is being written by another process (pid {holder}); wait for it or stop it, then resume"
        ) from None
    except OSError:
        os.close(lock)
        raise
    return lock


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Holds the lock of a run folder.

    Raises:
        LedgerError: another process holds it, or the folder cannot be written.
    """
    try:
        lock = take_lock(folder)
    except OSError as error:
        raise LedgerError(f"{folder} cannot be written: {error.strerror}") from None
    try:
        yield
    finally:
        os.close(lock)
