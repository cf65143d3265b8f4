"""A benchmark on BrowserGym, as its authors run it, in a process of its own."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

from rebind.envs.adapters.lines import Refused
from rebind.envs.adapters.packaged import Packaged
from rebind.envs.browser.chromium import arguments, find
from rebind.errors import EnvironmentFailure, RebindError

_SECONDS = 120.0
_START_SECONDS = 300.0
_CLOSE_SECONDS = 60.0


@dataclass(frozen=True)
class Seen:
    """What an action led to."""

    view: str
    """Tabs and the active one's accessibility tree, as BrowserGym writes it."""
    error: str
    """Empty where the action was done."""
    ended: bool


@dataclass(frozen=True)
class Scored:
    """What the evaluators say."""

    score: float
    why: str
    """In their words; empty where they give none."""


class BrowserRunner:
    """One task at a time. For one thread at a time."""

    def __init__(self, packaged: Packaged, benchmark: str, **given: Any) -> None:
        """`benchmark`: its name, and in small letters its module in `side`. `given`: what that is opened with.

        Raises:
            UserError: the package is not installed, or there is no Chromium.
            EnvironmentFailure: the process failed.
        """
        chromium = find()
        self._benchmark = benchmark
        self._side = packaged.start()
        try:
            module = benchmark.lower()
            self.ask("open", _START_SECONDS, benchmark=module, chromium=str(chromium.path), flags=arguments(), **given)
        except EnvironmentFailure:
            self._side.close()
            raise

    def actions(self) -> list[dict[str, Any]]:
        """What an agent can do: names, descriptions and JSON schemas of arguments."""
        found: list[dict[str, Any]] = self.ask("actions")
        return found

    def start(self, seed: int = 0, **task: Any) -> tuple[str, str]:
        """Signs in and opens the task's first page; its goal, and what is seen. `task`: as the benchmark names it.

        Raises:
            EnvironmentFailure: a server does not answer, or the login fails.
        """
        found = self.ask("start", _START_SECONDS, seed=seed, **task)
        return found["goal"], found["view"]

    def act(self, action: str) -> Seen:
        """Does one action in BrowserGym's form: `click('12')`, `send_msg_to_user('1')`."""
        return Seen(**self.ask("act", action=action))

    def score(self) -> Scored:
        """The evaluators' score of the task as it stands; asked once, when the agent has stopped.

        Raises:
            EnvironmentFailure: the process or an evaluator failed.
        """
        return Scored(**self.ask("judge"))

    def close(self) -> None:
        """Lets the task take back what it made, then ends the process and its browser. May be called again."""
        with contextlib.suppress(RebindError):
            self.ask("close", _CLOSE_SECONDS)
        self._side.close()

    def ask(self, do: str, seconds: float = _SECONDS, **arguments: Any) -> Any:
        """Raises EnvironmentFailure where the process fails, or the package does."""
        try:
            return self._side.ask(do, seconds=seconds, **arguments)
        except Refused as refused:
            raise EnvironmentFailure(f"{self._benchmark} could not {do}: {str(refused)[:500]}") from None
