"""Tasks of the sites for tests: chosen, solved, played."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rebind.envs import world
from rebind.envs.browser.env import BrowserEnv
from rebind.envs.sites.world import world_of
from rebind.types import Call, Seal, Target, ToolCall, Verdict


def feasible(name: str, family: str, wanted: bool = True) -> Target:
    """A source task of a family that can, or cannot, be done."""
    one = world(name)
    return next(t for seed in range(100) if (t := one.sample(family, seed)).seal.world["feasible"] is wanted)


def solve(env: BrowserEnv, seal: Seal) -> list[Call]:
    """Plays the oracle; the calls it made."""
    env.reset(options={"seal": seal})
    doing: Any = world_of(seal.env).oracle(seal)(env)
    calls: list[Call] = []
    action = next(doing)
    while True:
        info = env.step(action)[4]
        calls += info["calls"]
        try:
            action = doing.send(tuple(info["calls"]))
        except StopIteration:
            return calls


def play(env: BrowserEnv, seal: Seal, actions: Iterable[ToolCall]) -> Verdict:
    """Plays these actions, whatever comes back; the verdict."""
    env.reset(options={"seal": seal})
    for action in actions:
        if env.step(action)[2]:
            break
    return env.verify()
