"""Our browser tasks in BrowserGym, where that is installed: `register` makes each a `browsergym/...` environment.

A `BrowserTask` is written against Playwright's asynchronous objects, BrowserGym works with the synchronous ones.
`GymTask` has the signature of BrowserGym's `AbstractBrowserTask`; it hands the task a page whose methods can be awaited
and are done at once. Of the session a task may use `page` and `context`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any, Protocol, TypeVar, cast

from rebind.envs.browser.actions import ANSWER, INFEASIBLE
from rebind.envs.browser.env import BrowserTask
from rebind.envs.browser.session import Session
from rebind.errors import UserError
from rebind.types import Call

T = TypeVar("T")
_GREETING = 1
"""BrowserGym opens each chat with a message of the assistant."""


class HasBrowserTasks(Protocol):
    """A world whose tasks can be had one by one."""

    name: str

    def browser_tasks(self) -> Mapping[str, Callable[[int], BrowserTask]]:
        """By name, what makes a task from a seed."""
        ...


def register(world: HasBrowserTasks) -> tuple[str, ...]:
    """Registers a world's tasks with BrowserGym; their ids for `gymnasium.make`, "browsergym/rebind.NAME.TASK".

    Raises:
        UserError: BrowserGym is not installed.
    """
    if find_spec("browsergym") is None or find_spec("browsergym.core") is None:
        raise UserError("BrowserGym is not installed: pip install browsergym-core")
    from browsergym.core.registration import register_task  # type: ignore[import-not-found,unused-ignore]
    from browsergym.core.task import AbstractBrowserTask  # type: ignore[import-not-found,unused-ignore]

    AbstractBrowserTask.register(GymTask)
    ids = []
    for name, make in world.browser_tasks().items():
        ids.append(f"rebind.{world.name}.{name}")
        register_task(ids[-1], GymTask, task_kwargs={"make": make})
    return tuple(f"browsergym/{one}" for one in ids)


class GymTask:
    """A `BrowserTask` with the signature of BrowserGym's `AbstractBrowserTask`."""

    def __init__(self, seed: int, make: Callable[[int], BrowserTask]) -> None:
        self.viewport = {"width": 1280, "height": 800}
        self.slow_mo, self.timeout = 0, 5_000
        self.locale, self.timezone_id = "en-US", "UTC"
        self._task = make(seed)

    def setup(self, page: Any) -> tuple[str, dict[str, Any]]:
        """Opens the task's page. `page` is a synchronous Playwright page. Returns (goal, {})."""
        page.goto(self._task.url, wait_until="domcontentloaded")
        _finished(self._task.setup(_session(page)))
        return self._task.goal, {}

    def validate(
        self, page: Any, chat_messages: Sequence[Mapping[str, Any]]
    ) -> tuple[float, bool, str, dict[str, Any]]:
        """Judges the task once the page says it has ended or the agent wrote an answer; before that the reward is 0.
        Returns (reward, done, "", what was reached and what was wrong)."""
        calls, session = _endings(chat_messages), _session(page)
        if not calls and not _finished(self._task.done(session)):
            return 0.0, False, "", {}
        verdict = _finished(self._task.validate(session, calls))
        reached = {one.id: one.reached for one in verdict.milestones}
        return float(verdict.success), True, "", {"milestones": reached, "failures": list(verdict.failures)}

    def teardown(self) -> None:
        self._task.teardown()


def _endings(messages: Sequence[Mapping[str, Any]]) -> tuple[Call, ...]:
    """What the agent wrote, as the calls that end a task here."""
    said = [m for m in messages if m["role"] == "assistant"][_GREETING:]
    refused = [m for m in messages if m["role"] == "infeasible"]
    return (
        *(Call(tool=ANSWER.name, args={"text": str(m["message"])}, status=200, result="") for m in said),
        *(Call(tool=INFEASIBLE.name, args={"reason": str(m["message"])}, status=200, result="") for m in refused),
    )


class _Place:
    """What of a `Session` a task may use."""

    def __init__(self, page: Any) -> None:
        self.page, self.context = _Awaited(page), _Awaited(page.context)


def _session(page: Any) -> Session:
    return cast(Session, _Place(page))


class _Awaited:
    """A synchronous Playwright object with the asynchronous one's face: what has to be awaited there, can be here."""

    def __init__(self, plain: Any) -> None:
        from playwright import async_api

        self._plain, self._face = plain, getattr(async_api, type(plain).__name__)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._plain, name)
        if not callable(value):
            return _awaited(value)
        if inspect.iscoroutinefunction(getattr(self._face, name, None)):
            return partial(_later, value)
        return lambda *args, **named: _awaited(value(*args, **named))


async def _later(do: Callable[..., Any], *args: Any, **named: Any) -> Any:
    return _awaited(do(*args, **named))


def _awaited(value: Any) -> Any:
    if isinstance(value, list):
        return [_awaited(one) for one in value]
    return _Awaited(value) if type(value).__module__.startswith("playwright.sync_api") else value


def _finished(work: Coroutine[Any, Any, T]) -> T:
    """The result of work that waits for nothing but its page, which answers at once.

    Raises:
        RuntimeError: it waits for something else.
    """
    try:
        work.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    work.close()
    raise RuntimeError("a task may wait for its page only")
