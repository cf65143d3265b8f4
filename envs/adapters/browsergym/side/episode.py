"""One task at a time, in BrowserGym's environment."""

from __future__ import annotations

import traceback
from abc import ABC, abstractmethod
from typing import Any

from browsergym.core.action.highlevel import HighLevelActionSet
from browsergym.core.env import BrowserEnv
from browsergym.utils.obs import flatten_axtree_to_str

_DELAY_SECONDS = 0.5
"""Before each observation, as stock has it."""


class Gate:
    """The task's evaluator, let through on request only: stock asks it on every step."""

    def __init__(self, stock: Any, closed: Any) -> None:
        """`closed` answers meanwhile."""
        self._stock, self._closed, self.open = stock, closed, False

    def __call__(self, *given: Any, **named: Any) -> Any:
        return (self._stock if self.open else self._closed)(*given, **named)


class Episode(ABC):
    """The task under way, and what is asked of it."""

    def __init__(self, actions: str) -> None:
        """`actions`: the benchmark's, as BrowserGym names the set."""
        self._actions = HighLevelActionSet(subsets=[actions], multiaction=False, strict=True)
        self._env: BrowserEnv | None = None
        self._gate = Gate(None, None)

    @abstractmethod
    def _task(self, **task: Any) -> tuple[Any, dict[str, Any]]:
        """What makes the task, and the arguments of it."""

    @abstractmethod
    def _gated(self, env: BrowserEnv) -> Gate:
        """Puts a gate before the evaluator of the task under way."""

    def actions(self) -> list[dict[str, Any]]:
        """What an agent can do, as descriptions of tools."""
        found: list[dict[str, Any]] = self._actions.to_tool_description(api="openai")
        return found

    def start(self, seed: int, **task: Any) -> dict[str, Any]:
        """Signs in and opens the task's first page."""
        self.close()
        kind, arguments = self._task(**task)
        self._env = BrowserEnv(
            kind,
            arguments,
            slow_mo=0,
            action_mapping=self._actions.to_python_code,
            pre_observation_delay=_DELAY_SECONDS,
        )
        seen, _ = self._env.reset(seed=seed)
        self._gate = self._gated(self._env)
        return {"goal": seen["goal"], "view": _view(seen)}

    def act(self, action: str) -> dict[str, Any]:
        """Does one action, in BrowserGym's form: `click('12')`. `ended`: the agent stopped, or left the sites."""
        assert self._env is not None
        seen, _, ended, _, info = self._env.step(action)
        left = info["task_info"].get("error", "")
        return {"view": _view(seen), "error": seen["last_action_error"] or left, "ended": bool(ended)}

    def judge(self) -> dict[str, Any]:
        """The task's score as it stands, and why."""
        assert self._env is not None
        self._gate.open = True
        try:
            score, _, _, info = self._env._task_validate()
        finally:
            self._gate.open = False
        return {"score": float(score), "why": str(info.get("error") or info.get("message") or "")}

    def close(self) -> None:
        """Lets the task take back what it made. Where it cannot, that is no fault of the next task: standard error
        has it."""
        env, self._env = self._env, None
        if env is None:
            return
        try:
            env.close()
        except Exception:
            traceback.print_exc()
            env.task = None
            env.close()


def _view(seen: dict[str, Any]) -> str:
    tabs = [
        f"tab {n}{' (active)' if n == seen['active_page_index'][0] else ''}: {url}"
        for n, url in enumerate(seen["open_pages_urls"])
    ]
    tree = flatten_axtree_to_str(seen["axtree_object"], extra_properties=seen["extra_element_properties"])
    return "\n".join([*tabs, tree])
