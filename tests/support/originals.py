"""Where the real benchmark data are, and environments of other packages; tests without them skip and say so."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeVar

import pytest

from rebind.envs.adapters.venvs import InstallFailure, Place
from rebind.types import World

W = TypeVar("W", bound=World)


def data(*parts: str) -> Path:
    """A folder of the real data (`REBIND_DATA`, or `shared/data` beside the checkout)."""
    folder = Path(os.environ.get("REBIND_DATA", Path(__file__).parents[3] / "shared" / "data")).joinpath(*parts)
    if not folder.exists():
        pytest.skip(f"no {folder}: set REBIND_DATA to the folder of the real data")
    return folder


def runnable(world: W) -> W:
    """A world that can run here, or a skip that says what it needs."""
    if why := world.unavailable():
        pytest.skip(f"{world.name} cannot run here: {why}")
    return world


def installed(place: Place) -> None:
    """Makes an adapter's environment, or skips where no package registry answers."""
    try:
        place.install()
    except InstallFailure as error:
        pytest.skip(str(error))
