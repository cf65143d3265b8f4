"""A benchmark on BrowserGym as a Gymnasium environment: BrowserGym's actions and view, the benchmark's evaluators."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Generic, TypeVar

import gymnasium

from rebind.envs.adapters.browsergym.runner import BrowserRunner, Scored
from rebind.envs.apps.actions import BadAction, parsed_call
from rebind.envs.options import needed_seal
from rebind.envs.spaces import UnicodeText
from rebind.errors import EnvironmentFailure, UserError
from rebind.types import Call, Seal, ToolSpec, Verdict

_SCHEMES = ("http://", "https://")
R = TypeVar("R", bound=BrowserRunner)


class BrowserGymEnv(gymnasium.Env[str, Any], Generic[R]):
    """`rebind.types.Environment`. Runs the packages in a process of their own, started at the first reset and killed by
    `close`. For one thread at a time."""

    env_id: ClassVar[str]
    benchmark: ClassVar[str]

    def __init__(self) -> None:
        self.action_space = UnicodeText()
        self.observation_space = UnicodeText()
        self._runner: R | None = None
        self._where: Any = None
        self._specs: tuple[ToolSpec, ...] = ()
        self._scored: Scored | None = None

    @abstractmethod
    def _servers(self, seal: Seal) -> Any:
        """Where the task runs; a process runs tasks of the same servers only."""

    @abstractmethod
    def _opened(self, servers: Any) -> R:
        """A process for these servers."""

    @abstractmethod
    def _begun(self, runner: R, seal: Seal) -> str:
        """Starts the task; what is seen first."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Starts the task of `options={"seal": Seal}`; returns its first page.

        Raises:
            UserError: no seal of this environment, a server without an address, or the package is not installed.
            EnvironmentFailure: the process died, or a server did not answer.
        """
        super().reset(seed=seed)
        seal = needed_seal(options, self.benchmark)
        if seal.env != self.env_id:
            raise UserError(f"a task of {seal.env} cannot run in {self.env_id}")
        servers = self._servers(seal)
        if self._runner is None or servers != self._where:
            self.close()
            self._runner, self._where = self._opened(servers), servers
            self._specs = tuple(
                ToolSpec(name=found["name"], description=found["description"], parameters=found["parameters"])
                for found in self._runner.actions()
            )
        self._scored = None
        with self._alive() as runner:
            return self._begun(runner, seal), {}

    def step(self, action: Any) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Does one tool call. The reward is always 0.0; `info` has `calls` and `error`. `terminated` by
        `send_msg_to_user` or `report_infeasible`, or where the benchmark ends the task: WebArena does once a page is
        open that is not of its sites."""
        try:
            doing = parsed_call(action)
        except BadAction as bad:
            return self._refusal(str(bad))
        if doing.tool == "goto" and not str(doing.args.get("url")).startswith(_SCHEMES):
            return self._refusal("goto opens addresses that begin with http:// or https://")  # files hold the answers
        with self._alive() as runner:
            seen = runner.act(written(doing.tool, doing.args))
        call = Call(tool=doing.tool, args=doing.args, status=422 if seen.error else 200, result=seen.error or None)
        view = f"error: {seen.error}\n{seen.view}" if seen.error else seen.view
        return view, 0.0, seen.ended, False, {"calls": (call,), "error": seen.error or None}

    def tools(self) -> tuple[ToolSpec, ...]:
        """BrowserGym's actions for the benchmark."""
        with self._alive():
            return self._specs

    def verify(self) -> Verdict:
        """By the benchmark's evaluators, asked once an episode.

        Raises:
            UserError: they need a judge and have none.
            EnvironmentFailure: they failed, which is no score.
        """
        if self._scored is None:
            with self._alive() as runner:
                self._scored = runner.score()
        score, why = self._scored.score, self._scored.why
        said = f"{self.benchmark}'s score is {score:g}{f': {why}' if why else ''}"
        return Verdict(success=score == 1.0, failures=() if score == 1.0 else (said,))

    def close(self) -> None:
        """Ends the process and its browser; `reset` may follow."""
        if self._runner is not None:
            self._runner.close()
        self._runner = None

    @contextmanager
    def _alive(self) -> Iterator[R]:
        """The process, given up where it fails: the next reset starts another."""
        if self._runner is None:
            raise gymnasium.error.ResetNeeded("reset the environment before anything else")
        try:
            yield self._runner
        except EnvironmentFailure:
            self.close()
            raise

    def _refusal(self, why: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        return f"Error: {why}", 0.0, False, False, {"calls": (), "error": why}


def written(tool: str, args: dict[str, Any]) -> str:
    """A call as BrowserGym reads it: `fill(bid='12', value='a')`."""
    return f"{tool}({', '.join(f'{name}={value!r}' for name, value in args.items())})"
