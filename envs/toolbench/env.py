"""ToolBench as a Gymnasium environment: the query's functions, answered from recorded responses."""

from __future__ import annotations

import json
from typing import Any

import gymnasium
from pydantic import JsonValue

from rebind.canon import digest
from rebind.envs.answers import value_of
from rebind.envs.apps.actions import BadAction, parsed_call
from rebind.envs.options import needed_seal
from rebind.envs.spaces import UnicodeText
from rebind.envs.toolbench.tasks import Library, ToolbenchTask, library
from rebind.envs.toolbench.trace import FINISH
from rebind.types import Call, Milestone, ToolCall, ToolSpec, Verdict

ENV_ID = "rebind/Toolbench-v0"
_RETURNS: dict[str, JsonValue] = {"type": "string", "enum": ["give_answer", "give_up"]}
_FINISH = ToolSpec(
    name=FINISH,
    description="End the task with the answer to the query, or give it up.",
    parameters={
        "type": "object",
        "properties": {"return_type": _RETURNS, "final_answer": {"type": "string"}},
        "required": ["return_type"],
    },
)
_FIRST = (
    "Call the functions of your task; their answers are recorded ones, and a call that nobody recorded is answered "
    f"with an error that says so. End with {FINISH}."
)


class ToolbenchEnv(gymnasium.Env[str, Any]):
    """One query of ToolBench; `rebind.types.Environment`. For one thread at a time."""

    def __init__(self, data: Library | None = None) -> None:
        self.action_space = UnicodeText()
        self.observation_space = UnicodeText()
        self._given = data
        self._task: ToolbenchTask | None = None
        self._good: list[ToolCall] = []
        self._answer: str | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Starts the task of `options={"seal": Seal}`.

        Raises:
            UserError: no seal of this environment, or no data of ToolBench here.
        """
        super().reset(seed=seed)
        self._task = self._library().task(str(needed_seal(options, "ToolBench").world.get("task")))
        self._good, self._answer = [], None
        return _FIRST, {}

    def step(self, action: Any) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Does one function call. The reward is always 0.0; `info` has `calls` and `error`. `terminated` by Finish."""
        task = self._started()
        try:
            doing = parsed_call(action, "functions")
        except BadAction as bad:
            return self._refusal(str(bad))
        if doing.tool == FINISH:
            return self._finish(doing)
        if doing.tool not in {spec.name for spec in task.trace.tools}:
            return self._refusal(f"there is no function {doing.tool!r} for this query")
        found = self._library().responses.answer(doing.tool, doing.args)
        call = Call(tool=doing.tool, args=doing.args, status=found.status, result=value_of(found.text))
        if call.ok:
            self._good.append(doing)
        return found.text, 0.0, False, False, {"calls": (call,), "error": None if call.ok else found.text}

    def tools(self) -> tuple[ToolSpec, ...]:
        """The query's functions, and Finish."""
        return (*self._started().trace.tools, _FINISH)

    def verify(self) -> Verdict:
        """A success where every call on the way to the recorded answer was made, and an answer was given. (ToolEval
        asks a model instead; this is not its pass rate.)"""
        milestones = tuple(
            Milestone(id=digest([c.tool, c.args])[:12], text=f"calls {c.tool}", reached=c in self._good)
            for c in self._started().calls
        )
        failures = [f"{m.text} was not reached" for m in milestones if not m.reached]
        failures += [] if self._answer else ["no answer was given"]
        return Verdict(success=not failures, milestones=milestones, failures=tuple(failures))

    def close(self) -> None:
        """Nothing is held open; `reset` may follow."""
        self._task = None

    def _finish(self, doing: ToolCall) -> tuple[str, float, bool, bool, dict[str, Any]]:
        kind, answer = doing.args.get("return_type"), doing.args.get("final_answer", "")
        if kind not in ("give_answer", "give_up") or not isinstance(answer, str):
            return self._refusal(f"{FINISH} takes return_type, give_answer or give_up, and final_answer, a text")
        self._answer = answer if kind == "give_answer" else ""
        call = Call(tool=FINISH, args=doing.args, status=200, result=None)
        return "", 0.0, True, False, {"calls": (call,), "error": None}

    def _refusal(self, why: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        return json.dumps({"error": why, "response": ""}), 0.0, False, False, {"calls": (), "error": why}

    def _library(self) -> Library:
        return self._given or library()

    def _started(self) -> ToolbenchTask:
        if self._task is None:
            raise gymnasium.error.ResetNeeded("reset the environment before anything else")
        return self._task
