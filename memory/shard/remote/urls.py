"""A store by its URL."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from rebind.errors import did_you_mean
from rebind.memory.shard.log import StoreError
from rebind.memory.shard.remote.protocol import Index, ShardStore

SCHEMES = ("file", "lance", "postgres", "postgresql")


def open_store(url: str, dimensions: int, index: Index = "exact") -> ShardStore:
    """Opens a store, or makes an empty one where there is none.

    Args:
        url: `file:///folder` is the embedded store, `lance:///folder` LanceDB, `postgresql://user@host/database` (or
            `postgres://`, with all that libpq takes) PostgreSQL with pgvector.
        dimensions: of its vectors.
        index: "exact" scans what is admitted; "hnsw" searches an approximate graph where that is cheaper (PostgreSQL).

    Raises:
        StoreError: an unknown scheme, an extra that is not installed, a server that cannot be reached or has no
            pgvector, or a store with vectors of other dimensions.
    """
    try:
        scheme = urlsplit(url).scheme
    except ValueError as error:
        raise StoreError(f"{url!r} is no URL: {error}") from None
    if scheme in ("postgres", "postgresql"):
        from rebind.memory.shard.remote.pgvector import PgVectorShards

        return PgVectorShards(url, dimensions, index)
    if scheme not in SCHEMES:
        raise StoreError(f"{url!r}: no store has the scheme {scheme!r}{did_you_mean(scheme, SCHEMES)}")
    if index != "exact":
        raise StoreError(f"{url!r}: {scheme} stores are scanned exactly; index {index!r} is PostgreSQL's")
    folder = _folder(url)
    if scheme == "lance":
        from rebind.memory.shard.remote.lance import LanceShards

        return LanceShards(folder, dimensions)
    from rebind.memory.shard.remote.embedded import EmbeddedShards

    return EmbeddedShards.open(folder, dimensions)


def _folder(url: str) -> Path:
    parts = urlsplit(url)
    if parts.netloc or not parts.path.strip("/"):
        raise StoreError(f"{url!r}: give an absolute path after three slashes, as {parts.scheme}:///data/evidence")
    return Path(unquote(parts.path))
