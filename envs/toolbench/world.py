"""ToolBench for the bank builder and the runner."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from rebind.canon import digest
from rebind.envs.adapters.variants import VariantWorld, as_target, differs, recited
from rebind.envs.toolbench.env import ENV_ID, ToolbenchEnv
from rebind.envs.toolbench.tasks import ToolbenchTask, library, missing
from rebind.envs.toolbench.trace import FINISH
from rebind.types import Action, Environment, Progress, Seal, ShiftLevel, Target, Task, ToolCall


class ToolbenchWorld(VariantWorld[ToolbenchTask]):
    """`rebind.types.World` of the recorded runs that found an answer."""

    name = "toolbench"
    env_id = ENV_ID

    needs = "rebind data get toolbench (and stabletoolbench)"

    def unavailable(self) -> str | None:
        return missing()

    def check(self, families: Sequence[str] | None, seeds: Sequence[int], progress: Progress) -> dict[str, Any]:
        from rebind.envs.toolbench.check import check

        return check(families, seeds, progress)

    def listed(self) -> Mapping[str, Sequence[ToolbenchTask]]:
        """By the functions that they call; none where the data are not here."""
        return library().families if missing() is None else {}

    def make(self) -> Environment:
        return ToolbenchEnv()

    def task(self, seal: Seal) -> ToolbenchTask:
        return library().task(str(seal.world["task"]))

    def target(
        self, one: ToolbenchTask, source: ToolbenchTask | None = None, level: ShiftLevel | None = None
    ) -> Target:
        made = Task(env=ENV_ID, goal=one.trace.query, state=digest(one.id))
        return as_target(one, made, {"task": one.id}, source, level)

    def shift(self, seal: Seal, level: ShiftLevel, seed: int) -> Target:
        """Another query whose run called the same functions with other arguments; at `none`, with the same ones.

        Raises:
            CannotShift: "wording" at `none` where no other query's run made the same calls, or they have no arguments;
                "level" where there is no such query.
        """
        source = self.task(seal)
        if level == "none" and source.bindings():
            others = (one for one in self._members(seal.family) if one.id != source.id)
            reworded = [one for one in others if not differs(source, one)[0]]
            if reworded:
                return self.target(random.Random(f"shift {seal.task_key} {seed}").choice(reworded), source, level)
        return super().shift(seal, level, seed)

    def oracle(self, seal: Seal) -> Callable[[Environment], Iterator[Action]]:
        """The recorded calls on the way to the answer, then the answer."""
        return recited(solution(self.task(seal)))


def solution(one: ToolbenchTask) -> tuple[Action, ...]:
    """The recorded way to a task's answer."""
    answer: dict[str, JsonValue] = {"return_type": "give_answer", "final_answer": one.trace.answer}
    return (*one.calls, ToolCall(tool=FINISH, args=answer))
