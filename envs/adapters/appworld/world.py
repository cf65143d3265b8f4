"""AppWorld for the bank builder and the runner: a scenario's variants are each other's binding shifts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rebind.canon import digest
from rebind.envs.adapters.appworld.env import ENV_ID, AppWorldEnv
from rebind.envs.adapters.appworld.install import ROOT_VARIABLE, install, missing
from rebind.envs.adapters.appworld.tasks import AppWorldTask, task, tasks
from rebind.envs.adapters.variants import VariantWorld, as_target, by_family, recited
from rebind.types import Action, Budget, Code, Environment, Progress, Seal, ShiftLevel, Target, Task


class AppWorldWorld(VariantWorld[AppWorldTask]):
    """`rebind.types.World` of AppWorld's data where they are, else of a small world of our own on the same engine."""

    name = "appworld"
    env_id = ENV_ID

    needs = (
        "rebind envs install appworld (appworld 0.1.3.post1 in an environment of its own); "
        f"AppWorld's data in {ROOT_VARIABLE}, else a small world of our own"
    )
    resources: Mapping[str, float] = {"CPU": 1.0, "appworld": 1.0}

    def unavailable(self) -> str | None:
        return missing()

    def install(self) -> str:
        """Makes the environment that the package lives in; says where, and what is missing. Raises InstallFailure."""
        return install()

    def check(self, families: Sequence[str] | None, seeds: Sequence[int], progress: Progress) -> dict[str, Any]:
        from rebind.envs.adapters.appworld.check import check

        return check(families, seeds, progress)

    def listed(self) -> Mapping[str, Sequence[AppWorldTask]]:
        """By scenario."""
        return by_family(tasks())

    def make(self) -> Environment:
        return AppWorldEnv()

    def task(self, seal: Seal) -> AppWorldTask:
        return task(str(seal.world["task"]), bool(seal.world["official"]))

    def target(self, one: AppWorldTask, source: AppWorldTask | None = None, level: ShiftLevel | None = None) -> Target:
        made = Task(env=ENV_ID, goal=one.goal, state=digest([one.family, one.id]), budget=Budget(steps=60))
        return as_target(one, made, {"task": one.id, "official": one.official}, source, level)

    def oracle(self, seal: Seal) -> Callable[[Environment], Iterator[Action]]:
        """The variant's own solution, as one block. Raises UserError where the data have none."""
        return recited([Code(code=self.task(seal).solution())])
