"""Banks and targets on shared storage: read into a cache, whole and checked; pushed once, the manifest last."""

from __future__ import annotations

import json
from pathlib import Path

from rebind.banks.files import MANIFEST, first_difference, kept_folder, make_read_only, read_manifest
from rebind.banks.storage import Remote, StorageError
from rebind.caches import user_cache


def fetched(url: str) -> Path:
    """The folder of this machine that holds the frozen bank or targets behind a URL: in `rebind/frozen` of the user's
    cache (may be deleted), by digest, so that each is read once.

    Raises:
        StorageError: it cannot be read, nothing frozen is there, or it is not what its manifest says.
    """
    remote = Remote(url)
    manifest = remote.read(MANIFEST)
    if manifest is None:
        raise StorageError(f"{url} holds no {MANIFEST}: nothing frozen is there, or its push has not ended")
    kept = user_cache() / "frozen" / _digest(url, manifest)

    def fetch(into: Path) -> None:
        (into / MANIFEST).write_bytes(manifest)
        for name in _names(url, into):
            remote.get(name, into / name)
        _check(url, into)
        make_read_only(into)

    try:
        kept_folder(kept, lambda folder: _holds(folder, manifest), fetch)
    except OSError as error:
        raise StorageError(f"{url} could not be kept in {kept}: {error.strerror}") from None
    return kept


def push(folder: Path, url: str) -> str:
    """Sends a frozen bank or targets folder, the manifest last; returns its digest. What is there is not sent again.

    Raises:
        StorageError: the folder is not frozen, or was edited; another one is behind the URL; it cannot be written.
    """
    try:
        manifest = read_manifest(folder)
    except FileNotFoundError:
        raise StorageError(f"{folder} has no {MANIFEST}: only frozen banks and targets are pushed") from None
    except ValueError as why:
        raise StorageError(f"{folder}: its manifest {why}") from None
    _check(str(folder), folder)
    remote = Remote(url)
    there, own = remote.read(MANIFEST), (folder / MANIFEST).read_bytes()
    if there is not None and there != own:
        raise StorageError(f"{url} holds another frozen folder, which never changes; push to another URL")
    if there is None:
        for name in sorted(manifest["files"]):
            remote.put(folder / name, name)
        remote.write(MANIFEST, own)
    return str(manifest["digest"])


def _digest(url: str, manifest: bytes) -> str:
    """What names the folder; checked before it becomes a path."""
    try:
        digest = json.loads(manifest)["digest"]
    except (ValueError, KeyError, TypeError):
        digest = None
    if not isinstance(digest, str) or not digest.isalnum():
        raise StorageError(f"{url}: {MANIFEST} is not a manifest of Rebind")
    return digest


def _holds(kept: Path, manifest: bytes) -> bool:
    """A folder appears at once, and only when it was checked."""
    return (kept / MANIFEST).is_file() and (kept / MANIFEST).read_bytes() == manifest


def _names(url: str, folder: Path) -> list[str]:
    try:
        names = sorted(read_manifest(folder)["files"])
    except ValueError as why:
        raise StorageError(f"{url}: its manifest {why}") from None
    for name in names:
        if Path(name).name != name:
            raise StorageError(f"{url}: its manifest names {name!r}, which is no file of the folder")
    return names


def _check(where: str, folder: Path) -> None:
    differs = first_difference(folder, read_manifest(folder))
    if differs is not None:
        raise StorageError(f"{where}: {differs} is not what the manifest says; it was edited, or is still being pushed")
