"""What an episode reads of a bank, as bytes, for a machine that does not have it. No seals, and no index: retrieval is
done before any episode begins."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from rebind.banks.files import MANIFEST, kept_folder
from rebind.banks.freeze import RECORDS, SKILLS, SUMMARIES
from rebind.banks.store import Bank, bank_manifest, verified_bytes
from rebind.caches import user_cache
from rebind.errors import BankError

Parcel = Mapping[str, bytes]
"""Content by file name; the manifest among them, so that each file is checked when it is read."""


def pack(bank: Bank) -> Parcel:
    """Raises `BankError` where a file differs from the manifest."""
    files = {name: verified_bytes(bank.path, bank.manifest, name) for name in (RECORDS, SUMMARIES, SKILLS)}
    return {**files, MANIFEST: (bank.path / MANIFEST).read_bytes()}


def find_or_unpack(path: Path, digest: str, parcel: Callable[[], Parcel]) -> Bank:
    """The bank of that digest: the folder at `path` where it is that bank, else what was unpacked earlier into
    `rebind/banks` of the user's cache (may be deleted), else what `parcel` gives, which is unpacked there.

    Raises:
        BankError: what the parcel holds is not that bank.
    """
    kept = user_cache() / "banks" / digest
    if _is(path, digest):
        return Bank.open(path)

    def unpack(into: Path) -> None:
        for name, content in parcel().items():
            with (into / name).open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        if not _is(into, digest):
            raise BankError(f"what was sent is not the bank of digest {digest}")

    kept_folder(kept, lambda folder: _is(folder, digest), unpack)
    return Bank.open(kept)


def _is(folder: Path, digest: str) -> bool:
    try:
        return str(bank_manifest(folder)["digest"]) == digest
    except BankError:
        return False
