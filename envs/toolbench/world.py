"""ToolBench for the bank builder and the runner."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pydantic import JsonValue

from rebind.canon import digest
from rebind.envs.adapters.variants import another, as_target
from rebind.envs.toolbench.env import ENV_ID, ToolbenchEnv
from rebind.envs.toolbench.tasks import ToolbenchTask, library, missing
from rebind.envs.toolbench.trace import FINISH
from rebind.types import Action, Environment, Progress, Seal, ShiftLevel, Target, Task, ToolCall


class ToolbenchWorld:
    """`rebind.types.World` of the recorded runs that found an answer."""

    name = "toolbench"
    env_id = ENV_ID

    needs = "rebind data get toolbench (and stabletoolbench)"

    def unavailable(self) -> str | None:
        return missing()

    def check(self, families: Sequence[str] | None, seeds: Sequence[int], progress: Progress) -> dict[str, Any]:
        from rebind.envs.toolbench.check import check

        return check(families, seeds, progress)

    def families(self) -> tuple[str, ...]:
        """Sequences of functions; none where the data are not here."""
        return tuple(library().families()) if missing() is None else ()

    def make(self) -> Environment:
        return ToolbenchEnv()

    def sample(self, family: str, seed: int) -> Target:
        """One of the family's tasks; raises UserError for an unknown family."""
        return target(random.Random(f"sample {family} {seed}").choice(library().family(family)))

    def shift(self, seal: Seal, level: ShiftLevel, seed: int) -> Target:
        """Another query whose run called the same functions with other arguments.

        Raises:
            CannotShift: "wording" at `none`, for every query is worded once; "level" where there is no such query.
        """
        source = library().task(str(seal.world["task"]))
        return target(another(source, library().family(seal.family), seal, level, seed), source, level)

    def oracle(self, seal: Seal) -> Callable[[Environment], Iterator[Action]]:
        """The recorded calls on the way to the answer, then the answer."""
        one = library().task(str(seal.world["task"]))

        def acts(_env: Environment) -> Iterator[Action]:
            for action in solution(one):  # noqa: UP028 — what is sent in must not go on to a tuple
                yield action

        return acts


def solution(one: ToolbenchTask) -> tuple[Action, ...]:
    """The recorded way to a task's answer."""
    answer: dict[str, JsonValue] = {"return_type": "give_answer", "final_answer": one.trace.answer}
    return (*one.calls, ToolCall(tool=FINISH, args=answer))


def target(one: ToolbenchTask, source: ToolbenchTask | None = None, level: ShiftLevel | None = None) -> Target:
    """A task as a Target; with a source, as its shift to that level."""
    made = Task(env=ENV_ID, goal=one.trace.query, state=digest(one.id))
    return as_target(one, made, {"task": one.id}, source, level)
