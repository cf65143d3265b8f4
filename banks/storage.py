"""Folders on shared storage: whatever URL fsspec can open, such as `s3://BUCKET/FOLDER`, `gs://BUCKET/FOLDER`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from rebind.errors import UserError, did_you_mean

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/{1,3}([^/].*)")
"""A `Path` that was made of a URL has kept one slash. A single letter before the colon is a drive of Windows."""
_BUCKETS = frozenset({"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oss"})
"""Protocols of object stores: they have no folders to be made, and a bucket that is not there is a slip of the pen."""
_EXTRAS = {"s3": "s3", "s3a": "s3", "gs": "gcs", "gcs": "gcs"}
"""Extras of Rebind with what a protocol needs."""


class StorageError(UserError):
    """Shared storage that cannot be reached, read or written."""


def url_of(path: Path | str) -> str | None:
    """The URL that was given for a path; None where it is a path of this machine."""
    match = _URL.fullmatch(str(path))
    if match is None:
        return None
    protocol = match[1].lower()
    return f"{protocol}:{'///' if protocol == 'file' else '//'}{match[2].rstrip('/')}"


class Entry(NamedTuple):
    """A file behind a URL."""

    size: int
    """Bytes."""
    tag: str
    """Differs when the content does: the storage's own tag, or the time of the last change."""


class Remote:
    """The files right in a folder behind a URL; folders inside it are not looked at."""

    def __init__(self, url: str) -> None:
        """Raises `StorageError` where nothing here can open such a URL."""
        self.url = url
        self._system, root = _opened(url)
        self._root = str(root).rstrip("/")

    def entries(self) -> dict[str, Entry]:
        """What is there, by name; nothing where there is no such folder."""
        with self._explained("listed"):
            self._system.invalidate_cache()
            try:
                found = self._system.ls(self._root, detail=True)
            except FileNotFoundError:
                return {}
        files = [one for one in found if one["type"] == "file"]
        return {str(one["name"]).rsplit("/", 1)[-1]: Entry(int(one["size"]), _tag(one)) for one in files}

    def read(self, name: str) -> bytes | None:
        """A small file's content; None where there is none."""
        with self._explained(f"read: {name}"):
            try:
                content: bytes = self._system.cat_file(self._at(name))
            except FileNotFoundError:
                return None
        return content

    def get(self, name: str, path: Path) -> None:
        """Copies a file to this machine."""
        with self._explained(f"read: {name}"):
            self._system.get_file(self._at(name), str(path))

    def put(self, path: Path, name: str) -> None:
        """Copies a file of this machine; a reader sees all of it, or what was there before."""
        with self._explained(f"written: {name}"):
            self._place(name, lambda at: self._system.put_file(str(path), at))

    def write(self, name: str, content: bytes) -> None:
        """Writes a small file, as `put` does."""
        with self._explained(f"written: {name}"):
            self._place(name, lambda at: self._system.pipe_file(at, content))

    def remove(self, name: str) -> None:
        """Removes a file, if it is there."""
        with self._explained(f"removed: {name}"):
            try:
                self._system.rm_file(self._at(name))
            except FileNotFoundError:
                return

    def _place(self, name: str, write: Callable[[str], None]) -> None:
        """An object appears whole; a file is written under another name first."""
        if self.url.partition("://")[0] in _BUCKETS:
            write(self._at(name))
            return
        self._system.makedirs(self._root, exist_ok=True)
        unfinished = self._at(f".{name}.{uuid4().hex}.unfinished")
        write(unfinished)
        self._system.mv(unfinished, self._at(name))

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}"

    @contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        """What a storage's client raises, in words. Clients have errors of their own, which are no OSError."""
        try:
            yield
        except FileNotFoundError as error:
            raise StorageError(f"{self.url} could not be {what}: there is no such bucket or folder ({error})") from None
        except PermissionError as error:
            raise StorageError(f"{self.url} could not be {what}: access was refused ({error})") from None
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
            raise StorageError(f"{self.url} could not be {what}: {said}. Are address and credentials set?") from None


def _opened(url: str) -> tuple[Any, str]:
    """A file system and the place in it."""
    protocol = url.partition("://")[0]
    try:
        import fsspec
    except ImportError:
        raise StorageError(f"{url}: shared storage needs fsspec: install rebind[storage]") from None
    known = fsspec.available_protocols()
    if protocol not in known:
        raise StorageError(f"{url}: no storage is called {protocol!r}{did_you_mean(protocol, known)}")
    try:
        system, root = fsspec.core.url_to_fs(url, use_listings_cache=False)
    except ImportError as error:
        remedy = f"install rebind[{_EXTRAS[protocol]}]" if protocol in _EXTRAS else str(error)
        raise StorageError(f"{url}: what reads {protocol}:// is not installed; {remedy}") from None
    except Exception as error:
        raise StorageError(f"{url} cannot be opened: {type(error).__name__}: {error}") from None
    return system, root


def _tag(entry: Mapping[str, Any]) -> str:
    known = (entry.get(key) for key in ("ETag", "etag", "md5Hash", "mtime", "LastModified", "updated"))
    return str(next((one for one in known if one is not None), ""))
