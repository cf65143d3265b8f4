"""AppWorld as a Gymnasium environment: Python or single API calls in, text out, judged by its own tests."""

from __future__ import annotations

import re
import uuid
from typing import Any

import gymnasium
from pydantic import JsonValue

from rebind.canon import digest
from rebind.envs.adapters.appworld.apis import api_of, specs
from rebind.envs.adapters.appworld.bench import Bench
from rebind.envs.adapters.appworld.guard import refused
from rebind.envs.adapters.appworld.tasks import task
from rebind.envs.adapters.appworld.worker import Worker
from rebind.envs.answers import value_of
from rebind.envs.apps.actions import BadAction, parsed
from rebind.envs.options import needed_seal
from rebind.envs.spaces import UnicodeText
from rebind.errors import EnvironmentFailure
from rebind.types import Call, Code, Milestone, ToolSpec, Verdict

ENV_ID = "rebind/AppWorld-v0"
_FAILED = "Execution failed."
_UNANSWERED = 504
_API = re.compile(r"\w+__\w+")


class AppWorldEnv(gymnasium.Env[str, Any]):
    """One world; `rebind.types.Environment`. Each episode has a server process of its own, so that nothing that an
    agent's code did to its interpreter is there in the next; `close` kills it. For one thread at a time."""

    def __init__(self, timeout_seconds: int = 100, margin_seconds: float = 30.0, trusted: bool = False) -> None:
        """`timeout_seconds` is AppWorld's own limit on a block of code. It does not hold against code that catches
        everything: after the margin the process is killed. With `trusted` code (our own solutions) one server serves
        many episodes."""
        self.action_space = UnicodeText()
        self.observation_space = UnicodeText()
        self._timeout, self._margin, self._trusted = timeout_seconds, margin_seconds, trusted
        self._worker: Worker | None = None
        self._bench: Bench | None = None
        self._experiment = ""
        self._logged = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Starts the task of `options={"seal": Seal}`; returns whom the agent acts for, and when.

        Raises:
            UserError: no seal of this environment, or AppWorld or its data are not there.
            EnvironmentFailure: the server did not start or refused the task; the next reset starts another.
        """
        super().reset(seed=seed)
        world = needed_seal(options, "AppWorld").world
        one = task(str(world.get("task")), bool(world.get("official")))
        self._experiment, self._logged = f"rebind-{uuid.uuid4().hex}", 0
        if self._worker is not None and self._trusted and self._worker.task.root == one.root:
            self._worker.take(one)
        else:
            self._drop()
            self._worker = Worker(one)
        opened = self._ask(
            "/initialize",
            experiment_name=self._experiment,
            load_ground_truth=False,
            timeout_seconds=self._timeout,
        )
        return _first_words(opened), {}

    def step(self, action: Any) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Runs a block of Python, or one API call. The reward is always 0.0; `info` has `calls` (as AppWorld logs them;
        504 is the status of one that was not answered) and `error`. `terminated` by `complete_task`."""
        worker = self._running()
        try:
            doing = parsed(action)
        except BadAction as bad:
            return self._refusal(str(bad))
        if isinstance(doing, Code):
            code, why = doing.code, refused(doing.code)
        else:
            why = None if _API.fullmatch(doing.tool) else f"a tool's name is app__api, not {doing.tool!r}"
            code = f"print(apis.{doing.tool.replace('__', '.', 1)}(**{doing.args!r}))"
        if why:
            return self._refusal(why)
        seen = str(self._ask("/execute", code=code))
        calls = self._calls(worker, None if isinstance(doing, Code) else value_of(seen))
        over = bool(self._ask("/task_completed"))
        return seen, 0.0, over, False, {"calls": calls, "error": seen if seen.startswith(_FAILED) else None}

    def tools(self) -> tuple[ToolSpec, ...]:
        """The APIs that tell of all others, those of the supervisor, and `complete_task` among them."""
        return specs(self._running().task)

    def verify(self) -> Verdict:
        """By the task's own tests, in another process, on copied outputs. Milestones are the tests that doing nothing
        fails; failed tests that doing nothing passes are collateral damage."""
        worker = self._running()
        self._ask("/save_logs")
        report = self._judged(worker)
        tests = [(t, True) for t in report["passes"]] + [(t, False) for t in report["failures"]]
        return Verdict(
            success=bool(report["success"]),
            milestones=tuple(
                Milestone(id=digest(t["requirement"])[:16], text=t["requirement"], reached=passed)
                for t, passed in tests
                if t["label"] == "no_op_fail"
            ),
            failures=tuple(t["requirement"] for t, passed in tests if not passed and t["label"] != "no_op_pass"),
            collateral=tuple(t["requirement"] for t, passed in tests if not passed and t["label"] == "no_op_pass"),
        )

    def close(self) -> None:
        """Kills its processes; `reset` may follow."""
        self._drop()
        if self._bench is not None:
            self._bench.close()
            self._bench = None

    def _judged(self, worker: Worker) -> dict[str, Any]:
        if self._bench is None:
            self._bench = Bench()
        try:
            return self._bench.judge(worker.task, self._experiment, worker.outputs(self._experiment))
        except EnvironmentFailure:
            self._bench.close()
            self._bench = None
            raise

    def _calls(self, worker: Worker, result: JsonValue) -> tuple[Call, ...]:
        logged = worker.calls(self._experiment)
        fresh, self._logged = logged[self._logged :], len(logged)
        return tuple(
            Call(tool=api_of(worker.task, row), args=row["data"], status=row.get("status", _UNANSWERED), result=result)
            for row in fresh
        )

    def _refusal(self, why: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        return f"Error: {why}", 0.0, False, False, {"calls": (), "error": why}

    def _ask(self, path: str, **body: Any) -> Any:
        try:
            return self._running().post(path, self._timeout + self._margin, **body)
        except EnvironmentFailure:
            self._drop()
            raise

    def _drop(self) -> None:
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def _running(self) -> Worker:
        if self._worker is None:
            raise gymnasium.error.ResetNeeded("reset the environment before anything else")
        return self._worker


def _first_words(opened: dict[str, Any]) -> str:
    boss = opened["supervisor"]
    return (
        f"You act for {boss['first_name']} {boss['last_name']} (email {boss['email']}, "
        f"phone {boss['phone_number']}). It is {opened['datetime']}. Write Python: apis.app_name.api_name(...) calls "
        "an API, print shows a result, and variables stay. apis.api_docs tells which apps and APIs there are, "
        "apis.supervisor holds passwords. End with apis.supervisor.complete_task(), with answer=... where the task is "
        "a question."
    )
