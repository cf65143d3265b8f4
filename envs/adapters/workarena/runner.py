"""WorkArena as its authors run it, in a process of its own: BrowserGym's browser and actions, its own evaluators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from rebind.envs.adapters.browsergym.runner import BrowserRunner
from rebind.envs.adapters.workarena.install import PACKAGED
from rebind.errors import EnvironmentFailure


@dataclass(frozen=True)
class Worded:
    """A configuration as the agent is told of it."""

    goal: str
    config: JsonValue
    """With the names and serial numbers that the task draws."""


class WorkArenaRunner(BrowserRunner):
    """Tasks by class and configuration: `start(task="all-menu", config={...})`."""

    def __init__(self, instance: Mapping[str, str]) -> None:
        """`instance`: the SNOW_INSTANCE_... variables; empty for goals only.

        Raises:
            UserError: the package is not installed, or there is no Chromium.
            EnvironmentFailure: the process failed.
        """
        self._secrets = [value for name, value in instance.items() if name.endswith("PWD") and value]
        super().__init__(PACKAGED, "WorkArena", instance=dict(instance))

    def kinds(self) -> list[str]:
        """Short names of the package's task classes of L1."""
        found: list[str] = self.ask("kinds")
        return found

    def word(self, task: str, config: JsonValue) -> Worded:
        """The goal of a configuration, by the package.

        Raises:
            EnvironmentFailure: it asks the instance, and there is none (5 of the 33 classes), or it does not answer.
        """
        return Worded(**self.ask("word", task=task, config=config))

    def solve(self) -> None:
        """Lets the task's own solution drive the browser. Raises EnvironmentFailure where it fails."""
        self.ask("solve", 300.0)

    def ask(self, do: str, seconds: float = 120.0, **arguments: Any) -> Any:
        """See `BrowserRunner`; no password is told."""
        try:
            return super().ask(do, seconds, **arguments)
        except EnvironmentFailure as error:
            words = str(error)
            for secret in self._secrets:
                words = words.replace(secret, "***")
            raise EnvironmentFailure(words) from None
