"""Proves recorder and evaluators on the stub site: what `rebind envs check webarena-verified` shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rebind.envs.adapters.webarena.env import WebArenaVerifiedEnv
from rebind.envs.adapters.webarena.proving import prove
from rebind.envs.adapters.webarena.runs import Run, right, wrong
from rebind.envs.adapters.webarena.stub import TASKS
from rebind.envs.adapters.webarena.tasks import WebArenaTask, task
from rebind.envs.adapters.webarena.world import WebArenaVerifiedWorld
from rebind.types import Progress


def check(names: Sequence[str] | None, seeds: Sequence[int], progress: Progress) -> dict[str, Any]:
    """Plays the stub site's tasks in a real Chromium, judged on our recordings; see `prove`."""
    env = WebArenaVerifiedEnv()

    def passes(one: WebArenaTask, kind: str) -> bool:
        run = {"right": right(one.id), "wrong": wrong(one.id), "noop": ()}[kind]
        return plays(env, one, run) == 1.0

    try:
        return prove([task(number, stub=True) for number in TASKS], names, seeds, progress, passes)
    finally:
        env.close()


def plays(env: WebArenaVerifiedEnv, one: WebArenaTask, run: Run) -> float:
    """The package's score of a run."""
    env.reset(options={"seal": WebArenaVerifiedWorld().target(one).seal})
    for action in run:
        env.step(action)
    env.verify()
    assert env.judgement is not None  # set by verify
    return env.judgement.score
