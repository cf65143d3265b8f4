"""Verification of a run folder: the chain, the manifest and the signature, where there are such."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from rebind.canon import file_digest
from rebind.errors import LedgerError
from rebind.eval.ledger.chain import Walk, walk
from rebind.eval.ledger.manifest import LEDGER_FILE, SIGNATURE_FILE, Manifest, read_manifest
from rebind.types import Frozen

ManifestState = Literal["matches", "absent", "differs"]
SignatureState = Literal["absent", "unchecked", "verified", "fails"]
"""Without a public key a signature cannot be checked."""


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
    manifest: ManifestState
    redacted: int
    """Values that were taken out; their digests verify, what they were is not known."""
    signature: SignatureState
    note: str = ""
    """What a reader must know of an `ok` that is not the whole proof."""

    def as_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json")


def verify(folder: Path, key: Path | None = None) -> Verification:
    """Checks every byte of a run's ledger, the files its manifest names, and its signature where a public key is given.

    Raises:
        LedgerError: the folder holds no ledger, or the key cannot be read.
    """
    path = folder / LEDGER_FILE
    if not path.is_file():
        raise LedgerError(f"{folder} holds no {LEDGER_FILE}; name the folder of a run, such as runs/demo")
    try:
        state = walk(path)
    except OSError as error:
        raise LedgerError(f"{path} cannot be read: {error}") from None
    manifest, line, why = _compare(folder, state)
    signature: SignatureState = "unchecked" if (folder / SIGNATURE_FILE).exists() else "absent"
    if key is not None and why is None:
        why = _signature_fault(folder, key)
        signature = "fails" if why else "verified"
    return Verification(
        ok=why is None,
        events=state.events,
        first_bad=line,
        why=why,
        torn=bool(state.fault and state.fault.torn) and manifest == "absent",
        last_hash=state.last_hash,
        merkle_root=state.tree.root(),
        manifest=manifest,
        redacted=state.redacted,
        signature=signature,
        note="; ".join(_notes(manifest, signature, state.redacted)),
    )


def _compare(folder: Path, state: Walk) -> tuple[ManifestState, int | None, str | None]:
    """How a ledger and its manifest stand to each other, the line to blame, and why it does not hold."""
    try:
        manifest = read_manifest(folder)
    except LedgerError as error:
        return "differs", None, str(error)
    if state.fault:
        return "differs" if manifest else "absent", state.fault.line, state.fault.why
    if manifest is None:
        return "absent", None, None
    why = manifest.differs(state)
    if why:
        return "differs", state.events + 1 if state.events < manifest.events else None, why
    why = _changed_file(folder, manifest)
    return "differs" if why else "matches", None, why


def _signature_fault(folder: Path, key: Path) -> str | None:
    from rebind.eval.ledger.signing import signature_fault

    manifest = read_manifest(folder)
    if manifest is None:
        return "the run is not finished: it has no manifest, and so no signature"
    return signature_fault(folder, manifest, key)


def _changed_file(folder: Path, manifest: Manifest) -> str | None:
    for name, expected in manifest.files.items():
        path = folder / name
        if not path.is_file():
            return f"{name} is missing; the manifest names it"
        if file_digest(path) != expected:
            return f"{name} is not the file the manifest was written for"
    return None


def _notes(manifest: ManifestState, signature: SignatureState, redacted: int) -> Iterator[str]:
    """What a reader must know of an `ok` that is not the whole proof."""
    if manifest == "absent":
        yield "no manifest: the run is not finished, so the chain alone was checked"
    if signature == "unchecked":
        yield "signed, but not checked: give the signer's public key with --key"
    if redacted:
        yield f"{redacted} values are redacted: what they were is not known, that nothing else was changed is"
