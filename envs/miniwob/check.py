"""Solves MiniWoB++ tasks through the browser environment: what `rebind envs check miniwob` shows."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from rebind.envs.miniwob.env import MiniwobEnv
from rebind.envs.miniwob.solutions import SOLUTIONS
from rebind.envs.miniwob.world import PREFIX, MiniwobWorld
from rebind.errors import UserError, did_you_mean
from rebind.types import Call, Target, ToolCall

_ENOUGH = 60
"""Actions after which a solution is taken to go round in circles."""


def check(
    families: Sequence[str] | None = None,
    seeds: Sequence[int] = (0, 1, 2),
    progress: Callable[[str, int, int], None] = lambda _what, _done, _all: None,
) -> dict[str, Any]:
    """Solves each task (all that have a solution where None) with each seed, and ends each once without doing it.

    Returns `tasks` (tried), `listed` (all that need no canvas or image reading), `seeds` (how many), `solved` (share of
    runs with the page's full reward), `noop_pass` (share solved by doing nothing), `reset_ms_median`, and `failures`.
    Raises UserError for an unknown task or one without a solution.
    """
    world, env = MiniwobWorld(), MiniwobEnv()
    names = list(world.families()) if families is None else list(families)
    for name in names:
        if name not in world.families():
            raise UserError(f"no solution of {name!r} is written{did_you_mean(name, world.families())}")
    solved: list[bool] = []
    idle: list[bool] = []
    resets: list[float] = []
    failures: list[dict[str, Any]] = []
    try:
        for done, name in enumerate(names):
            progress(name, done, len(names))
            target: Target | None = None
            for seed in seeds:
                target = world.sample(name, seed)
                why = _failure(env, target, resets)
                solved.append(why is None)
                if why is not None:
                    failures.append({"family": name, "seed": seed, "what": why})
            if target is not None:
                idle.append(_nothing(env, target))
    finally:
        env.close()
    return {
        "tasks": len(names),
        "listed": len(world.all_tasks()),
        "seeds": len(seeds),
        "solved": sum(solved) / len(solved) if solved else None,
        "noop_pass": sum(idle) / len(idle) if idle else None,
        "reset_ms_median": round(statistics.median(resets), 1) if resets else None,
        "failures": failures,
    }


def _failure(env: MiniwobEnv, target: Target, resets: list[float]) -> str | None:
    """Why a solution did not solve its task; None where it did."""
    try:
        calls = solve(env, target, resets)
        verdict = env.verify()
    except Exception as error:  # a solution that trips over a page is a finding, not the end of the check
        return f"{type(error).__name__}: {error}"
    if verdict.success:
        return None
    refused = next((str(c.result) for c in calls if not c.ok), "")
    return "; ".join((*verdict.failures, refused))[:400]


def solve(env: MiniwobEnv, target: Target, resets: list[float]) -> list[Call]:
    """Plays a task's solution to its end; the reset's milliseconds are added to `resets`."""
    started = time.perf_counter()
    env.reset(options={"seal": target.seal})
    resets.append(1000 * (time.perf_counter() - started))
    doing = SOLUTIONS[target.seal.family.removeprefix(PREFIX)]({k: str(v) for k, v in target.seal.values().items()})
    made: list[Call] = []
    action = next(doing, None)
    while action is not None and len(made) < _ENOUGH:
        _, _, ended, _, info = env.step(action)
        made += info["calls"]
        if ended:
            break
        try:
            action = doing.send(list(info["calls"]))  # type: ignore[attr-defined]  # solutions are generators
        except StopIteration:
            break
    return made


def _nothing(env: MiniwobEnv, target: Target) -> bool:
    """Whether a task counts as done when the agent says so at once."""
    env.reset(options={"seal": target.seal})
    env.step(ToolCall(tool="send_msg_to_user", args={"text": "done"}))
    return env.verify().success
