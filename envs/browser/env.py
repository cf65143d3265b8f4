"""A task in a browser as a Gymnasium environment: the page as text in, one action out, judged by the task."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar

import gymnasium
from pydantic import JsonValue

from rebind.envs.browser.actions import ANSWER, ENDINGS, INFEASIBLE, TOOLS, VIEW_PART, Scope, act, check
from rebind.envs.browser.engine import START_SECONDS, Engine, engine
from rebind.envs.browser.session import Session
from rebind.envs.browser.spaces import ActionText
from rebind.envs.browser.tabs import ActionFailed
from rebind.envs.browser.view import PAGE_CHARACTERS, View
from rebind.envs.options import seal_of
from rebind.envs.spaces import UnicodeText
from rebind.errors import EnvironmentFailure
from rebind.types import Call, Seal, ToolCall, ToolSpec, Verdict

T = TypeVar("T")

CLOSE_SECONDS = 10.0
STEP_SECONDS = 40.0
"""No action takes longer, its own waits being shorter by far; one that does is a failure of infrastructure."""


class BrowserTask(Protocol):
    """One task of a kind of site: what BrowserGym calls setup, validate and teardown. Of the session it uses `page` and
    `context` alone, so that `browsergym.GymTask` can run it as well."""

    goal: str
    url: str
    """Where the agent starts."""
    origins: tuple[str, ...]
    """What it may reach."""
    uploads: Mapping[str, Path]

    async def setup(self, session: Session) -> None:
        """Runs once the start page is open: signs in, starts what the page must start."""
        ...

    async def done(self, session: Session) -> bool:
        """True where the page itself says that the task has ended."""
        ...

    async def validate(self, session: Session, calls: tuple[Call, ...]) -> Verdict:
        """Judges the task as it stands. Called when the agent has stopped."""
        ...

    def teardown(self) -> None:
        """Frees what the task holds."""
        ...


class BrowserEnv(gymnasium.Env[str, Any], ABC):
    """`rebind.types.Environment` over a page. For one thread at a time; the thread may change."""

    def __init__(self, part: int = PAGE_CHARACTERS) -> None:
        """`part`: characters of the page in one observation."""
        self.action_space, self.observation_space = ActionText(), UnicodeText()
        self._part = part
        self._engine: Engine | None = None
        self._session: Session | None = None
        self._task: BrowserTask | None = None
        self._view: View | None = None
        self._calls: list[Call] = []
        self._ended = False

    @abstractmethod
    def prepare(self, seal: Seal) -> BrowserTask:
        """The task of a seal, its state in place. Subclasses say how."""
        ...

    @abstractmethod
    def draw(self, seed: int) -> tuple[Seal, str]:
        """A task for `reset` without options: (seal, goal)."""
        ...

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Starts the task of `options={"seal": Seal}`; without options a task is drawn by the seed, its goal then being
        `info["goal"]`. Returns the first observation.

        Raises:
            EnvironmentFailure: browser or site did not start.
        """
        super().reset(seed=seed)
        info: dict[str, Any] = {}
        if options:
            seal = seal_of(options)
        else:
            seal, info["goal"] = self.draw(int(self.np_random.integers(2**31)))
        self._end()
        self._engine = engine()
        self._task = self.prepare(seal)
        self._calls, self._ended = [], False
        session = self._session = self._opened(self._task)
        return self._run(self._begin(session, self._task), START_SECONDS, "starting the task"), info

    def _opened(self, task: BrowserTask) -> Session:
        """A tab for a task. A browser in which none can be opened is given up, and another one tried once."""
        from playwright.async_api import Error

        assert self._engine is not None  # set by reset
        try:
            return self._engine.run(self._open(task), START_SECONDS, "opening a tab")
        except (Error, EnvironmentFailure):
            self._engine.stop()
        self._engine = engine()
        return self._run(self._open(task), START_SECONDS, "opening a tab")

    async def _open(self, task: BrowserTask) -> Session:
        assert self._engine is not None  # set by reset
        return await Session.open(await self._engine.browser(), task.origins)

    async def _begin(self, session: Session, task: BrowserTask) -> str:
        await session.page.goto(task.url, wait_until="domcontentloaded")
        await task.setup(session)
        await session.settle()
        return await self._observe(session)

    async def _observe(self, session: Session, part: int = 1) -> str:
        self._view = await session.view()
        notes, session.notes = tuple(session.notes), []
        return self._view.text(notes, part, self._part)

    def step(self, action: Any) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Does one ToolCall (or its JSON text). The reward is always 0.0; `info` has `calls` and `error`.

        Raises:
            EnvironmentFailure: the browser or the site failed.
        """
        if self._session is None or self._task is None or self._ended:
            raise gymnasium.error.ResetNeeded("reset the environment before anything else")
        try:
            call = _tool_call(action)
        except ActionFailed as bad:
            return f"note: {bad}", 0.0, False, False, {"calls": (), "error": str(bad)}
        made = self.call(call.tool, call.args)
        error = None if made.ok else f"{made.status}: {_said(made.result)}"
        return self._seen(made), 0.0, self._ended, False, {"calls": (made,), "error": error}

    def call(self, tool: str, args: dict[str, Any], /) -> Call:
        """One action, also counted for `verify`: the way in for skills. Its result is the page afterwards."""
        if self._session is None or self._task is None:
            raise gymnasium.error.ResetNeeded("reset the environment before anything else")
        made = self._run(self._do(self._session, self._task, tool, args), STEP_SECONDS, f"the action {tool}")
        self._calls.append(made)
        return made

    async def _do(self, session: Session, task: BrowserTask, tool: str, args: dict[str, Any]) -> Call:
        stored: dict[str, JsonValue] = dict(args)
        _sound(session)
        try:
            result: JsonValue
            if tool in ENDINGS:
                check(ANSWER if tool == ANSWER.name else INFEASIBLE, args)
                self._ended, result = True, "the task has ended"
            elif tool == VIEW_PART.name:
                check(VIEW_PART, args)
                result = await self._observe(session, int(args["part"]))
            else:
                stored = await act(Scope(session, task.uploads), tool, args)
                self._ended = await task.done(session)
                result = "the task has ended" if self._ended else await self._observe(session)
        except ActionFailed as failed:
            _sound(session)
            session.notes.append(str(failed))
            page = await self._observe(session)
            return Call(tool=tool, args=stored, status=422, result={"error": str(failed), "page": page})
        return Call(tool=tool, args=stored, status=200, result=result)

    def _seen(self, made: Call) -> str:
        return str(made.result["page"]) if isinstance(made.result, dict) else str(made.result)

    def tools(self) -> tuple[ToolSpec, ...]:
        """All actions; there are no others to be found."""
        return TOOLS

    def verify(self) -> Verdict:
        """Judges the episode so far."""
        if self._session is None or self._task is None:
            raise gymnasium.error.ResetNeeded("reset the environment before anything else")
        return self._run(self._judge(self._session, self._task), STEP_SECONDS, "judging the task")

    async def _judge(self, session: Session, task: BrowserTask) -> Verdict:
        """The task's verdict. Raises EnvironmentFailure where what the agent worked on was gone before it ended."""
        await session.check_alive()
        _sound(session)
        return await task.validate(session, tuple(self._calls))

    def screenshot(self, path: Path) -> None:
        """Saves the active tab as a PNG file."""
        session = self._session
        if session is None:
            raise gymnasium.error.ResetNeeded("reset the environment before anything else")
        self._run(session.page.screenshot(path=path), STEP_SECONDS, "a screenshot")

    def close(self) -> None:
        """Closes the episode's tabs; `reset` may follow."""
        self._end()

    def _run(self, work: Coroutine[Any, Any, T], seconds: float, what: str) -> T:
        """Runs work in the browser's thread; an episode whose work takes too long is over."""
        from playwright.async_api import Error

        assert self._engine is not None  # set by reset
        try:
            return self._engine.run(work, seconds, what)
        except EnvironmentFailure:
            self._end()
            raise
        except (Error, ActionFailed) as error:
            first = str(error).strip().splitlines()[0]
            raise EnvironmentFailure(f"{what}: {first}") from None

    def _end(self) -> None:
        """Closes the episode's tabs, and the whole browser where that hangs."""
        task, session = self._task, self._session
        self._task = self._session = self._view = None
        try:
            if session is not None and self._engine is not None and not self._engine.dead:
                self._engine.run(session.close(), CLOSE_SECONDS, "closing the episode's tabs")
        except EnvironmentFailure:
            if self._engine is not None:
                self._engine.stop()
        finally:
            if task is not None:
                task.teardown()


def _sound(session: Session) -> None:
    """Raises EnvironmentFailure where browser or site are gone: what follows would say nothing of the agent."""
    if session.crashed:
        raise EnvironmentFailure(session.crashed)


def _tool_call(action: Any) -> ToolCall:
    """A ToolCall as it is, or read from JSON text. Raises ActionFailed."""
    form = 'an action is {"tool": "click", "args": {"element": "12"}}'
    if isinstance(action, ToolCall):
        return action
    if not isinstance(action, str):
        raise ActionFailed(f"{type(action).__name__} is no action of a browser; {form}")
    try:
        value = json.loads(action)
    except (ValueError, RecursionError) as error:
        raise ActionFailed(f"the action is not valid JSON ({error}); {form}") from None
    if not isinstance(value, dict) or not isinstance(value.get("tool"), str) or set(value) - {"tool", "args"}:
        raise ActionFailed(f"the action has the wrong form; {form}")
    args = value.get("args", {})
    if not isinstance(args, dict):
        raise ActionFailed(f"the action's args are no object; {form}")
    return ToolCall(tool=value["tool"], args=args)


def _said(result: JsonValue) -> str:
    return str(result["error"]) if isinstance(result, dict) else str(result)
