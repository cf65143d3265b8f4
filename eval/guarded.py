"""An environment that cannot take a run down: what it does happens in a thread of its own, with a limit of time."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any

from rebind.errors import EnvironmentFailure, RebindError
from rebind.types import Environment, ToolSpec, Verdict

HANGS_AFTER = 600.0
"""Seconds after which a call into an environment is taken to hang, where the budget names no time."""

_Answer = tuple[Any, BaseException | None]
_Task = tuple[Callable[[], Any], "SimpleQueue[_Answer]"]


class GuardedEnvironment:
    """An `Environment` around another one, which is made and used in one thread from start to end (browsers want that).

    A call that does not come back in time, and an error that is none of Rebind's own, is an `EnvironmentFailure`. After
    a hang the environment is given up: its thread closes it if it ever comes back.
    """

    def __init__(self, make: Callable[[], Environment], seconds: float | None) -> None:
        """`seconds`: wall time of one call, `HANGS_AFTER` where None."""
        self._seconds = seconds or HANGS_AFTER
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._env: Environment | None = None
        threading.Thread(target=self._work, name="environment", daemon=True).start()
        self._env = self._call(make)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        observed: tuple[str, dict[str, Any]] = self._call(lambda: self._inner.reset(seed=seed, options=options))
        return observed

    def step(self, action: Any) -> tuple[str, float, bool, bool, dict[str, Any]]:
        stepped: tuple[str, float, bool, bool, dict[str, Any]] = self._call(lambda: self._inner.step(action))
        return stepped

    def tools(self) -> tuple[ToolSpec, ...]:
        tools: tuple[ToolSpec, ...] = self._call(self._inner.tools)
        return tools

    def verify(self) -> Verdict:
        verdict: Verdict = self._call(self._inner.verify)
        return verdict

    def close(self) -> None:
        """Asks for it; does not wait for an environment that hangs."""
        self._tasks.put(None)

    @property
    def _inner(self) -> Environment:
        assert self._env is not None  # made by __init__
        return self._env

    def _call(self, do: Callable[[], Any]) -> Any:
        box: SimpleQueue[_Answer] = SimpleQueue()
        self._tasks.put((do, box))
        try:
            value, error = box.get(timeout=self._seconds)
        except Empty:
            self.close()
            raise EnvironmentFailure(f"the environment did not answer within {self._seconds:g} s") from None
        if error is None:
            return value
        if isinstance(error, RebindError) or not isinstance(error, Exception):
            raise error
        where = traceback.extract_tb(error.__traceback__)[-1]
        said = f"the environment failed: {type(error).__name__}: {error} ({where.filename}:{where.lineno})"
        raise EnvironmentFailure(said) from error

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            do, box = task
            try:
                box.put((do(), None))
            except BaseException as error:  # handed to the thread that waits, which raises it
                box.put((None, error))
        if self._env is not None:
            self._env.close()
