"""Who works through source tasks: the family's oracle with seeded detours, or a model through the actor."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, cast

from rebind.banks.detours import Detours
from rebind.banks.rollout import Roller, Trace, do
from rebind.types import Action, Call, Environment, Step, Target, ToolCall, World

DETOUR_RATE = 0.15


def oracle_roller(world: World, rate: float = DETOUR_RATE) -> Roller:
    """A roller that follows the oracle. With probability `rate` a call is preceded by a detour, and a write is followed
    by another look; rate 0 gives the bare oracle."""

    def roller(environment: Environment, target: Target, seed: int) -> Trace:
        first, _ = environment.reset(options={"seal": target.seal})
        return oracle_trace(world, environment, target, seed, first, rate)

    return roller


def oracle_trace(
    world: World, environment: Environment, target: Target, seed: int, first: str, rate: float = 0.0
) -> Trace:
    """Follows the oracle in an environment that was just reset to the target, `first` being what it showed."""
    detours = Detours(rate, f"{target.task.key}/{seed}", target.task.goal, environment.tools())
    steps: list[Step] = []
    # The World protocol says Iterator for readers; an oracle is a generator that is sent the calls of its step.
    asks = cast("Generator[Action, tuple[Call, ...], None]", world.oracle(target.seal)(environment))
    action = next(asks)
    while True:
        history = [c for s in steps for c in s.calls]
        before = detours.before(action, history) if isinstance(action, ToolCall) else ()
        steps += [do(environment, detour)[0] for detour in before]
        step, over = do(environment, action)
        steps.append(step)
        if over:
            break
        after = detours.after(action, history) if isinstance(action, ToolCall) else ()
        steps += [do(environment, detour)[0] for detour in after]
        try:
            action = asks.send(step.calls)
        except StopIteration:
            break
    rollout: dict[str, Any] = {"source": "oracle", "seed": seed, "rate": rate, "detours": detours.taken}
    return Trace(first_observation=first, steps=tuple(steps), rollout=rollout)
