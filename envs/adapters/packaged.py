"""A package in an environment of its own, and what answers for it there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rebind.envs.adapters.lines import Side
from rebind.envs.adapters.venvs import Place
from rebind.errors import UserError


@dataclass(frozen=True)
class Packaged:
    """`package`: its name on PyPI. `world`: what `rebind envs install` knows it by. `side`: the folder whose `main`
    answers for it."""

    place: Place
    package: str
    world: str
    side: Path

    def missing(self) -> str | None:
        """Why it cannot run here, and what to do; None where it can."""
        ready = self.place.ready()
        return None if ready else f"{self.package} is not installed; run `rebind envs install {self.world}`"

    def install(self) -> str:
        """Makes the environment that the package lives in; says where. Raises InstallFailure."""
        return str(self.place.install())

    def start(self) -> Side:
        """A process that answers for it.

        Raises:
            UserError: the environment is not there; says how to make it.
        """
        why_not = self.missing()
        if why_not:
            raise UserError(why_not)
        return Side(self.place.python, self.side)

    def file(self, pattern: str, what: str) -> Path:
        """A file that it installs, `what` it holds. Raises UserError where it is not there."""
        why_not = self.missing()
        found = list(self.place.folder.glob(f"[Ll]ib/**/{pattern}"))
        if why_not or not found:
            raise UserError(why_not or f"{self.place.folder} lacks {what}; delete it and install again")
        return found[0]
