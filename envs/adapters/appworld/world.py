"""AppWorld for the bank builder and the runner: a scenario's variants are each other's binding shifts."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rebind.canon import digest
from rebind.envs.adapters.appworld.env import ENV_ID, AppWorldEnv
from rebind.envs.adapters.appworld.install import ROOT_VARIABLE, install, missing
from rebind.envs.adapters.appworld.tasks import AppWorldTask, families, task
from rebind.envs.adapters.appworld.tasks import family as members_of
from rebind.envs.adapters.variants import another, as_target
from rebind.types import Action, Budget, Code, Environment, Progress, Seal, ShiftLevel, Target, Task


class AppWorldWorld:
    """`rebind.types.World` of AppWorld's data where they are, else of a small world of our own on the same engine."""

    name = "appworld"
    env_id = ENV_ID

    needs = (
        "rebind envs install appworld (appworld 0.1.3.post1 in an environment of its own); "
        f"AppWorld's data in {ROOT_VARIABLE}, else a small world of our own"
    )

    def unavailable(self) -> str | None:
        return missing()

    def install(self) -> str:
        """Makes the environment that the package lives in; says where, and what is missing. Raises InstallFailure."""
        return install()

    def check(self, families: Sequence[str] | None, seeds: Sequence[int], progress: Progress) -> dict[str, Any]:
        from rebind.envs.adapters.appworld.check import check

        return check(families, seeds, progress)

    def families(self) -> tuple[str, ...]:
        """AppWorld's scenarios; none where it is not installed."""
        return tuple(families())

    def make(self) -> Environment:
        return AppWorldEnv()

    def sample(self, family: str, seed: int) -> Target:
        """One of the scenario's variants; raises UserError for an unknown family."""
        return target_of(random.Random(f"sample {family} {seed}").choice(members_of(family)))

    def shift(self, seal: Seal, level: ShiftLevel, seed: int) -> Target:
        """Another variant of the scenario whose bindings differ from the source's by that much.

        Raises:
            CannotShift: "wording" at `none`, for every variant is told in one way only; "level" where the scenario has
                no such variant.
        """
        source = task(str(seal.world["task"]), bool(seal.world["official"]))
        return target_of(another(source, members_of(seal.family), seal, level, seed), source, level)

    def oracle(self, seal: Seal) -> Callable[[Environment], Iterator[Action]]:
        """The variant's own solution, as one block. Raises UserError where the data have none."""
        code = task(str(seal.world["task"]), bool(seal.world["official"])).solution()

        def acts(_env: Environment) -> Iterator[Action]:
            yield Code(code=code)

        return acts


def target_of(one: AppWorldTask, source: AppWorldTask | None = None, level: ShiftLevel | None = None) -> Target:
    """The target that a variant is, shifted from `source` where there is one."""
    made = Task(env=ENV_ID, goal=one.goal, state=digest([one.family, one.id]), budget=Budget(steps=60))
    return as_target(one, made, {"task": one.id, "official": one.official}, source, level)
