"""THE loop: observe, act, step, record, until the task is done or the episode may not go on."""

from __future__ import annotations

import time
from collections.abc import Callable

from rebind.agents.actor import Actor
from rebind.errors import ContextOverflow
from rebind.types import Budget, Environment, Step

CORRECTIONS = 2
"""Answers in a row that are no action and are corrected; one more ends the episode."""


def run(
    env: Environment,
    actor: Actor,
    observation: str,
    budget: Budget,
    on_step: Callable[[int, Step], None],
    clock: Callable[[], float] = time.monotonic,
) -> str:
    """Runs one episode from its first observation and says how it ended: "done", "over-steps", "over-calls",
    "over-tokens", "over-time", "unparseable" or "context". Errors of infrastructure are raised, not judged."""
    began, steps, calls, tokens, corrections = clock(), 0, 0, 0, 0
    while True:
        if over := exceeded(budget, steps, calls, tokens, clock() - began):
            return over
        try:
            turn = actor.act(observation)
        except ContextOverflow:
            return "context"
        if turn.action is None:
            step, done = Step(action=None, observation=turn.problem, error="unparseable", thought=turn.thought), False
        else:
            seen, _, done, _, info = env.step(turn.action)
            step = Step(action=turn.action, observation=seen, thought=turn.thought, **info)
        on_step(steps, step)
        observation, tokens = step.observation, tokens + turn.tokens
        steps, calls = steps + 1, calls + len(step.calls)
        corrections = corrections + 1 if turn.action is None else 0
        if done:
            return "done"
        if corrections > CORRECTIONS:
            return "unparseable"


def exceeded(budget: Budget, steps: int, calls: int, tokens: int, seconds: float) -> str | None:
    """The limit that leaves no room for another turn."""
    spent = {"steps": steps, "calls": calls, "tokens": tokens, "time": seconds}
    limits = {"steps": budget.steps, "calls": budget.calls, "tokens": budget.tokens, "time": budget.seconds}
    return next((f"over-{n}" for n, limit in limits.items() if limit is not None and spent[n] >= limit), None)
