"""The sites as every episode finds them: built once a user, by code and package versions, in a cache folder.

The folder may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from filelock import FileLock

from rebind.caches import worlds_cache
from rebind.errors import EnvironmentFailure

_HERE = Path(__file__).parent
_PACKAGES = ("Django", "django-oscar", "django-machina", "django-helpdesk", "wiki")
_MODULES = {
    "django": "Django", "oscar": "django-oscar", "machina": "django-machina", "helpdesk": "django-helpdesk",
    "bootstrap4form": "django-bootstrap4-form", "wiki": "wiki", "waitress": "waitress", "whitenoise": "whitenoise",
}  # fmt: skip
_BUILD_SECONDS = 600
_STALE_SECONDS = 3 * 24 * 3600
WORLD = "world.sqlite3"


def missing() -> str | None:
    """Which package is not there, and what to do about it; None where all are."""
    for module, package in _MODULES.items():
        if find_spec(module) is None:
            return f"the package {package} is missing: pip install 'rebind[sites]'"
    return None


def world_image() -> Path:
    """The database that every episode starts from. Built where it is not there: half a minute, once.

    Raises:
        EnvironmentFailure: it could not be built.
    """
    return _folder() / WORLD


def static_files() -> Path:
    return _folder() / "static"


@cache
def _folder() -> Path:
    folder = cache_folder() / sources_digest()[:16]
    if not (folder / WORLD).exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.parent / f"{folder.name}.lock"):
            if not (folder / WORLD).exists():
                _build(folder)
                _prune(folder)
    os.utime(folder)
    return folder


def _prune(kept: Path) -> None:
    """Removes worlds of other code or packages that nobody has opened for days."""
    for other in kept.parent.iterdir():
        if other.is_dir() and other != kept and time.time() - other.stat().st_mtime > _STALE_SECONDS:
            shutil.rmtree(other, ignore_errors=True)


def _build(folder: Path) -> None:
    made = Path(tempfile.mkdtemp(dir=folder.parent, prefix="building-"))
    try:
        command = [sys.executable, "-m", "rebind.envs.sites.content.build", str(made)]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_BUILD_SECONDS, env=child_environment(), check=False
        )
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise EnvironmentFailure(f"the sites could not be built: {last}")
        os.replace(made, folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def child_environment() -> dict[str, str]:
    """This process's environment variables, with the place this Rebind is imported from first on Python's path."""
    home = str(_HERE.parents[2])  # not resolved: below src, this folder is reached through a link
    return os.environ | {"PYTHONPATH": os.pathsep.join(p for p in (home, os.environ.get("PYTHONPATH")) if p)}


@cache
def sources_digest() -> str:
    """SHA-256 over all that determines the content: code that writes it, versions of what it is written with."""
    content = hashlib.sha256(sqlite3.sqlite_version.encode())
    for package in _PACKAGES:
        try:
            content.update(f"{package}=={version(package)}\n".encode())
        except PackageNotFoundError:
            content.update(f"{package} missing\n".encode())
    for path in sorted([*(_HERE / "content").glob("*.py"), *(_HERE / "project").glob("*.py"),
                        *(_HERE / "inventory").glob("*.py")]):  # fmt: skip
        content.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return content.hexdigest()


@cache
def world_digest() -> str:
    """SHA-256 over the content itself, but for columns that say nothing about it."""
    from rebind.envs.sites.difference import content

    db = sqlite3.connect(world_image())
    try:
        return hashlib.sha256(json.dumps(content(db), sort_keys=True, default=str).encode()).hexdigest()
    finally:
        db.close()


def cache_folder() -> Path:
    """`$REBIND_CACHE/sites`, else `$XDG_CACHE_HOME/rebind/sites`, else `~/.cache/rebind/sites`."""
    return worlds_cache() / "sites"
