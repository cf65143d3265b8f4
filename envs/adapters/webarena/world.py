"""WebArena for the bank builder and the runner: tasks of one template are each other's binding shifts."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rebind.canon import digest
from rebind.envs.adapters.variants import another, as_target
from rebind.envs.adapters.webarena.env import ENV_ID, WebArenaVerifiedEnv
from rebind.envs.adapters.webarena.install import PLACE, missing
from rebind.envs.adapters.webarena.runs import right
from rebind.envs.adapters.webarena.tasks import WebArenaTask, families, task
from rebind.envs.adapters.webarena.tasks import family as members_of
from rebind.errors import UserError
from rebind.types import Action, Environment, Progress, Seal, ShiftLevel, Target, Task


class WebArenaVerifiedWorld:
    """`rebind.types.World` of the package's tasks: on the real sites where their addresses are set, else some of them
    on a stub site of our own."""

    name = "webarena-verified"
    env_id = ENV_ID

    needs = (
        "rebind envs install webarena-verified (its evaluators, in an environment of their own); a Chromium; "
        "WebArena's sites in WA_SHOPPING, WA_REDDIT, ..., else a stub site of our own"
    )

    def unavailable(self) -> str | None:
        from rebind.envs.browser.engine import missing as no_browser

        return missing() or no_browser()

    def install(self) -> str:
        """Makes the environment that the package lives in; says where. Raises InstallFailure."""
        return str(PLACE.install())

    def check(self, families: Sequence[str] | None, seeds: Sequence[int], progress: Progress) -> dict[str, Any]:
        from rebind.envs.adapters.webarena.check import check

        return check(families, seeds, progress)

    def families(self) -> tuple[str, ...]:
        """Templates of intents; none where the package is not installed."""
        return tuple(families())

    def make(self) -> Environment:
        return WebArenaVerifiedEnv()

    def sample(self, family: str, seed: int) -> Target:
        """One of the template's tasks; raises UserError for an unknown family."""
        return target_of(random.Random(f"sample {family} {seed}").choice(members_of(family)))

    def shift(self, seal: Seal, level: ShiftLevel, seed: int) -> Target:
        """Another task of the template whose bindings differ from the source's by that much.

        Raises:
            CannotShift: "wording" at `none`, for every task is worded once; "level" where there is no such task.
        """
        source = task(int(str(seal.world["task"])), bool(seal.world["stub"]))
        return target_of(another(source, members_of(seal.family), seal, level, seed), source, level)

    def oracle(self, seal: Seal) -> Callable[[Environment], Iterator[Action]]:
        """The scripted run on the stub site. Raises UserError for a task on the real sites: the package has no
        solutions."""
        if not seal.world["stub"]:
            raise UserError("webarena-verified has no solutions of its tasks; build its bank with a model")
        run = right(int(str(seal.world["task"])))

        def acts(_env: Environment) -> Iterator[Action]:
            for action in run:  # noqa: UP028 — what is sent in must not go on to a tuple
                yield action

        return acts


def target_of(one: WebArenaTask, source: WebArenaTask | None = None, level: ShiftLevel | None = None) -> Target:
    """The target that a task is, shifted from `source` where there is one."""
    made = Task(env=ENV_ID, goal=one.goal, state=digest([one.family, one.id]))
    return as_target(one, made, {"task": one.id, "stub": one.stub}, source, level)
