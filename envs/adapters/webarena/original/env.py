"""WebArena as a Gymnasium environment: BrowserGym's actions and view, WebArena's own evaluators."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gymnasium

from rebind.envs.adapters.webarena.original.runner import Judge, WebArenaRunner
from rebind.envs.adapters.webarena.original.tasks import sites, task
from rebind.envs.apps.actions import BadAction, parsed_call
from rebind.envs.options import needed_seal
from rebind.envs.spaces import UnicodeText
from rebind.errors import EnvironmentFailure, UserError
from rebind.types import Call, ToolSpec, Verdict

ENV_ID = "rebind/WebArena-v0"
_SCHEMES = ("http://", "https://")


class WebArenaEnv(gymnasium.Env[str, Any]):
    """`rebind.types.Environment`. Runs the packages in a process of their own, started at the first reset and killed by
    `close`. For one thread at a time."""

    def __init__(self, judge: Judge | None = None) -> None:
        self.action_space = UnicodeText()
        self.observation_space = UnicodeText()
        self._judge = judge
        self._runner: WebArenaRunner | None = None
        self._sites: dict[str, str] = {}
        self._specs: tuple[ToolSpec, ...] = ()
        self._score: float | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Starts the task of `options={"seal": Seal}`; returns its first page.

        Raises:
            UserError: no seal of this environment, a site without an address, or the package is not installed.
            EnvironmentFailure: the process died, or a site did not answer.
        """
        super().reset(seed=seed)
        seal = needed_seal(options, "WebArena")
        if seal.env != ENV_ID:
            raise UserError(f"a task of {seal.env} cannot run in {ENV_ID}")
        one = task(int(str(seal.world["task"])), bool(seal.world["stub"]))
        here = sites(one.stub)
        if self._runner is None or here != self._sites:
            self.close()
            self._runner, self._sites = WebArenaRunner(here, self._judge), here
            self._specs = tuple(
                ToolSpec(name=found["name"], description=found["description"], parameters=found["parameters"])
                for found in self._runner.actions()
            )
        self._score = None
        with self._alive() as runner:
            return runner.start(one.id)[1], {}

    def step(self, action: Any) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Does one tool call. The reward is always 0.0; `info` has `calls` and `error`. `terminated` by
        `send_msg_to_user` or `report_infeasible`, or once a page is open that is not of the sites."""
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
        """BrowserGym's actions for WebArena."""
        with self._alive():
            return self._specs

    def verify(self) -> Verdict:
        """By WebArena's evaluators, asked once an episode. Raises UserError where they need a judge and have none."""
        if self._score is None:
            with self._alive() as runner:
                self._score = runner.score()
        passed = self._score == 1.0
        return Verdict(success=passed, failures=() if passed else (f"WebArena's score is {self._score:g}",))

    def close(self) -> None:
        """Kills the process and its browser; `reset` may follow."""
        if self._runner is not None:
            self._runner.close()
        self._runner = None

    @contextmanager
    def _alive(self) -> Iterator[WebArenaRunner]:
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
