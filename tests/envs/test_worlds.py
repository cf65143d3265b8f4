"""Environments by name."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest

from rebind import envs
from rebind.errors import UserError


def test_the_app_world_is_built_in() -> None:
    world = envs.world("apps")
    assert (world.name, world.env_id) == ("apps", "rebind/Apps-v0")
    assert "apps" in envs.names()


def test_an_unknown_world_is_a_user_error_with_the_nearest_name() -> None:
    with pytest.raises(UserError, match="no environment named 'app'; did you mean 'apps'"):
        envs.world("app")


def test_worlds_of_other_packages_come_by_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    points = {"other": "rebind.envs.apps.world:AppsWorld", "broken": "rebind.errors:UserError", "apps": "json:dumps"}
    listed = [EntryPoint(name, value, envs.GROUP) for name, value in points.items()]
    monkeypatch.setattr(envs, "entry_points", lambda group: listed if group == envs.GROUP else [])
    own = (
        "apps",
        "appworld",
        "desk",
        "miniwob",
        "sites",
        "tau2",
        "toolbench",
        "webarena",
        "webarena-verified",
        "workarena",
    )
    assert envs.names() == tuple(sorted((*own, "broken", "other")))
    assert envs.world("other").env_id == "rebind/Apps-v0"
    assert envs.world("apps").name == "apps"
    with pytest.raises(UserError, match="is no World: it lacks env_id"):
        envs.world("broken")


def test_asking_for_names_imports_no_environment() -> None:
    script = (
        "import sys, rebind.envs; rebind.envs.names();"
        "print([m for m in ('gymnasium', 'rebind.envs.apps', 'pydantic_monty') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
