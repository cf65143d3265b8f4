"""An environment with skills added to its tools; every call inside a skill goes through it and is counted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rebind.memory.skill.execute import execute
from rebind.memory.skill.tool import account, skill_tool
from rebind.types import Call, Environment, Skill, ToolCall, ToolSpec, Verdict


class SkillEnvironment:
    """Wraps an environment; `rebind.types.Environment`. A ToolCall that names a skill runs the skill's calls;
    everything else passes through. A block of code cannot call skills."""

    def __init__(self, environment: Environment, skills: Sequence[Skill]) -> None:
        self._environment = environment
        self._skills = {s.name: s for s in skills}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        return self._environment.reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Does one action; `info["calls"]` holds every call a skill made, `info["error"]` why it stopped early."""
        called = _tool_call(action)
        if called is None or called.tool not in self._skills:
            return self._environment.step(action)
        skill = self._skills[called.tool]
        unknown = sorted(set(called.args) - {s.name for s in skill.slots})
        if unknown:
            problem = f"{skill.name} has no parameter {', '.join(unknown)}"
            return problem, 0.0, False, False, {"calls": (), "error": problem}
        inner = _Inner(self._environment)
        execution = execute(skill, called.args, inner.call)
        info = {"calls": execution.calls, "error": execution.problem}
        return account(execution), 0.0, inner.terminated, inner.truncated, info

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
