"""Real records of the app world, and a simulated writer that keeps what it was asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from rebind.banks.rollers import oracle_roller
from rebind.banks.rollout import Rollout, roll
from rebind.envs import world
from rebind.types import Completion, Record, Request, Seal, Usage, World


@dataclass
class Simulated:
    """A `Model` whose answers are given; a token is a word."""

    answers: list[str]
    asked: list[Request] = field(default_factory=list)

    def complete(self, request: Request) -> Completion:
        self.asked.append(request)
        return Completion(text=self.answers.pop(0), usage=Usage(prompt=self.count(request), completion=1))

    def count(self, request: Request) -> int:
        return sum(len(m.content.split()) for m in request.messages)


@dataclass(frozen=True)
class Source:
    """A verified record and its seal."""

    record: Record
    seal: Seal


@pytest.fixture(scope="session")
def apps() -> World:
    return world("apps")


@pytest.fixture(scope="session")
def source_of(apps: World) -> Callable[[str, int], Source]:
    """Rolls out a family's task by its oracle, with detours."""
    known: dict[tuple[str, int], Source] = {}
    environment = apps.make()

    def make(family: str, seed: int) -> Source:
        if (family, seed) not in known:
            rollout: Rollout = roll(environment, apps.sample(family, seed), family, seed, oracle_roller(apps, 0.3))
            assert rollout.record is not None, rollout.seal.verdict
            known[family, seed] = Source(rollout.record, rollout.seal)
        return known[family, seed]

    return make


@pytest.fixture
def simulated() -> Callable[..., Simulated]:
    return lambda *answers: Simulated(list(answers))
