"""WebArena for the bank builder and the runner: tasks of one template are each other's binding shifts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rebind.canon import digest
from rebind.envs.adapters.variants import VariantWorld, as_target, by_family, recited
from rebind.envs.adapters.webarena.env import ENV_ID, WebArenaVerifiedEnv
from rebind.envs.adapters.webarena.install import install, missing
from rebind.envs.adapters.webarena.runs import right
from rebind.envs.adapters.webarena.tasks import WebArenaTask, task, tasks
from rebind.errors import UserError
from rebind.types import Action, Environment, Progress, Seal, ShiftLevel, Target, Task


class WebArenaVerifiedWorld(VariantWorld[WebArenaTask]):
    """`rebind.types.World` of the package's tasks: on the real sites where their addresses are set, else some of them
    on a stub site of our own."""

    name = "webarena-verified"
    env_id = ENV_ID

    needs = (
        "rebind envs install webarena-verified (its evaluators, in an environment of their own); a Chromium; "
        "WebArena's sites in WA_SHOPPING, WA_REDDIT, ..., else a stub site of our own"
    )
    resources: Mapping[str, float] = {"CPU": 1.0, "browser": 1.0}

    def unavailable(self) -> str | None:
        from rebind.envs.browser.engine import missing as no_browser

        return missing() or no_browser()

    def install(self) -> str:
        """Makes the environment that the package lives in; says where. Raises InstallFailure."""
        return install()

    def check(self, families: Sequence[str] | None, seeds: Sequence[int], progress: Progress) -> dict[str, Any]:
        from rebind.envs.adapters.webarena.check import check

        return check(families, seeds, progress)

    def listed(self) -> Mapping[str, Sequence[WebArenaTask]]:
        """By template of the intent."""
        return by_family(tasks())

    def make(self) -> Environment:
        return WebArenaVerifiedEnv()

    def task(self, seal: Seal) -> WebArenaTask:
        return task(int(str(seal.world["task"])), bool(seal.world["stub"]))

    def target(self, one: WebArenaTask, source: WebArenaTask | None = None, level: ShiftLevel | None = None) -> Target:
        made = Task(env=ENV_ID, goal=one.goal, state=digest([one.family, one.id]))
        return as_target(one, made, {"task": one.id, "stub": one.stub}, source, level)

    def oracle(self, seal: Seal) -> Callable[[Environment], Iterator[Action]]:
        """The scripted run on the stub site. Raises UserError for a task on the real sites: the package has no
        solutions."""
        if not seal.world["stub"]:
            raise UserError("webarena-verified has no solutions of its tasks; build its bank with a model")
        return recited(right(int(str(seal.world["task"]))))
