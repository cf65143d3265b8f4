"""An environment with skills added to its tools; every call inside a skill goes through it and is counted."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from rebind.memory.skill.execute import execute
from rebind.memory.skill.preconditions import precondition
from rebind.memory.skill.tool import account, skill_tool
from rebind.memory.skill.validation import invalid
from rebind.types import Call, Environment, Skill, Slot, ToolCall, ToolSpec, Verdict

Row = dict[str, JsonValue]


FROM_MEMORY = "\n\nFrom memory, of a similar task done before (its values are not this task's):\n"
"""Stands between what a call returned and evidence from memory: what follows is no observation of this task."""


class SkillEnvironment:
    """Wraps an environment; `rebind.types.Environment`. A ToolCall that names a skill runs the skill's calls;
    everything else passes through. A block of code cannot call skills.

    A skill runs only if its slots are filled with values of their types; what it returns must have the form that its
    source saw. The first time that it does not come to its end so, what Tier B finds is added to the observation.
    """

    def __init__(
        self,
        environment: Environment,
        skills: Sequence[Skill],
        fallback: Callable[[], str] | None = None,
        on_row: Callable[[Row], None] = lambda _: None,
    ) -> None:
        """`fallback` gives Tier B's evidence, within the budget it always has; asked at most once an episode. `on_row`
        is told what happened to slots, preconditions, validation and fallback."""
        self._environment = environment
        self._skills = {s.name: s for s in skills}
        self._fallback, self._on_row = fallback, on_row

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        return self._environment.reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Does one action; `info["calls"]` holds every call a skill made, `info["error"]` why it did not hold."""
        called = _tool_call(action)
        if called is None or called.tool not in self._skills:
            return self._environment.step(action)
        skill = self._skills[called.tool]
        values = {s.name: _decoded(s, called.args[s.name]) for s in skill.slots if s.name in called.args}
        self._tell(skill, "slots", {"from": {s.name: "caller" if s.name in values else "missing" for s in skill.slots}})
        unknown = sorted(set(called.args) - {s.name for s in skill.slots})
        problem = f"{skill.name} has no parameter {', '.join(unknown)}" if unknown else precondition(skill, values)
        if problem:
            self._tell(skill, "precondition", {"problem": problem})
            return problem + self._evidence(skill), 0.0, False, False, {"calls": (), "error": problem}
        inner = _Inner(self._environment)
        execution = execute(skill, values, inner.call)
        problem = invalid(skill, execution)
        self._tell(skill, "validation", {"calls": len(execution.calls), "problem": problem})
        told = account(execution, problem) + (self._evidence(skill) if problem else "")
        return told, 0.0, inner.terminated, inner.truncated, {"calls": execution.calls, "error": problem}

    def _tell(self, skill: Skill, what: str, more: Row) -> None:
        self._on_row({"what": what, "skill": skill.name, "record": skill.record_id, "version": skill.version, **more})

    def _evidence(self, skill: Skill) -> str:
        if self._fallback is None:
            return ""
        ask, self._fallback = self._fallback, None
        text = ask()
        self._tell(skill, "fallback", {"to": "evidence", "text": text})
        return FROM_MEMORY + text if text else ""

    def tools(self) -> tuple[ToolSpec, ...]:
        """The skills first, then the environment's own tools."""
        return (*map(skill_tool, self._skills.values()), *self._environment.tools())

    def verify(self) -> Verdict:
        return self._environment.verify()

    def close(self) -> None:
        self._environment.close()


class _Inner:
    """A skill's way into the environment; remembers whether a call ended the episode."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self.terminated = False
        self.truncated = False

    def call(self, call: ToolCall) -> Call:
        _, _, terminated, truncated, info = self._environment.step(call)
        self.terminated, self.truncated = self.terminated or terminated, self.truncated or truncated
        made: Call = info["calls"][0]
        return made


def _decoded(slot: Slot, value: JsonValue) -> JsonValue:
    """A list or object that was written as text, as what it says."""
    if slot.type != "json" or not isinstance(value, str):
        return value
    try:
        found: JsonValue = json.loads(value)
    except ValueError:
        return value
    return found


def _tool_call(action: Any) -> ToolCall | None:
    """The tool call in an action, also in its JSON text; None for anything else."""
    if isinstance(action, ToolCall):
        return action
    if isinstance(action, str):
        try:
            action = json.loads(action)
        except ValueError:
            return None
    if (
        isinstance(action, Mapping)
        and isinstance(action.get("tool"), str)
        and isinstance(action.get("args", {}), Mapping)
    ):
        return ToolCall(tool=action["tool"], args=dict(action.get("args", {})))
    return None
