"""The sites as Gymnasium environments."""

from __future__ import annotations

from rebind.envs.browser.env import BrowserEnv, BrowserTask
from rebind.envs.sites.building import family_of
from rebind.envs.sites.task import SitesTask
from rebind.errors import UserError
from rebind.types import Seal

SITES_ID, DESK_ID = "rebind/Sites-v0", "rebind/Desk-v0"


class SitesEnv(BrowserEnv):
    """`rebind.types.Environment` over shop, forum and wiki."""

    env_id = SITES_ID

    def prepare(self, seal: Seal) -> BrowserTask:
        if seal.env != self.env_id:
            raise UserError(f"a task of {seal.env} cannot run in {self.env_id}")
        family_of(seal.env, seal.family)
        return SitesTask(seal)

    def draw(self, seed: int) -> tuple[Seal, str]:
        from rebind.envs.sites.world import world_of

        world = world_of(self.env_id)
        names = world.families()
        target = world.sample(names[seed % len(names)], seed)
        return target.seal, target.task.goal


class DeskEnv(SitesEnv):
    """`rebind.types.Environment` over the service desk and the inventory."""

    env_id = DESK_ID
