"""`rebind bench tamper`: edits a finished, redacted and signed ledger in every way, one edit a copy, and counts what
verification finds."""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from rebind.banks.files import silent
from rebind.errors import LedgerError
from rebind.eval.bench.tampering import EDITS, REDACTED, SIGNED, WHOLE, Edited, Lines
from rebind.eval.ledger import LEDGER_FILE, MANIFEST_FILE, SIGNATURE_FILE, read_manifest, verify
from rebind.eval.ledger.chain import skim
from rebind.eval.ledger.manifest import write_manifest
from rebind.eval.ledger.redaction import Selector, redact
from rebind.eval.ledger.signing import keygen, sign
from rebind.types import Progress

REDACTIONS = ("step.observation", "step.action.args", "call.messages[*]", "support.text")
"""What is taken out of the copy that is edited where an edit is of a redaction."""


def run(edits: int = 1000, seed: int = 0, folder: Path | None = None, progress: Progress = silent) -> dict[str, Any]:
    """Edits copies of the ledger of a finished run, of a small simulated one where none is given. The copies are real
    files (in memory where the system has a folder for that), and each is checked as `rebind ledger verify --key` does.

    Returns:
        `edits`, `detected`, `located` (found at a line), `events` and `redacted` values of the ledger, `kinds` (each
        with `edits` and `detected`), `by_signature` (edits that nothing but the signature tells from a real run), and
        `missed`: a sentence for each edit that was not found.

    Raises:
        LedgerError: the run is not finished, or does not verify to begin with; the extra `sign` is missing.
    """
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="rebind-tamper-", dir=memory if memory.is_dir() else None) as scratch:
        if folder is None:
            from rebind.eval.bench.small_study import finished_run

            folder = finished_run(Path(scratch) / "study", targets=1, conditions=("none", "qcr"), seeds=1)
        if read_manifest(folder) is None or not verify(folder).ok:
            raise LedgerError(f"{folder} is no finished run that verifies: there is nothing to tamper with")
        bench = _Bench(folder, Path(scratch))
        return bench.edit(edits, random.Random(seed), progress)


class _Bench:
    """The signed run in two forms, whole and redacted, and a copy of each that is edited and put back."""

    def __init__(self, folder: Path, scratch: Path) -> None:
        self.public = keygen(scratch / "key")
        self.whole, self.redacted = scratch / "whole", scratch / "redacted"
        manifest = read_manifest(folder)
        assert manifest is not None  # the caller asked
        self.files = sorted(manifest.files)
        for copy in (self.whole, self.redacted):
            copy.mkdir()
            for name in (LEDGER_FILE, MANIFEST_FILE, *self.files):
                shutil.copy(folder / name, copy)
        sign(self.whole, scratch / "key")
        shutil.copy(self.whole / SIGNATURE_FILE, self.redacted)
        kinds = {line["kind"] for line in map(_json, self.lines(self.redacted))}
        redact(self.redacted, [Selector.parse(field) for field in REDACTIONS if field.split(".")[0] in kinds])

    @staticmethod
    def lines(copy: Path) -> Lines:
        return (copy / LEDGER_FILE).read_bytes().splitlines(keepends=True)

    def edit(self, edits: int, rng: random.Random, progress: Progress) -> dict[str, Any]:
        before = {copy: self.lines(copy) for copy in (self.whole, self.redacted)}
        found = {copy: verify(copy, self.public) for copy in before}
        if not all(one.ok for one in found.values()):
            raise LedgerError("the copies do not verify before they are edited")
        kept = {name: (self.whole / name).read_bytes() for name in (MANIFEST_FILE, SIGNATURE_FILE)}
        made, detected = Counter[str](), Counter[str]()
        located = by_signature = 0
        missed: list[str] = []
        names = sorted(EDITS)
        for number in range(edits):
            name = names[number % len(names)]
            copy = self._copy(name, number)
            edited, what = EDITS[name](list(before[copy]), rng)
            by_signature += self._write(copy, name, edited)
            result = verify(copy, self.public)
            made[name] += 1
            detected[name] += not result.ok
            located += result.first_bad is not None
            if result.ok:
                missed.append(f"{name}: {what}")
            self._restore(copy, kept)
            progress(name, number + 1, edits)
        return {
            "edits": edits,
            "detected": detected.total(),
            "located": located,
            "by_signature": by_signature,
            "events": len(before[self.whole]),
            "redacted": found[self.redacted].redacted,
            "kinds": {name: {"edits": made[name], "detected": detected[name]} for name in names},
            "missed": missed,
        }

    def _copy(self, name: str, number: int) -> Path:
        """Which copy an edit is made in: those of redactions in the redacted one, the others in turn."""
        if name in REDACTED or (name not in WHOLE and number // len(EDITS) % 2):
            return self.redacted
        return self.whole

    def _write(self, copy: Path, name: str, edited: Edited) -> bool:
        """Writes the edited ledger; for a forgery of the whole run a manifest of it, too. Returns whether all but the
        signature holds."""
        (copy / LEDGER_FILE).write_bytes(b"".join(edited))
        if name not in SIGNED:
            return False
        signature = (copy / SIGNATURE_FILE).read_bytes()
        write_manifest(copy, skim(copy / LEDGER_FILE), self.files)
        (copy / SIGNATURE_FILE).write_bytes(signature)
        return verify(copy).ok

    def _restore(self, copy: Path, kept: dict[str, bytes]) -> None:
        for name, content in kept.items():
            (copy / name).write_bytes(content)


def _json(line: bytes) -> Any:
    return json.loads(line)
