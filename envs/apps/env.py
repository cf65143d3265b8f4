"""The app world as a Gymnasium environment: text in, text out, judged by `verify`."""

from __future__ import annotations

import datetime
import sqlite3
from typing import Any

import gymnasium

from rebind.canon import digest
from rebind.envs.apps.actions import BadAction, parsed
from rebind.envs.apps.api import common, registry
from rebind.envs.apps.api.values import compact
from rebind.envs.apps.code import CodeSession
from rebind.envs.apps.spaces import ActionText
from rebind.envs.apps.state import connect, snapshots, task_images
from rebind.envs.options import seal_of
from rebind.envs.spaces import UnicodeText
from rebind.errors import EnvironmentFailure
from rebind.types import Call, Seal, Target, ToolCall, ToolSpec, Verdict

_TRIES = 20
"""Draws of a task by seed before giving up: not every family fits into every world."""


class AppsEnv(gymnasium.Env[str, Any]):
    """One person's mail, calendar, bank … behind some 110 APIs; `rebind.types.Environment`.

    Actions are tool calls or Python blocks, as `rebind.types.Action` or as text (see `actions.parse`). For one thread
    at a time; the thread may change.
    """

    def __init__(self) -> None:
        self.action_space = ActionText()
        self.observation_space = UnicodeText()
        self._db: sqlite3.Connection | None = None
        self._code: CodeSession | None = None
        self._seal: Seal | None = None
        self._before = b""
        self._calls: list[Call] = []

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Starts the task of `options={"seal": Seal}`; without options a task is drawn by the seed, its goal then being
        `info["goal"]`. Returns the first observation."""
        super().reset(seed=seed)
        info: dict[str, Any] = {}
        if options:
            seal = seal_of(options)
        else:
            target = self._draw()
            seal, info["goal"] = target.seal, target.task.goal
        return self._start(seal), info

    def _draw(self) -> Target:
        from rebind.envs.apps.families.view import CannotBuild
        from rebind.envs.apps.world import AppsWorld

        world = AppsWorld()
        families = world.families()
        for _ in range(_TRIES):
            family = families[int(self.np_random.integers(len(families)))]
            try:
                return world.sample(family, int(self.np_random.integers(2**31)))
            except CannotBuild:
                continue
        raise EnvironmentFailure(f"no task could be drawn in {_TRIES} tries")

    def _start(self, seal: Seal) -> str:
        from rebind.envs.apps import world

        self._end()
        key = digest(seal.model_dump(mode="json", include={"family", "world", "bindings"}))
        self._before = task_images().get(key, lambda: _prepared(seal))
        db = self._db = connect(self._before)
        self._seal, self._calls = seal, []
        moment = datetime.datetime.fromisoformat(common.now(db))
        self._code = CodeSession(registry.REGISTRY, self.call, moment=moment)
        return world.first_observation(db, seal)

    def step(self, action: Any) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Does one action. The reward is always 0.0; `info` has `calls` (tuple of Call) and `error` (text or None).

        `terminated` once supervisor_complete_task succeeded. Whatever the agent writes, the answer is an observation.
        Raises `gymnasium.error.ResetNeeded` before the first reset, `EnvironmentFailure` where the fault is ours.
        """
        self._state()
        first = len(self._calls)
        try:
            doing = parsed(action)
        except BadAction as bad:
            observation: str = compact({"error": str(bad)})
            error: str | None = str(bad)
        else:
            observation, error = self._tool(doing) if isinstance(doing, ToolCall) else self._python(doing.code)
        info = {"calls": tuple(self._calls[first:]), "error": error}
        return observation, 0.0, self._completed(), False, info

    def _tool(self, action: ToolCall) -> tuple[str, str | None]:
        made = self.call(action.tool, action.args)
        if made.ok:
            return compact(made.result), None
        reason = made.result["error"] if isinstance(made.result, dict) else made.result
        return compact({"status": made.status, "error": reason}), f"{made.status}: {reason}"

    def _python(self, code: str) -> tuple[str, str | None]:
        assert self._code is not None  # set with the state
        ran = self._code.run(code)
        return ran.text, ran.error

    def call(self, tool: str, args: dict[str, Any], /) -> Call:
        """One API call, also counted for `verify`: the way in for skills and Python blocks."""
        db = self._state()
        try:
            made = registry.call(db, tool, args)
        except Exception as defect:
            raise EnvironmentFailure(f"{tool} failed by itself: {defect!r}") from defect
        self._calls.append(made)
        return made

    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools to name in the prompt for the current task; the rest is found through api_docs."""
        from rebind.envs.apps import world

        self._state()
        assert self._seal is not None  # set with the state
        return world.tools(self._seal)

    def verify(self) -> Verdict:
        """Judges the episode so far."""
        from rebind.envs.apps import world

        db = self._state()
        assert self._seal is not None  # set with the state
        before = connect(self._before)
        try:
            return world.judge(before, db, tuple(self._calls), self._seal)
        finally:
            before.close()

    def close(self) -> None:
        """Frees the state and the interpreter; `reset` may follow."""
        self._end()

    def _end(self) -> None:
        if self._code is not None:
            self._code.close()
            self._code = None
        if self._db is not None:
            self._db.close()
            self._db = None

    def _state(self) -> sqlite3.Connection:
        if self._db is None:
            raise gymnasium.error.ResetNeeded("reset the environment before anything else")
        return self._db

    def _completed(self) -> bool:
        return self._state().execute("SELECT 1 FROM completion").fetchone() is not None


def _prepared(seal: Seal) -> bytes:
    """The image of a task's initial state."""
    from rebind.envs.apps import world

    db = snapshots().restore(int(str(seal.world["seed"])))
    try:
        db.execute("BEGIN")  # one transaction instead of one per planted row
        world.setup(db, seal)
        db.execute("COMMIT")
        return db.serialize()
    finally:
        db.close()
