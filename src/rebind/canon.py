"""One canonical form for everything that is hashed: RFC 8785 bytes and their SHA-256."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any


def canonical(value: Any) -> bytes:
    """The RFC 8785 (JCS) bytes of a JSON value. Raises `rfc8785.CanonicalizationError` for what JSON cannot hold
    (NaN, integers beyond 2**53), UnicodeEncodeError for lone surrogates."""
    from rebind.jcs import canonical_bytes

    return canonical_bytes(value)


def digest(value: Any) -> str:
    """SHA-256 (hex) of a JSON value's canonical bytes."""
    return hashlib.sha256(canonical(value)).hexdigest()


def file_digest(path: Path) -> str:
    """SHA-256 (hex) of a file's bytes."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
