"""Environment packages by the Gymnasium id that tasks and seals carry."""

from __future__ import annotations

from functools import cache

from rebind.envs import names, world
from rebind.errors import UserError, did_you_mean
from rebind.types import World


@cache
def world_of(env_id: str) -> World:
    """The world whose tasks have that id.

    Raises:
        UserError: none is installed.
    """
    known = {one.env_id: one for one in map(world, names())}
    if env_id not in known:
        raise UserError(f"no environment with id {env_id!r} is installed{did_you_mean(env_id, known)}")
    return known[env_id]
