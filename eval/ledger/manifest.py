"""The manifest of a finished run: what its ledger must still be, written after everything else."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rebind.canon import digest, file_digest
from rebind.errors import LedgerError
from rebind.eval.ledger.chain import Walk
from rebind.types import Frozen

LEDGER_FILE = "ledger.jsonl"
MANIFEST_FILE = "manifest.json"
SIGNATURE_FILE = "manifest.dsse.json"
"""A DSSE envelope over the manifest; `signing` makes and reads it."""


class Manifest(Frozen):
    """Counts and hashes of a finished run. `hash` is the digest of all other fields."""

    format: int
    events: int
    last_hash: str
    merkle_root: str
    """RFC 6962 tree over the event hashes, as bytes, in order."""
    files: dict[str, str]
    """SHA-256 of files of the run folder, by name; the ledger, which may be redacted, is not among them."""
    sealed: float
    """Unix seconds."""
    hash: str

    def differs(self, state: Walk) -> str | None:
        """Why a ledger is not the one the manifest was written for, or None where it is."""
        if state.events < self.events:
            return f"the manifest counts {self.events} events, the ledger has {state.events}: its end was cut off"
        if state.events > self.events:
            return f"the manifest counts {self.events} events, the ledger has {state.events}: events were added"
        if (state.last_hash, state.tree.root()) != (self.last_hash, self.merkle_root):
            return "its Merkle root is not the manifest's: events were replaced and the hashes made anew"
        return None


def write_manifest(folder: Path, state: Walk, files: Iterable[str]) -> Manifest:
    """Writes the manifest of a ledger in that state, atomically and durably. A signature of an earlier one goes.

    Raises:
        LedgerError: it cannot be written.
    """
    names = [name for name in files if (folder / name).is_file()]
    fields = {
        "format": 2,
        "events": state.events,
        "last_hash": state.last_hash,
        "merkle_root": state.tree.root(),
        "files": {name: file_digest(folder / name) for name in names},
        "sealed": time.time(),
    }
    manifest = Manifest.model_validate({**fields, "hash": digest(fields)})
    (folder / SIGNATURE_FILE).unlink(missing_ok=True)
    write_json(folder / MANIFEST_FILE, manifest.model_dump(mode="json"))
    return manifest


def write_json(path: Path, value: Any) -> None:
    """Writes a JSON file, atomically and durably."""
    temporary = path.with_name(f"{path.name}.tmp")
    try:
        with temporary.open("w", encoding="utf-8") as handle:
            json.dump(value, handle, indent=2)
            handle.write("\n")
            handle.flush()
            os.fsync(handle.fileno())
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise LedgerError(f"{path} could not be written: {error.strerror}; what was committed is safe") from None
    sync_folder(path.parent)


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a run; None while the run is not finished.

    Raises:
        LedgerError: there is one, but it cannot be read or is not the one that was written.
    """
    path = folder / MANIFEST_FILE
    try:
        manifest = Manifest.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        raise LedgerError(f"{path} cannot be read as a run's manifest: {error}") from None
    if digest(manifest.model_dump(mode="json", exclude={"hash"})) != manifest.hash:
        raise LedgerError(f"{path} does not have the hash it carries: it was edited")
    return manifest


def sync_folder(folder: Path) -> None:
    """Makes the names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
