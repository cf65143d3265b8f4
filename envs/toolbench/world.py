"""ToolBench for the bank builder and the runner."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pydantic import JsonValue

from rebind.canon import digest
from rebind.envs.adapters.pairs import bindings, changed
from rebind.envs.adapters.pairs import level as level_of
from rebind.envs.toolbench.env import ENV_ID, ToolbenchEnv
from rebind.envs.toolbench.tasks import ToolbenchTask, library, missing
from rebind.envs.toolbench.trace import FINISH
from rebind.errors import CannotShift
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
        if level == "none":
            raise CannotShift("wording")
        source = library().task(str(seal.world["task"]))
        partners = [one for one in library().family(seal.family) if _differs(source, one)[1] == level]
        if not partners:
            raise CannotShift("level")
        return target(random.Random(f"shift {seal.task_key} {level} {seed}").choice(partners), source, level)

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
    seal = Seal(
        canary=digest({"canary": made.key, "level": level or ""})[:32],
        env=ENV_ID,
        task_key=made.key,
        family=one.family,
        world={"task": one.id},
        bindings=bindings(one.calls),
        level=level,
        changed=_differs(source, one)[0] if source else (),
    )
    return Target(task=made, seal=seal)


def _differs(source: ToolbenchTask, target: ToolbenchTask) -> tuple[tuple[str, ...], ShiftLevel]:
    old, new = ({b.name: b.value for b in bindings(one.calls)} for one in (source, target))
    names = changed(old, new)
    return names, level_of(names, len(new))
