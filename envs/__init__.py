"""Environments by name, and their registration with Gymnasium. Nothing is imported before it is asked for."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

from rebind.errors import UserError, did_you_mean
from rebind.types import World

GROUP = "rebind.worlds"
"""Entry point group of worlds from other packages; the object it names is a `World` or makes one without arguments."""

_BUILT_IN = {
    "apps": "rebind.envs.apps.world:AppsWorld",
    "appworld": "rebind.envs.adapters.appworld.world:AppWorldWorld",
    "desk": "rebind.envs.sites.world:DeskWorld",
    "miniwob": "rebind.envs.miniwob.world:MiniwobWorld",
    "sites": "rebind.envs.sites.world:SitesWorld",
    "tau2": "rebind.envs.adapters.tau2.world:Tau2World",
    "toolbench": "rebind.envs.toolbench.world:ToolbenchWorld",
    "webarena": "rebind.envs.adapters.webarena.original.world:WebArenaWorld",
    "webarena-verified": "rebind.envs.adapters.webarena.world:WebArenaVerifiedWorld",
    "workarena": "rebind.envs.adapters.workarena.world:WorkArenaWorld",
}
_GYMNASIUM = {
    "rebind/AppWorld-v0": "rebind.envs.adapters.appworld.env:AppWorldEnv",
    "rebind/Apps-v0": "rebind.envs.apps.env:AppsEnv",
    "rebind/Desk-v0": "rebind.envs.sites.env:DeskEnv",
    "rebind/Miniwob-v0": "rebind.envs.miniwob.env:MiniwobEnv",
    "rebind/Sites-v0": "rebind.envs.sites.env:SitesEnv",
    "rebind/Tau2-v0": "rebind.envs.adapters.tau2.env:Tau2Env",
    "rebind/Toolbench-v0": "rebind.envs.toolbench.env:ToolbenchEnv",
    "rebind/WebArena-v0": "rebind.envs.adapters.webarena.original.env:WebArenaEnv",
    "rebind/WebArenaVerified-v0": "rebind.envs.adapters.webarena.env:WebArenaVerifiedEnv",
    "rebind/WorkArena-v0": "rebind.envs.adapters.workarena.env:WorkArenaEnv",
}


def names() -> tuple[str, ...]:
    """Short names of all worlds, sorted."""
    return tuple(sorted(_known()))


def world(name: str) -> World:
    """The world of that short name. Raises UserError where there is none, or where its entry point gives no World."""
    known = _known()
    if name not in known:
        raise UserError(f"no environment named {name!r}{did_you_mean(name, known)}")
    found = known[name].load()
    made = found() if isinstance(found, type) else found
    missing = [part for part in ("env_id", "families", "make", "sample", "shift", "oracle") if not hasattr(made, part)]
    if missing:
        raise UserError(f"{known[name].value} (environment {name!r}) is no World: it lacks {', '.join(missing)}")
    checked: World = made
    return checked


def register() -> None:
    """Makes the built-in environments known to `gymnasium.make`; calling it again changes nothing."""
    import gymnasium

    for env_id, entry_point in _GYMNASIUM.items():
        if env_id not in gymnasium.registry:
            gymnasium.register(id=env_id, entry_point=entry_point)


def _known() -> dict[str, EntryPoint]:
    """Built-in worlds win over an entry point of the same name."""
    own = {name: EntryPoint(name, value, GROUP) for name, value in _BUILT_IN.items()}
    return {point.name: point for point in entry_points(group=GROUP)} | own
