"""How banks and targets reach the disk: JSON lines, whole folders that appear at once, digests, read-only modes."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from rebind.canon import canonical, digest, file_digest

MANIFEST = "manifest.json"
_PART = 1 << 20
"""Bytes read at once."""


def silent(_what: str, _done: int, _total: int) -> None:
    """The progress callback of a caller that does not want any."""


def append_line(path: Path, value: JsonValue) -> None:
    """Appends one canonical JSON line; on return it is on the disk."""
    with path.open("ab") as handle:
        handle.write(canonical(value) + b"\n")
        handle.flush()
        os.fsync(handle.fileno())


def read_lines(path: Path) -> Iterator[Any]:
    """The values of a JSON-lines file; none where the file does not exist."""
    if path.exists():
        with path.open("rb") as handle:
            for line in handle:
                yield json.loads(line)


def drop_torn_tail(path: Path) -> None:
    """Cuts off a last line that a killed process did not finish. Reads the end of the file alone."""
    if not path.exists():
        return
    with path.open("r+b") as file:
        size = end = file.seek(0, os.SEEK_END)
        at = -1
        while end and at < 0:
            begin = max(0, end - _PART)
            file.seek(begin)
            at = file.read(end - begin).rfind(b"\n")
            end = begin + at + 1 if at >= 0 else begin
        if end < size:
            file.truncate(end)


def write_lines(path: Path, values: Iterable[JsonValue]) -> None:
    """Writes a file of canonical JSON lines."""
    with path.open("wb") as handle:
        for value in values:
            handle.write(canonical(value) + b"\n")
        handle.flush()
        os.fsync(handle.fileno())


def replace_text(path: Path, text: str) -> None:
    """Writes a small file in one go: a reader sees the old text or the new one."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    Path(temporary).replace(path)


def write_manifest(folder: Path, content: Mapping[str, JsonValue], paths: Iterable[str]) -> str:
    """Writes `manifest.json`, last of all files: the content, every file's SHA-256, and the digest of both, which is
    returned and names the folder's content."""
    files: dict[str, JsonValue] = {name: file_digest(folder / name) for name in sorted(paths)}
    whole: dict[str, JsonValue] = {**content, "files": files}
    whole["digest"] = digest(whole)
    replace_text(folder / MANIFEST, _manifest_text(whole))
    return str(whole["digest"])


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest, checked against its own digest; not a byte of it may have changed.

    Raises:
        FileNotFoundError: there is none. ValueError: it is no manifest or was edited.
    """
    text = (folder / MANIFEST).read_bytes().decode()
    manifest = json.loads(text)
    if not isinstance(manifest, dict) or not isinstance(manifest.get("files"), dict):
        raise ValueError("is not a manifest")
    content = {k: v for k, v in manifest.items() if k != "digest"}
    if manifest.get("digest") != digest(content) or text != _manifest_text(manifest):
        raise ValueError("was edited: it differs from its own digest")
    return manifest


def _manifest_text(manifest: Mapping[str, Any]) -> str:
    return json.dumps(manifest, indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def first_difference(folder: Path, manifest: Mapping[str, Any]) -> str | None:
    """The first file, by name, that is missing, not in the manifest, or not what the manifest says; None if all agree.
    Folders inside the folder are not looked at."""
    files: dict[str, str] = manifest["files"]
    present = {p.name for p in folder.iterdir() if p.is_file()} - {MANIFEST}
    for name in sorted(present | files.keys()):
        if name not in files or name not in present or file_digest(folder / name) != files[name]:
            return name
    return None


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A temporary folder beside `path` that becomes `path` if the block ends well, and is gone otherwise."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    temporary.chmod(0o755)
    try:
        yield temporary
        temporary.rename(path)
        _sync(path.parent)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def kept_folder(path: Path, holds: Callable[[Path], bool], fill: Callable[[Path], None]) -> None:
    """Makes a folder of a cache, unless it holds already what it should. Of several processes that make it at once the
    first one's stays.

    Args:
        holds: whether a folder is there and is the one that is wanted.
        fill: fills an empty folder; what it raises leaves nothing behind.

    Raises:
        OSError: it cannot be made.
    """
    if holds(path):
        return
    try:
        with new_folder(path) as folder:
            fill(folder)
    except OSError:
        if not holds(path):  # else another process was first
            raise


def make_read_only(folder: Path) -> None:
    """Takes the write permission from everything in a folder, and from the folder."""
    for path in folder.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    folder.chmod(0o555)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
