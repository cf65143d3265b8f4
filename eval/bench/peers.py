"""Packages that a benchmark is measured beside, each in an environment of its own, made once in the user's cache."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

from filelock import FileLock

from rebind.errors import RebindError
from rebind.eval.models import cache_folder

_READY = ".ready"


class PeerMissing(RebindError):
    """A peer could not be installed."""


class PeerFailure(RebindError):
    """A peer did not run to its end."""


def interpreter(package: str, version: str) -> Path:
    """The Python that has a package; installs it, in the user's cache, where it is not there yet (minutes).

    Raises:
        PeerMissing: pip could not install it; says why.
    """
    folder = place(package, version)
    folder.parent.mkdir(parents=True, exist_ok=True)
    python = _python(folder)
    with FileLock(folder.with_name(folder.name + ".lock")):
        if not (folder / _READY).exists():
            venv.create(folder, with_pip=True, clear=True)
            command = [str(python), "-m", "pip", "install", "--quiet", f"{package}=={version}"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise PeerMissing(f"{package} {version} could not be installed into {folder}: {done.stderr[-500:]}")
            (folder / _READY).touch()
    return python


def installed(package: str, version: str) -> Path | None:
    """The Python that has a package where it is there already; installs nothing."""
    folder = place(package, version)
    return _python(folder) if (folder / _READY).exists() else None


def place(package: str, version: str) -> Path:
    """The folder of a peer's environment."""
    return cache_folder().parent / "bench" / f"{package}-{version}"


def _python(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
