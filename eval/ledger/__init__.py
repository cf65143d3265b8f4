"""The append-only, hash-chained account of a run."""

from rebind.eval.ledger.log import EventLog
from rebind.eval.ledger.manifest import LEDGER_FILE, MANIFEST_FILE, SIGNATURE_FILE, Manifest, read_manifest
from rebind.eval.ledger.reader import explained, read_events
from rebind.eval.ledger.verify import Verification, verify
from rebind.eval.ledger.writer import Ledger

__all__ = [
    "LEDGER_FILE",
    "MANIFEST_FILE",
    "SIGNATURE_FILE",
    "EventLog",
    "Ledger",
    "Manifest",
    "Verification",
    "explained",
    "read_events",
    "read_manifest",
    "verify",
]
