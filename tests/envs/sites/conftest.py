"""The sites on real servers with a real browser. Skips where packages or browser are missing, saying which."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import pytest

from rebind.envs.browser.env import BrowserEnv
from rebind.envs.sites.world import DeskWorld, SitesWorld

WHY_NOT = SitesWorld().unavailable()


@pytest.fixture(autouse=True)
def _needs_sites(request: pytest.FixtureRequest) -> None:
    """Every test of this folder needs the sites, but for those about their absence."""
    if WHY_NOT and request.path.name != "test_sites_missing.py":
        pytest.skip(f"needs the sites: {WHY_NOT}")


@pytest.fixture(scope="module")
def sites() -> Iterator[BrowserEnv]:
    env = cast(BrowserEnv, SitesWorld().make())
    yield env
    env.close()


@pytest.fixture(scope="module")
def desk() -> Iterator[BrowserEnv]:
    env = cast(BrowserEnv, DeskWorld().make())
    yield env
    env.close()
