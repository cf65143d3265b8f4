"""The store's log: one line an event, hash-chained, on the disk before it is acknowledged.

A line is the SHA-256 of its JSON, a space, the JSON, and a line feed. A process that is killed while writing leaves at
most one torn line at the end; readers stop before it, the next writer cuts it off.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from rebind.errors import UserError

START = "0" * 64
"""`prev` of the very first event."""
_DIGEST = 64


class StoreError(UserError):
    """A store that is missing, damaged, or asked for what it cannot do."""


class Log:
    """An append-only file of events, read as far as it is whole."""

    def __init__(self, path: Path, number: int = 0, prev: str = START) -> None:
        """`number` and `prev`: how many events came before this file, and the hash of the last of them."""
        self.path = path
        self.number, self.prev, self._offset = number, prev, 0

    def news(self) -> list[dict[str, Any]]:
        """Whole events that were not read before. Costs one `stat` where there are none.

        Raises:
            StoreError: a whole line does not fit the chain.
        """
        if os.stat(self.path).st_size <= self._offset:
            return []
        events: list[dict[str, Any]] = []
        with self.path.open("rb") as file:
            file.seek(self._offset)
            for line in file:
                event = self._event(line)
                if event is None:
                    break
                events.append(event)
        return events

    def append(self, event: dict[str, JsonValue]) -> int:
        """Writes an event and returns its number once it is on the disk. Only for the holder of the writers' lock, who
        has read all news; a torn end is cut off first."""
        body = json.dumps({"n": self.number + 1, "prev": self.prev, **event}, ensure_ascii=False, sort_keys=True)
        content = body.encode()
        digest = hashlib.sha256(content).hexdigest()
        with self.path.open("r+b") as file:
            file.truncate(self._offset)
            file.seek(self._offset)
            file.write(digest.encode() + b" " + content + b"\n")
            file.flush()
            os.fsync(file.fileno())
            self._offset = file.tell()
        self.number, self.prev = self.number + 1, digest
        return self.number

    def _event(self, line: bytes) -> dict[str, Any] | None:
        """The event of the next line; None where the line is torn, which is only so at the end."""
        content = line[_DIGEST + 1 : -1]
        digest = line[:_DIGEST].decode("ascii", "replace")
        if not line.endswith(b"\n") or hashlib.sha256(content).hexdigest() != digest:
            with self.path.open("rb") as file:
                file.seek(self._offset + len(line))
                rest = file.read(1)
            if rest:
                raise StoreError(f"{self.path}: event {self.number + 1} was edited: it differs from its own hash")
            return None
        event: dict[str, Any] = json.loads(content)
        if event["prev"] != self.prev or event["n"] != self.number + 1:
            raise StoreError(f"{self.path}: event {self.number + 1} does not follow the one before it")
        self.number, self.prev, self._offset = event["n"], digest, self._offset + len(line)
        return event


def create_file(path: Path, content: bytes = b"") -> None:
    """A file that is on the disk, with its name."""
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    sync_folder(path.parent)


def replace_file(path: Path, content: bytes) -> None:
    """Writes a file in one go: a reader sees the old one or the new one."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    create_file(draft, content)
    draft.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Makes the names in a folder lasting."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
