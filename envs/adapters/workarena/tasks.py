"""WorkArena's L1 tasks: a class and a configuration."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pydantic import JsonValue

from rebind.envs.adapters.pairs import bindings
from rebind.envs.adapters.workarena.configurations import NAMES, file, read, stem, values
from rebind.envs.adapters.workarena.install import configurations
from rebind.errors import UserError
from rebind.types import Binding, ToolCall

VARIABLE = "REBIND_WORKARENA"
"""Names a folder of task configurations to use in place of the package's own."""
_PREFIX = "workarena/"


@dataclass(frozen=True)
class WorkArenaTask:
    """One task of WorkArena."""

    name: str
    """Of its class, as WorkArena shortens it: "create-incident"."""
    config: JsonValue

    @property
    def family(self) -> str:
        return f"{_PREFIX}{self.name}"

    def bindings(self) -> tuple[Binding, ...]:
        """What the configuration asks for."""
        return bindings([ToolCall(tool=self.name, args=dict(values(stem(self.name), self.config)))])


class Listed(Mapping[str, Sequence[WorkArenaTask]]):
    """The tasks by family; a file is read when its family is asked for (some hold tens of megabytes)."""

    def __init__(self, folder: Path) -> None:
        self._files = {f"{_PREFIX}{name}": (name, path) for name in NAMES if (path := file(folder, name))}

    def __getitem__(self, family: str) -> Sequence[WorkArenaTask]:
        return _tasks(*self._files[family])

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


def listed() -> Listed:
    """All tasks. Raises UserError where the package is not installed, or the folder of `VARIABLE` has none."""
    own = os.environ.get(VARIABLE)
    found = Listed(Path(own).expanduser() if own else configurations())
    if not found:
        raise UserError(f"{VARIABLE}={own} holds no task configurations of WorkArena")
    return found


@lru_cache(maxsize=2)
def _tasks(name: str, path: Path) -> tuple[WorkArenaTask, ...]:
    return tuple(WorkArenaTask(name, config) for config in read(path))
