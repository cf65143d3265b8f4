"""A number in a mapped file that grows with every acknowledged change, so that readers see that there is one without a
system call. Local file systems only: over a network a map may be stale."""

from __future__ import annotations

import mmap
from pathlib import Path

_BYTES = 8


class Mark:
    """The number, as a reader sees it."""

    def __init__(self, path: Path) -> None:
        """Maps the file. Raises `FileNotFoundError`."""
        with path.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), _BYTES, access=mmap.ACCESS_READ)

    @property
    def value(self) -> int:
        return int.from_bytes(self._map[:_BYTES], "little")


def advance(path: Path) -> None:
    """Adds one. Only for the holder of the writers' lock, once what changed is on the disk. The number itself need not
    be: whoever opens the store later reads everything."""
    if not path.exists():
        path.write_bytes(bytes(_BYTES))
    with path.open("r+b") as file, mmap.mmap(file.fileno(), _BYTES) as own:
        own[:_BYTES] = (int.from_bytes(own[:_BYTES], "little") + 1).to_bytes(_BYTES, "little")
