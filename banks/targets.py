"""A targets folder as the runner sees it: tasks, and apart from them their seals."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from rebind.banks.files import MANIFEST, read_manifest
from rebind.errors import TargetsError
from rebind.types import Seal, Target, Task

TARGETS, SEALS = "targets.jsonl", "seals.jsonl"


class TargetSet:
    """A targets folder; a file is read when first needed and must have the bytes its manifest says."""

    def __init__(self, path: Path, manifest: Mapping[str, Any]) -> None:
        self.path = path
        self.manifest = manifest

    @classmethod
    def open(cls, path: Path) -> TargetSet:
        """Opens a targets folder by its manifest.

        Raises:
            TargetsError: there is none, or its manifest was edited.
        """
        try:
            return cls(path, read_manifest(path))
        except FileNotFoundError:
            raise TargetsError(f"{path} holds no targets (no {MANIFEST}); `rebind targets build` makes them") from None
        except ValueError as error:
            raise TargetsError(f"targets {path}: {MANIFEST} {error}") from None

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """What agents may see of the targets, in order of their keys."""
        return tuple(Task.model_validate(line["task"]) for line in self._lines(TARGETS))

    @cached_property
    def seals(self) -> dict[str, Seal]:
        """The sealed halves by task key: for the runner, which resets environments with them, and the auditor."""
        return {line["key"]: Seal.model_validate(line["seal"]) for line in self._lines(SEALS)}

    def targets(self) -> tuple[Target, ...]:
        """Tasks with their seals, in order of their keys."""
        return tuple(Target(task=task, seal=self.seals[task.key]) for task in self.tasks)

    def target(self, key: str) -> Target:
        """The target whose task key begins so.

        Raises:
            TargetsError: there is none, or more than one.
        """
        found = [t for t in self.targets() if t.task.key.startswith(key)]
        if len(found) != 1:
            raise TargetsError(f"{len(found)} targets of {self.path} have a key that begins with {key!r}, not one")
        return found[0]

    @property
    def bank(self) -> Path:
        """Where the bank lies that the targets were made from, if it was not moved away from them."""
        return (self.path / str(self.manifest["bank"]["path"])).resolve()

    def _lines(self, name: str) -> Iterator[Any]:
        try:
            content = (self.path / name).read_bytes()
        except OSError as error:
            raise TargetsError(f"targets {self.path}: {name} cannot be read: {error.strerror}") from None
        if sha256(content).hexdigest() != self.manifest["files"].get(name):
            raise TargetsError(f"targets {self.path}: {name} differs from the manifest; it was edited afterwards")
        return map(json.loads, content.splitlines())
