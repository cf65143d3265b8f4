"""Virtual environments in the user's cache, for packages that cannot or should not share ours."""

from __future__ import annotations

import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from rebind.caches import user_cache
from rebind.errors import RebindError

_READY = ".ready"


class InstallFailure(RebindError):
    """A package could not be installed into its environment."""


@dataclass(frozen=True)
class Place:
    """What an adapter needs installed. Every requirement is pinned and installed without its dependencies, so that
    nothing unreviewed comes along."""

    name: str
    version: str
    requirements: tuple[str, ...]

    @property
    def folder(self) -> Path:
        """In the user's cache (XDG); deletable."""
        return user_cache() / "envs" / f"{self.name}-{self.version}"

    @property
    def python(self) -> Path:
        return self.folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")

    def ready(self) -> bool:
        """Whether it is installed, with the requirements named here."""
        mark = self.folder / _READY
        return mark.exists() and mark.read_text() == self._contents()

    def install(self) -> Path:
        """Makes the environment where it is not there; returns its Python.

        Raises:
            InstallFailure: pip could not install it; says why.
        """
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(self.folder.with_name(self.folder.name + ".lock")):
            if not self.ready():
                venv.create(self.folder, with_pip=True, clear=True)
                command = [str(self.python), "-m", "pip", "install", "--quiet", "--no-deps", *self.requirements]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode != 0:
                    raise InstallFailure(f"{self.name} could not be installed into {self.folder}: {done.stderr[-500:]}")
                (self.folder / _READY).write_text(self._contents())
        return self.python

    def _contents(self) -> str:
        return "\n".join(self.requirements)
