"""A small bank of real app-world trajectories, frozen with summaries by a simulated writer, and its targets."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from rebind.banks.build import build
from rebind.banks.freeze import freeze
from rebind.banks.rollers import oracle_roller
from rebind.banks.shift import build_targets
from rebind.banks.summaries import Writer
from rebind.envs import world
from rebind.types import Completion, Request, World

FAMILIES = ("apps/forward-latest-invoice", "apps/send-gift-to-current-address", "apps/budget-left-question")


@dataclass
class Simulated:
    """A `Model` that always writes the same; a token is a word."""

    text: str = "Search the record. Read it. Change it. Look at it again."
    asked: list[Request] = field(default_factory=list)

    def complete(self, request: Request) -> Completion:
        self.asked.append(request)
        return Completion(text=self.text)

    def count(self, request: Request) -> int:
        return sum(len(m.content.split()) for m in request.messages)


@pytest.fixture(scope="session")
def apps() -> World:
    return world("apps")


@pytest.fixture(scope="session")
def rollouts(apps: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("builds") / "rollouts"
    build(apps, out, oracle_roller(apps, 0.3), seeds=range(2), families=FAMILIES)
    return out


@pytest.fixture(scope="session")
def writer() -> Simulated:
    return Simulated()


@pytest.fixture(scope="session")
def bank(apps: World, rollouts: Path, writer: Simulated, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("banks") / "bank"
    freeze([rollouts], out, [apps], writer=Writer(writer, "simulated"))
    return out


@pytest.fixture(scope="session")
def targets(bank: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("targets") / "targets"
    build_targets(bank, out)
    return out
