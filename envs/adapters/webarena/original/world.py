"""WebArena with its own judge, for the bank builder and the runner."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rebind.canon import digest
from rebind.envs.adapters.variants import VariantWorld, as_target, by_family, recited
from rebind.envs.adapters.webarena.original.env import ENV_ID, WebArenaEnv
from rebind.envs.adapters.webarena.original.install import install, missing
from rebind.envs.adapters.webarena.original.runner import Judge, judging
from rebind.envs.adapters.webarena.original.tasks import OriginalTask, task, tasks
from rebind.envs.adapters.webarena.sites import SITES, addresses, variable
from rebind.errors import UserError
from rebind.types import Action, Environment, Model, Part, Progress, Seal, ShiftLevel, Target, Task


class WebArenaWorld(VariantWorld[OriginalTask]):
    """`rebind.types.World` of WebArena's tasks on the real sites, else of some of them on a stub site of our own.
    Without a `judge`, the 118 tasks whose answers a model compares are left out."""

    part: Part = "judge"
    name = "webarena"
    env_id = ENV_ID

    needs = (
        "rebind envs install webarena (browsergym-webarena, in an environment of its own); a Chromium; WebArena's "
        "sites in all of WA_SHOPPING, WA_REDDIT, ..., else a stub site of our own"
    )
    resources: Mapping[str, float] = {"CPU": 1.0, "browser": 1.0}

    def __init__(self, judge: Judge | None = None) -> None:
        self._judge = judge

    def unavailable(self) -> str | None:
        from rebind.envs.browser.engine import missing as no_browser

        here = addresses()
        unset = [variable(site) for site in SITES if site not in here]
        some = f"some sites have an address, others have not: {', '.join(unset)}" if here and unset else None
        return missing() or no_browser() or some

    def install(self) -> str:
        """Makes the environment that the package lives in; says where. Raises InstallFailure."""
        return install()

    def check(self, families: Sequence[str] | None, seeds: Sequence[int], progress: Progress) -> dict[str, Any]:
        from rebind.envs.adapters.webarena.original.check import check

        return check(families, seeds, progress)

    def listed(self) -> Mapping[str, Sequence[OriginalTask]]:
        """By template of the intent."""
        return by_family(tasks(self._judge is not None))

    def make(self) -> Environment:
        return WebArenaEnv(self._judge)

    def played_by(self, model: Model, name: str) -> WebArenaWorld:
        return WebArenaWorld(judging(model, name))

    def played(self, target: Target) -> Target:
        return target

    def task(self, seal: Seal) -> OriginalTask:
        return task(int(str(seal.world["task"])), bool(seal.world["stub"]))

    def target(self, one: OriginalTask, source: OriginalTask | None = None, level: ShiftLevel | None = None) -> Target:
        made = Task(env=ENV_ID, goal=one.goal, state=digest([one.family, one.id]))
        return as_target(one, made, {"task": one.id, "stub": one.stub}, source, level)

    def oracle(self, seal: Seal) -> Callable[[Environment], Iterator[Action]]:
        """The scripted run on the stub site. Raises UserError for others: WebArena has no solutions of its tasks."""
        from rebind.envs.adapters.webarena.original.check import right

        if not seal.world["stub"]:
            raise UserError("WebArena has no solutions of its tasks; build its bank with a model")
        return recited(right(int(str(seal.world["task"]))))
