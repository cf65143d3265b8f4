"""Embeddings by content: a text is encoded once, in whichever process asks first."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rebind.caches import user_cache
from rebind.canon import canonical
from rebind.memory.encoders import Encoder

Embeddings = NDArray[np.float32]
Encode = Callable[[Sequence[str]], Embeddings]
_BATCH = 256
_ASKED_AT_ONCE = 500


class EmbeddingCache:
    """Vectors of texts in one SQLite file, keyed by the SHA-256 of the encoder's parameters and the text.

    Many processes may share the file, and it may be deleted at any time.
    """

    def __init__(self, encoder: Encoder, folder: Path | None = None) -> None:
        """`folder` holds the file; `rebind/embeddings` in the user's cache (XDG) where not given."""
        self._encoder = encoder
        self._prefix = canonical(encoder.parameters)
        self._file = (folder or default_folder()) / "embeddings.sqlite"

    def encode(self, texts: Sequence[str]) -> Embeddings:
        """Vectors (n, d) of length 1, in the order of the texts."""
        keys = [hashlib.sha256(self._prefix + text.encode()).digest() for text in texts]
        known = self._stored(list(dict.fromkeys(keys)))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        for start in range(0, len(missing), _BATCH):
            part = list(missing.items())[start : start + _BATCH]
            vectors = self._encoder.encode([text for _, text in part])
            fresh = {key: vector for (key, _), vector in zip(part, vectors, strict=True)}
            self._store(fresh)
            known.update(fresh)
        rows = [known[key] for key in keys]
        return np.array(rows, dtype=np.float32).reshape(len(texts), self._encoder.dimensions)

    def _open(self) -> sqlite3.Connection:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self._file, timeout=60)
        connection.execute("CREATE TABLE IF NOT EXISTS embedding (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")
        return connection

    def _stored(self, keys: list[bytes]) -> dict[bytes, Embeddings]:
        found: dict[bytes, Embeddings] = {}
        connection = self._open()
        try:
            for start in range(0, len(keys), _ASKED_AT_ONCE):
                part = keys[start : start + _ASKED_AT_ONCE]
                marks = ",".join("?" * len(part))
                rows = connection.execute(f"SELECT key, vector FROM embedding WHERE key IN ({marks})", part)
                found.update((key, np.frombuffer(vector, dtype=np.float32)) for key, vector in rows)
        finally:
            connection.close()
        return found

    def _store(self, vectors: dict[bytes, Embeddings]) -> None:
        connection = self._open()
        try:
            with connection:
                connection.executemany(
                    "INSERT OR IGNORE INTO embedding VALUES (?, ?)", [(k, v.tobytes()) for k, v in vectors.items()]
                )
        finally:
            connection.close()


def default_folder() -> Path:
    """`rebind/embeddings` in the user's cache (XDG)."""
    return user_cache() / "embeddings"
