"""Verification of a run folder: the chain, and the manifest where there is one."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from rebind.canon import file_digest
from rebind.errors import LedgerError
from rebind.eval.ledger.chain import Walk, walk
from rebind.eval.ledger.manifest import LEDGER_FILE, Manifest, read_manifest
from rebind.types import Frozen


class Verification(Frozen):
    """What `verify` found. Without a manifest only the chain could be checked: whole events cut off the end would not
    show, nor would a chain that was made anew."""

    ok: bool
    events: int
    """Events up to the first bad line."""
    first_bad: int | None = None
    """Line number, from 1; None where no single line is to blame."""
    why: str | None = None
    torn: bool = False
    """True where all that is wrong is an interrupted write at the end, which opening the run repairs."""
    last_hash: str
    merkle_root: str
    manifest: Literal["matches", "absent", "differs"]
    note: str = ""
    """What a reader must know of an `ok` that is not the whole proof."""

    def as_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json")


def verify(folder: Path) -> Verification:
    """Checks every byte of a run's ledger, and the files its manifest names.

    Raises:
        LedgerError: the folder holds no ledger.
    """
    path = folder / LEDGER_FILE
    if not path.is_file():
        raise LedgerError(f"{folder} holds no {LEDGER_FILE}; name the folder of a run, such as runs/demo")
    try:
        state = walk(path)
    except OSError as error:
        raise LedgerError(f"{path} cannot be read: {error}") from None
    try:
        manifest = read_manifest(folder)
    except LedgerError as error:
        return _result(state, "differs", line=None, why=str(error))
    if state.fault:
        return _result(state, "differs" if manifest else "absent", line=state.fault.line, why=state.fault.why)
    if manifest is None:
        return _result(state, "absent")
    why = manifest.differs(state)
    if why:
        cut = state.events + 1 if state.events < manifest.events else None
        return _result(state, "differs", line=cut, why=why)
    why = _changed_file(folder, manifest)
    return _result(state, "differs" if why else "matches", line=None, why=why)


def _changed_file(folder: Path, manifest: Manifest) -> str | None:
    for name, expected in manifest.files.items():
        path = folder / name
        if not path.is_file():
            return f"{name} is missing; the manifest names it"
        if file_digest(path) != expected:
            return f"{name} is not the file the manifest was written for"
    return None


def _result(
    state: Walk, manifest: Literal["matches", "absent", "differs"], line: int | None = None, why: str | None = None
) -> Verification:
    unfinished = "no manifest: the run is not finished, so the chain alone was checked"
    return Verification(
        ok=why is None,
        events=state.events,
        first_bad=line,
        why=why,
        torn=bool(state.fault and state.fault.torn) and manifest == "absent",
        last_hash=state.last_hash,
        merkle_root=state.tree.root(),
        manifest=manifest,
        note=unfinished if manifest == "absent" else "",
    )
