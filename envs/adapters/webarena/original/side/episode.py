"""One task of WebArena at a time, in BrowserGym's environment."""

from __future__ import annotations

from typing import Any

from browsergym.core.action.highlevel import HighLevelActionSet
from browsergym.core.env import BrowserEnv
from browsergym.utils.obs import flatten_axtree_to_str
from browsergym.webarena.task import GenericWebArenaTask

from .patches import VERDICTS, NeedsJudge

_ACTIONS = HighLevelActionSet(subsets=["webarena"], multiaction=False, strict=True)
_DELAY_SECONDS = 0.5
"""Before each observation, as stock has it."""


class Episode:
    """The task under way, and what is asked of it."""

    def __init__(self) -> None:
        self._env: BrowserEnv | None = None
        self._gate = Gate()

    def actions(self) -> list[dict[str, Any]]:
        """What an agent can do, as descriptions of tools."""
        found: list[dict[str, Any]] = _ACTIONS.to_tool_description(api="openai")
        return found

    def start(self, task: int, seed: int) -> dict[str, Any]:
        """Signs in and opens the task's first page."""
        if self._env is not None:
            self._env.close()
        VERDICTS.clear()
        self._env = BrowserEnv(
            GenericWebArenaTask,
            {"task_id": task},
            slow_mo=0,
            action_mapping=_ACTIONS.to_python_code,
            pre_observation_delay=_DELAY_SECONDS,
        )
        seen, _ = self._env.reset(seed=seed)
        self._gate = Gate(self._env.task.evaluator)
        self._env.task.evaluator = self._gate
        return {"goal": seen["goal"], "view": _view(seen), "requires_reset": self._env.task.config["require_reset"]}

    def act(self, action: str) -> dict[str, Any]:
        """Does one action, in BrowserGym's form: `click('12')`. `ended`: the agent stopped, or left the sites."""
        assert self._env is not None
        seen, _, ended, _, info = self._env.step(action)
        left = info["task_info"].get("error", "")
        return {"view": _view(seen), "error": seen["last_action_error"] or left, "ended": bool(ended)}

    def judge(self, verdicts: dict[str, str]) -> dict[str, Any]:
        """The task's score as it stands, or the question that a model has to answer first."""
        assert self._env is not None
        VERDICTS.update(verdicts)
        self._gate.open = True
        try:
            score, _, _, info = self._env._task_validate()
        except NeedsJudge as needs:
            return {"question": needs.args[0]}
        finally:
            self._gate.open = False
        return {"score": float(score), "why": info.get("error", "")}

    def close(self) -> None:
        if self._env is not None:
            self._env.close()
        self._env = None


class Gate:
    """The task's evaluator, let through on request only: stock evaluates, and asks the judge, on every step. Where the
    judge says nothing that the evaluators understand, stock calls that a score of 0; here it is an error."""

    def __init__(self, evaluator: Any = None) -> None:
        self._evaluator, self.open = evaluator, False

    def __call__(self, **arguments: Any) -> float:
        if not self.open:
            return 0.0
        try:
            return float(self._evaluator(**arguments))
        except AssertionError as error:
            if not VERDICTS:
                raise
            raise ValueError(
                f"the judge's answer is none of those asked for: {list(VERDICTS.values())[-1]!r}"
            ) from error


def _view(seen: dict[str, Any]) -> str:
    tabs = [
        f"tab {n}{' (active)' if n == seen['active_page_index'][0] else ''}: {url}"
        for n, url in enumerate(seen["open_pages_urls"])
    ]
    tree = flatten_axtree_to_str(seen["axtree_object"], extra_properties=seen["extra_element_properties"])
    return "\n".join([*tabs, tree])
