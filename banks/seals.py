"""Opens a bank's seals. Only the bank builder and the auditor may import this."""

from __future__ import annotations

import json
from pathlib import Path

from rebind.banks.freeze import SEALS
from rebind.banks.store import bank_manifest, verified_bytes
from rebind.types import Seal


def open_seals(path: Path) -> dict[str, Seal]:
    """The sealed halves of a bank's records, by record id.

    Raises:
        BankError: there is no frozen bank, or the file differs from its manifest.
    """
    lines = verified_bytes(path, bank_manifest(path), SEALS).splitlines()
    return {line["id"]: Seal.model_validate(line["seal"]) for line in map(json.loads, lines)}
