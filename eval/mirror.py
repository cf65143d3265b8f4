"""Run folders on shared storage. Object stores cannot append to a file and cannot sync one, so a run is written in a
folder of this machine, sent while it goes on, and taken up from what was sent by whoever goes on with it."""

from __future__ import annotations

import json
import logging
import os
import platform
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from rebind.banks.files import drop_torn_tail, replace_text
from rebind.banks.storage import Remote, StorageError, url_of
from rebind.caches import user_cache
from rebind.canon import digest
from rebind.eval.ledger import LEDGER_FILE, MANIFEST_FILE
from rebind.eval.ledger.manifest import SIGNATURE_FILE
from rebind.eval.lock import LOCK_FILE

EVERY = 20.0
"""Seconds between two sendings, or ten times what one took, if that is longer."""
_QUIET = 600.0
"""Seconds after which a writer that has sent nothing is taken for dead."""
_WRITER = "writer.json"
_SEEN = ".entries.json"
_FILES = (LOCK_FILE, LEDGER_FILE, MANIFEST_FILE, SIGNATURE_FILE)
"""What a run is, in the order in which it is sent."""
_PART = 1 << 20
_log = logging.getLogger(__name__)


def run_here(path: Path) -> Path:
    """A run folder to read: the path itself, or for a URL a copy in `rebind/runs-read` of the user's cache (may be
    deleted), of which only files that have changed are read anew.

    Raises:
        StorageError: it cannot be read, or no run is there.
    """
    url = url_of(path)
    if url is None:
        return path
    remote, folder = Remote(url), user_cache() / "runs-read" / digest(url)[:16]
    there = {name: entry for name, entry in remote.entries().items() if name in _FILES}
    if LEDGER_FILE not in there:
        raise StorageError(f"{url} holds no {LEDGER_FILE}: no run was sent there")
    folder.mkdir(parents=True, exist_ok=True)
    seen = _seen(folder)
    for name in _FILES:
        if name not in there:
            (folder / name).unlink(missing_ok=True)
        elif seen.get(name) != list(there[name]) or not (folder / name).exists():
            _get(remote, name, folder)
    replace_text(folder / _SEEN, json.dumps(there))
    return folder


@contextmanager
def written_here(path: Path) -> Iterator[Path]:
    """A run folder to write: the path itself, or for a URL a folder in `rebind/runs` of the user's cache, which is
    brought up to date first, sent every `EVERY` seconds and, whole, at the end. One that could not be sent stays there,
    and the same command sends it.

    Raises:
        StorageError: it cannot be read or written, another process writes this run, or run and folder have gone
            different ways.
    """
    url = url_of(path)
    if url is None:
        yield path
        return
    remote, folder = Remote(url), user_cache() / "runs" / digest(url)[:16]
    folder.mkdir(parents=True, exist_ok=True)
    claim = _Claim(remote)
    claim.take()
    try:
        with _Sender(remote, folder, claim, _caught_up(remote, folder)).sending():
            yield folder
    finally:
        claim.release()


class _Claim:
    """The note beside a run of who writes it. Storage has no lock: of two that begin within the same moment the one
    whose note stands there last goes on."""

    def __init__(self, remote: Remote) -> None:
        self._remote = remote
        self._who: dict[str, JsonValue] = {"host": platform.node(), "process": os.getpid()}

    def take(self) -> None:
        """Raises `StorageError` where another process writes the run."""
        found = self._found()
        if found and not self._is_mine(found) and not _is_gone(found):
            heard = time.strftime("%H:%M:%S UTC", time.gmtime(float(found["at"])))
            raise StorageError(
                f"{self._remote.url} is being written by process {found['process']} on {found['host']}, last heard of "
                f"at {heard}. If it is dead, wait {_QUIET / 60:g} minutes from then, or remove {_WRITER} there"
            )
        self._say()
        found = self._found()
        if not found or not self._is_mine(found):
            raise StorageError(f"{self._remote.url}: another process has begun to write this run at the same time")

    def renew(self) -> None:
        """Raises `StorageError` where another process has taken the run over: what it sent is not to be overwritten."""
        found = self._found()
        if found and not self._is_mine(found):
            raise StorageError(
                f"{self._remote.url} was taken over by process {found['process']} on {found['host']}, for nothing was "
                "heard from here for long"
            )
        self._say()

    def _say(self) -> None:
        self._remote.write(_WRITER, json.dumps({**self._who, "at": time.time()}).encode())

    def release(self) -> None:
        """Says nothing where storage cannot be reached: the note grows old by itself."""
        with suppress(StorageError):
            found = self._found()
            if found and self._is_mine(found):
                self._remote.remove(_WRITER)

    def _found(self) -> dict[str, Any] | None:
        content = self._remote.read(_WRITER)
        try:
            found = json.loads(content) if content else None
        except ValueError:
            return None
        return found if isinstance(found, dict) and {"host", "process", "at"} <= found.keys() else None

    def _is_mine(self, found: Mapping[str, Any]) -> bool:
        return {key: found[key] for key in self._who} == self._who


def _is_gone(writer: Mapping[str, Any]) -> bool:
    """Whether a writer is known to be dead, or was not heard of for long."""
    if time.time() - float(writer["at"]) > _QUIET:
        return True
    if writer["host"] != platform.node():
        return False
    try:
        os.kill(int(writer["process"]), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


class _Sender:
    """Sends what changes in a run folder."""

    def __init__(self, remote: Remote, folder: Path, claim: _Claim, there: frozenset[str]) -> None:
        """`there`: files of the run that the storage has."""
        self._remote, self._folder, self._claim = remote, folder, claim
        self._sent: dict[str, tuple[int, int]] = dict.fromkeys(there, (-1, -1))
        """Size and time of change of what was sent last, by name."""
        self._stop = threading.Event()

    @contextmanager
    def sending(self) -> Iterator[None]:
        """Sends now and then until the block ends, and then what is left."""
        thread = threading.Thread(target=self._now_and_then, name="sending", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join()
            try:
                self._send()
            except (StorageError, OSError) as error:
                remedy = f"What was run is safe in {self._folder}: give the same command again to send it"
                raise StorageError(f"{error}\n{remedy}") from None

    def _now_and_then(self) -> None:
        wait = EVERY
        while not self._stop.wait(wait):
            began = time.monotonic()
            try:
                self._send()
            except (StorageError, OSError) as error:
                _log.warning("the run goes on, but was not sent: %s", error)
            wait = max(EVERY, 10 * (time.monotonic() - began))

    def _send(self) -> None:
        """The manifest comes last, and one that is no more goes first: what is there is never said to be whole when it
        is not."""
        self._claim.renew()
        for name in reversed(_FILES):
            if name in self._sent and not (self._folder / name).exists():
                self._remote.remove(name)
                del self._sent[name]
        for name in _FILES:
            path = self._folder / name
            state = (path.stat().st_size, path.stat().st_mtime_ns) if path.exists() else None
            if state is not None and self._sent.get(name) != state:
                with _still(path) as copy:
                    self._remote.put(copy, name)
                self._sent[name] = state


@contextmanager
def _still(path: Path) -> Iterator[Path]:
    """A copy that does not grow while it is sent, of whole lines."""
    with tempfile.TemporaryDirectory(prefix="rebind-send-") as scratch:
        copy = Path(scratch) / path.name
        shutil.copyfile(path, copy)
        if path.name == LEDGER_FILE:
            drop_torn_tail(copy)
        yield copy


def _caught_up(remote: Remote, folder: Path) -> frozenset[str]:
    """Brings the folder up to what was sent, from here or from elsewhere; names of the run's files that are there.

    Raises:
        StorageError: each has events that the other lacks.
    """
    there = frozenset(remote.entries()) & frozenset(_FILES)
    if LEDGER_FILE not in there:
        return there
    own = folder / LEDGER_FILE
    with tempfile.TemporaryDirectory(prefix=".caught-up-", dir=folder) as scratch:
        sent = Path(scratch) / LEDGER_FILE
        remote.get(LEDGER_FILE, sent)
        if own.exists() and _begins_with(own, sent):
            return there
        if own.exists() and not _begins_with(sent, own):
            raise StorageError(
                f"{remote.url} and {folder} hold different runs, or one run that was continued in both; remove the one "
                "that is not wanted"
            )
        for name in (MANIFEST_FILE, SIGNATURE_FILE):
            (folder / name).unlink(missing_ok=True)
        sent.replace(own)
    for name in sorted(there - {LEDGER_FILE}):
        _get(remote, name, folder)
    return there


def _begins_with(long: Path, short: Path) -> bool:
    size = short.stat().st_size
    return long.stat().st_size >= size and _head(long, size) == _head(short, size)


def _head(path: Path, size: int) -> str:
    """SHA-256 of a file's first bytes."""
    found = sha256()
    with path.open("rb") as file:
        while size and (part := file.read(min(_PART, size))):
            found.update(part)
            size -= len(part)
    return found.hexdigest()


def _get(remote: Remote, name: str, folder: Path) -> None:
    """Copies a file here; who reads it sees the old one or the new one, also where several processes copy it."""
    with tempfile.TemporaryDirectory(prefix=".fresh-", dir=folder) as scratch:
        remote.get(name, Path(scratch) / name)
        (Path(scratch) / name).replace(folder / name)


def _seen(folder: Path) -> dict[str, list[Any]]:
    """What was read last, by name."""
    try:
        found: dict[str, list[Any]] = json.loads((folder / _SEEN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found
