"""The worlds `sites` and `desk`: what the bank builder and the runner ask of the environments."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from rebind.envs.sites.snapshot import missing as missing_package
from rebind.types import Action, Environment, Progress, Seal, ShiftLevel, Target

if TYPE_CHECKING:
    from rebind.envs.browser.env import BrowserTask

_TRIES = 50
_INFEASIBLE = 0.1
"""Share of source tasks that cannot be done, of families that have such a variant."""


class SitesWorld:
    """`rebind.types.World` of shop, forum and wiki."""

    name = "sites"
    env_id = "rebind/Sites-v0"
    needs = "pip install 'rebind[sites]' and a Chromium"
    resources: Mapping[str, float] = {"CPU": 1.0, "browser": 1.0}

    def unavailable(self) -> str | None:
        from rebind.envs.browser.engine import missing

        return missing_package() or missing()

    def check(self, families: Sequence[str] | None, seeds: Sequence[int], progress: Progress) -> dict[str, Any]:
        from rebind.envs.sites.check import check

        return check(self, families, seeds, progress)  # pyright: ignore[reportArgumentType]  # Self is a SitesWorld

    def families(self) -> tuple[str, ...]:
        from rebind.envs.sites.building import PACKAGES
        from rebind.envs.sites.families import families

        return tuple(families(PACKAGES[self.env_id]))

    def make(self) -> Environment:
        from rebind.envs.sites.env import SitesEnv

        return SitesEnv()

    def browser_tasks(self) -> Mapping[str, Callable[[int], BrowserTask]]:
        """What makes a task from a seed, by family: for `envs.browser.browsergym`."""
        return {family.partition("/")[2]: partial(self._task, family) for family in self.families()}

    def _task(self, family: str, seed: int) -> BrowserTask:
        from rebind.envs.sites.task import SitesTask

        return SitesTask(self.sample(family, seed).seal)

    def sample(self, family: str, seed: int) -> Target:
        """A source task of the family. Raises UserError for an unknown family, `CannotBuild` where the sites have no
        room for it."""
        from rebind.envs.sites.building import Recipe, assemble, draw, family_of, open_world
        from rebind.envs.sites.families.view import CannotBuild, SiteView

        one = family_of(self.env_id, family)
        rng = random.Random(f"sample {family} {seed}")
        for attempt in range(_TRIES):
            recipe = Recipe(rng.randrange(1_000_000), not (one.absent and rng.random() < _INFEASIBLE))
            db = open_world()
            try:
                values = draw(one, SiteView(db), rng, recipe.feasible)
                return assemble(self.env_id, one, recipe, values, rng.randrange(len(one.wordings)))
            except CannotBuild:
                if attempt == _TRIES - 1:
                    raise
            finally:
                db.close()
        raise AssertionError("unreachable")

    def shift(self, seal: Seal, level: ShiftLevel, seed: int) -> Target:
        """See `shift.shift`."""
        from rebind.envs.sites.shift import shift

        return shift(seal, level, seed)

    def oracle(self, seal: Seal) -> Callable[[Environment], Iterator[Action]]:
        """The family's solution: a generator that is sent the calls of each step. The environment is not looked at."""
        from rebind.envs.sites.building import family_of

        return lambda _env: family_of(seal.env, seal.family).solve(seal.values())


class DeskWorld(SitesWorld):
    """`rebind.types.World` of the service desk and the inventory."""

    name = "desk"
    env_id = "rebind/Desk-v0"

    def make(self) -> Environment:
        from rebind.envs.sites.env import DeskEnv

        return DeskEnv()


def world_of(env_id: str) -> SitesWorld:
    """The world of that Gymnasium id."""
    return {world.env_id: world for world in (SitesWorld(), DeskWorld())}[env_id]
