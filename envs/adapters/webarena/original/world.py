"""WebArena with its own judge, for the bank builder and the runner."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rebind.canon import digest
from rebind.envs.adapters.variants import another, as_target
from rebind.envs.adapters.webarena.original.env import ENV_ID, WebArenaEnv
from rebind.envs.adapters.webarena.original.install import PLACE, missing
from rebind.envs.adapters.webarena.original.runner import Judge
from rebind.envs.adapters.webarena.original.tasks import OriginalTask, families, task
from rebind.envs.adapters.webarena.original.tasks import family as members_of
from rebind.envs.adapters.webarena.sites import SITES, addresses, variable
from rebind.errors import UserError
from rebind.types import Action, Environment, Progress, Seal, ShiftLevel, Target, Task


class WebArenaWorld:
    """`rebind.types.World` of WebArena's tasks on the real sites, else of some of them on a stub site of our own.
    Without a `judge`, the 118 tasks whose answers a model compares are left out."""

    name = "webarena"
    env_id = ENV_ID

    needs = (
        "rebind envs install webarena (browsergym-webarena, in an environment of its own); a Chromium; WebArena's "
        "sites in all of WA_SHOPPING, WA_REDDIT, ..., else a stub site of our own"
    )

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
        return str(PLACE.install())

    def check(self, families: Sequence[str] | None, seeds: Sequence[int], progress: Progress) -> dict[str, Any]:
        from rebind.envs.adapters.webarena.original.check import check

        return check(families, seeds, progress)

    def families(self) -> tuple[str, ...]:
        """Templates of intents; none where the package is not installed."""
        return tuple(families(self._judge is not None))

    def make(self) -> Environment:
        return WebArenaEnv(self._judge)

    def sample(self, family: str, seed: int) -> Target:
        """One of the template's tasks; raises UserError for an unknown family."""
        members = members_of(family, self._judge is not None)
        return target_of(random.Random(f"sample {family} {seed}").choice(members))

    def shift(self, seal: Seal, level: ShiftLevel, seed: int) -> Target:
        """Another task of the template whose bindings differ from the source's by that much.

        Raises:
            CannotShift: "wording" at `none`, for every task is worded once; "level" where there is no such task.
        """
        source = task(int(str(seal.world["task"])), bool(seal.world["stub"]))
        members = members_of(seal.family, self._judge is not None)
        return target_of(another(source, members, seal, level, seed), source, level)

    def oracle(self, seal: Seal) -> Callable[[Environment], Iterator[Action]]:
        """The scripted run on the stub site. Raises UserError for others: WebArena has no solutions of its tasks."""
        if not seal.world["stub"]:
            raise UserError("WebArena has no solutions of its tasks; build its bank with a model")

        def acts(_env: Environment) -> Iterator[Action]:
            from rebind.envs.adapters.webarena.original.check import right

            for action in right(int(str(seal.world["task"]))):  # noqa: UP028 — what is sent in must not go on to a tuple
                yield action

        return acts


def target_of(one: OriginalTask, source: OriginalTask | None = None, level: ShiftLevel | None = None) -> Target:
    """The target that a task is, shifted from `source` where there is one."""
    made = Task(env=ENV_ID, goal=one.goal, state=digest([one.family, one.id]))
    return as_target(one, made, {"task": one.id, "stub": one.stub}, source, level)
