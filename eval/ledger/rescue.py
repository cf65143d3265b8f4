"""What is left to do when a ledger is deleted while it is being written: the open file still has all of it."""

from __future__ import annotations

import os
from pathlib import Path

from rebind.eval.ledger.manifest import sync_folder

_CHUNK = 1 << 20


def put_back(file: int, path: Path) -> Path | None:
    """Writes an open file's content to `path` again, beside it where another file stands there, durably; returns where,
    or None where that cannot be done (the folder is gone, too)."""
    target = path if not path.exists() else path.with_name(f"{path.stem}.rescued{path.suffix}")
    temporary = path.with_name(f"{path.name}.tmp")
    try:
        with temporary.open("wb") as out:
            at = 0
            while chunk := os.pread(file, _CHUNK, at):
                out.write(chunk)
                at += len(chunk)
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(target)
        sync_folder(path.parent)
    except OSError:
        return None
    return target
