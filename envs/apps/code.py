"""Python actions: blocks of code in a sandboxed interpreter whose only way out are the APIs.

The interpreter is pydantic-monty: a Python of its own without files, network, environment or real clock, in worker
processes that are pooled by this process. A session keeps its variables from block to block. Whatever the code does to
its interpreter (endless loop, memory, a crash) is the agent's error and costs it the session, not the episode.
"""

from __future__ import annotations

import atexit
import datetime
import os
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from rebind.envs.apps.api.values import NotJson, as_json, compact
from rebind.errors import EnvironmentFailure
from rebind.types import Call

if TYPE_CHECKING:
    from pydantic_monty import Monty, MontySession, OSPolicy, ResourceLimits

MAX_CODE = 20_000
"""Characters of one block."""
MAX_OUTPUT = 8_000
"""Characters of one observation; the rest is cut, and said to be."""
MAX_CALLS = 200
"""API calls of one block."""
_SECONDS = 5.0
"""Computing time of one block; waiting for an API does not count."""
_MEMORY = 32 * 2**20
_RECURSION = 150
_MAX_WORKERS = 128
_CHECKOUT_SECONDS = 60.0
_EXCEPTIONS: dict[int, type[Exception]] = {401: PermissionError, 404: LookupError, 422: ValueError}


class Caller(Protocol):
    def __call__(self, tool: str, args: dict[str, Any], /) -> Call: ...


@dataclass(frozen=True)
class Ran:
    """What a block gave: the text to observe, and the error in a line (None where there was none)."""

    text: str
    error: str | None = None


class CodeSession:
    """One episode's interpreter. A worker is taken from the pool at the first block and given back by `close`."""

    def __init__(self, tools: Iterable[str], call: Caller, *, moment: datetime.datetime) -> None:
        """`tools`: names of the functions the code may call, each through `call`. `moment` is what the interpreter
        takes for the time; its random numbers start alike in every session: the same code gives the same result."""
        self._tools = tools
        self._call = call
        self._limits: ResourceLimits = {
            "max_feed_duration_secs": _SECONDS,
            "max_memory": _MEMORY,
            "max_recursion_depth": _RECURSION,
            "max_suspensions": 1_000_000,  # counted over a whole session; a block's calls are limited here
            "max_total_sleep_secs": 0.0,
        }
        self._policy: OSPolicy = {"datetime": moment, "sleep": "zero", "random_start": {"seed": 0}}
        self._session: MontySession | None = None
        self._defect: Exception | None = None
        self._calls = 0

    def run(self, code: str) -> Ran:
        """Runs a block. An API's refusal is raised in the code: PermissionError (401), LookupError (404) or ValueError
        (422) with status and reason. Raises `EnvironmentFailure` where the fault is ours."""
        if len(code) > MAX_CODE:
            return _failed("", f"the block has {len(code)} characters, at most {MAX_CODE} are allowed")
        printed = _Printed()
        self._calls, self._defect = 0, None
        try:
            value = self._value(code, printed)
        except _Stopped as end:
            self.close()
            return _failed(printed.text, f"{end}; the interpreter was restarted and its variables are lost")
        except _Raised as failure:
            return _failed(printed.text, str(failure))
        finally:
            if self._defect is not None:  # whatever the agent's code made of it
                raise self._defect
        return Ran(_cut(printed.text + _shown(value)) or "(no output)")

    def close(self) -> None:
        """Gives the worker back; variables are lost. The next block starts a new session."""
        session, self._session = self._session, None
        if session is not None:
            session.__exit__(None, None, None)

    def _value(self, code: str, printed: _Printed) -> Any:
        """The value of the block's last expression. Raises `_Raised` or `_Stopped`."""
        from pydantic_monty import MontyConversionError, MontyCrashedError, MontyRuntimeError, MontySyntaxError

        session = self._open()
        try:
            return self._drive(session, code, printed)
        except MontySyntaxError as error:
            raise _Raised(error.display()) from None
        except MontyRuntimeError as error:
            if isinstance(error.exception(), TimeoutError | MemoryError) or "Internal error" in str(error):
                raise _Stopped(str(error)) from None
            raise _Raised(error.display()) from None
        except MontyCrashedError as error:
            raise _Stopped(f"the interpreter crashed ({error})") from None
        except (MontyConversionError, ValueError) as error:
            raise _Stopped(f"a value could not be taken out of the interpreter ({error})") from None

    def _drive(self, session: MontySession, code: str, printed: _Printed) -> Any:
        from pydantic_monty import MontyComplete

        state = session.feed_start(code, external_lookup=self._functions, print_callback=printed)
        while not isinstance(state, MontyComplete):
            state = state.resume_auto()
            if self._defect is not None or self._calls > MAX_CALLS:
                raise _Stopped(f"stopped after {MAX_CALLS} API calls in one block")
        return state.output

    def _open(self) -> MontySession:
        if self._session is None:
            session = _pool().checkout(limits=self._limits, os_policy=self._policy)
            try:
                session.__enter__()
            except Exception as error:
                raise EnvironmentFailure(f"no worker for Python actions: {error}") from error
            self._session = session
        return self._session

    @cached_property
    def _functions(self) -> dict[str, Callable[..., Any]]:
        """Made at the first block: most episodes have none."""
        return {tool: self._function(tool) for tool in self._tools}

    def _function(self, tool: str) -> Callable[..., Any]:
        """The host's side of an API function in the sandbox."""

        def function(*args: object, **kwargs: Any) -> Any:
            if args:
                raise TypeError(f"{tool} takes keyword arguments only")
            self._calls += 1
            if self._calls > MAX_CALLS:
                raise RuntimeError(f"more than {MAX_CALLS} API calls in one block")
            try:
                made = self._call(tool, kwargs)
            except Exception as defect:  # ours: `run` raises it, the agent's code must not swallow it
                self._defect = defect
                raise RuntimeError("the environment failed") from None
            if made.ok:
                return made.result
            reason = made.result["error"] if isinstance(made.result, dict) else made.result
            raise _EXCEPTIONS.get(made.status, RuntimeError)(f"{made.status}: {reason}")

        return function


class _Stopped(Exception):
    """A block that was ended from outside and took its session along; the message tells the agent why."""


class _Raised(Exception):
    """The code raised, or was no Python; the message is its traceback."""


class _Printed:
    """Takes what the code prints, up to a little over an observation's size."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._room = MAX_OUTPUT + 1

    def __call__(self, _stream: str, text: str) -> None:
        part = text[: self._room]
        self._room -= len(part)
        self._parts.append(part)

    @property
    def text(self) -> str:
        return "".join(self._parts)


def _shown(value: Any) -> str:
    """A block's value as a notebook would show it: nothing for None, text as it is, else JSON where it is JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    try:
        return compact(as_json(value))
    except NotJson:
        pass
    try:
        return repr(value)
    except ValueError:  # an integer of more digits than Python writes
        return f"(a value of type {type(value).__name__} too large to show)"


def _cut(text: str) -> str:
    text = text.rstrip()
    return text if len(text) <= MAX_OUTPUT else text[:MAX_OUTPUT] + f"… (cut at {MAX_OUTPUT} characters)"


def _failed(printed: str, message: str) -> Ran:
    """The end of a long message is kept: there stands what went wrong."""
    tail = message.strip()[-MAX_OUTPUT:]
    return Ran(f"{_cut(printed)}\n{tail}".strip(), tail.splitlines()[-1])


_lock = threading.Lock()
_pool_of: dict[int, Monty] = {}
"""The pool by the id of the process that started it: at most one entry."""


def _pool() -> Monty:
    """This process's pool of workers, started at the first need.

    Raises `EnvironmentFailure` in a process forked from one that has a pool: the pool's threads do not survive a fork.
    """
    from pydantic_monty import Monty

    process = os.getpid()
    with _lock:
        if _pool_of and process not in _pool_of:
            raise EnvironmentFailure(
                "this process was forked from one that already ran Python actions, which cannot work; "
                "start worker processes by 'spawn', or use threads"
            )
        if not _pool_of:
            pool = Monty(
                min_processes=0,
                max_processes=_MAX_WORKERS,
                checkout_timeout=_CHECKOUT_SECONDS,
                request_timeout=_SECONDS + 5,
            )
            _pool_of[process] = pool.__enter__()
            atexit.register(_end, process)
        return _pool_of[process]


def _end(process: int) -> None:
    if process == os.getpid():
        _pool_of.pop(process).__exit__(None, None, None)
