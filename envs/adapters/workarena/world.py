"""WorkArena for the bank builder and the runner."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from threading import Lock
from typing import Any

from pydantic import JsonValue

from rebind.canon import digest
from rebind.envs.adapters.reach import SNOW
from rebind.envs.adapters.variants import VariantWorld, as_target
from rebind.envs.adapters.workarena.env import ENV_ID, WorkArenaEnv
from rebind.envs.adapters.workarena.install import install, missing
from rebind.envs.adapters.workarena.instance import named, trouble
from rebind.envs.adapters.workarena.runner import Worded, WorkArenaRunner
from rebind.envs.adapters.workarena.tasks import VARIABLE, WorkArenaTask, listed
from rebind.errors import EnvironmentFailure, UserError
from rebind.types import Action, Environment, Progress, Seal, ShiftLevel, Target, Task

_asking = Lock()


class WorkArenaWorld(VariantWorld[WorkArenaTask]):
    """`rebind.types.World` of WorkArena's L1 tasks. Families are task classes; other configurations of a class are each
    other's binding shifts."""

    name = "workarena"
    env_id = ENV_ID

    needs = (
        "rebind envs install workarena (browsergym-workarena, in an environment of its own); a Chromium; a ServiceNow "
        f"instance in {', '.join(SNOW)}; {VARIABLE} for task configurations of your own"
    )
    resources: Mapping[str, float] = {"CPU": 1.0, "browser": 1.0}

    def unavailable(self) -> str | None:
        from rebind.envs.browser.engine import missing as no_browser

        return "; ".join(why for why in (missing(), no_browser(), trouble()) if why) or None

    def install(self) -> str:
        """Makes the environment that the package lives in; says where. Raises InstallFailure."""
        return install()

    def check(self, families: Sequence[str] | None, seeds: Sequence[int], progress: Progress) -> dict[str, Any]:
        from rebind.envs.adapters.workarena.check import check

        return check(self, families, seeds, progress)

    def listed(self) -> Mapping[str, Sequence[WorkArenaTask]]:
        """By task class; none where no instance is named."""
        try:
            named()
        except EnvironmentFailure:
            return {}
        return listed() if missing() is None else {}

    def make(self) -> Environment:
        return WorkArenaEnv()

    def task(self, seal: Seal) -> WorkArenaTask:
        return WorkArenaTask(str(seal.world["task"]), seal.world["config"])

    def target(
        self, one: WorkArenaTask, source: WorkArenaTask | None = None, level: ShiftLevel | None = None
    ) -> Target:
        """See `VariantWorld`. Raises EnvironmentFailure where the goal needs an instance that does not answer."""
        worded = _worded(one)
        drawn = WorkArenaTask(one.name, worded.config)
        made = Task(env=ENV_ID, goal=worded.goal, state=digest([one.family, worded.config]))
        world: dict[str, JsonValue] = {"task": one.name, "config": worded.config, "goal": worded.goal}
        return as_target(drawn, made, world, source, level)

    def oracle(self, seal: Seal) -> Callable[[Environment], Iterator[Action]]:
        """Raises UserError: WorkArena's solutions drive the browser themselves, not by an agent's actions."""
        raise UserError("WorkArena's own solutions are no actions of an agent's; build its bank with a model")


def _worded(one: WorkArenaTask) -> Worded:
    """By the package: 5 of the 33 classes ask the instance for their goal, the others do without one."""
    with _asking:
        teller = _teller(**named())
        try:
            return teller.word(one.name, one.config)
        except EnvironmentFailure:
            teller.close()
            _teller.cache_clear()
            raise


@lru_cache(maxsize=1)
def _teller(**instance: str) -> WorkArenaRunner:
    """One process for all goals, ended with ours."""
    return WorkArenaRunner(instance)
