"""THE loop: observe, act, step, record, until the task is done or the episode may not go on."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from rebind.agents.actor import Actor, Turn
from rebind.errors import ContextOverflow, ProviderError
from rebind.types import Budget, Environment, Step

CORRECTIONS = 2
"""Answers in a row that are no action and are corrected; one more ends the episode."""


@dataclass
class Spent:
    """What an episode used so far, in the units of its Budget. `lost`: seconds that its provider's faults took;
    `untold`: which of these a provider did not tell."""

    steps: int = 0
    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    lost: float = 0.0
    untold: set[str] = field(default_factory=set)

    def add(self, turn: Turn, step: Step) -> None:
        self.steps, self.calls, self.lost = self.steps + 1, self.calls + len(step.calls), self.lost + turn.lost
        self.tokens, self.cost = self.tokens + (turn.tokens or 0), self.cost + (turn.cost or 0.0)
        self.untold |= {name for name, used in (("tokens", turn.tokens), ("cost", turn.cost)) if used is None}


def run(
    env: Environment,
    actor: Actor,
    observation: str,
    budget: Budget,
    on_step: Callable[[int, Step], None],
    clock: Callable[[], float] = time.monotonic,
) -> str:
    """Runs one episode from its first observation and says how it ended: "done", "over-steps", "over-calls",
    "over-tokens", "over-cost", "over-time", "unparseable" or "context". Errors of infrastructure are raised, not
    judged: among them a provider whose faults took as long as the episode may last."""
    began, spent, corrections = clock(), Spent(), 0
    while True:
        if over := exceeded(budget, spent, clock() - began):
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
        on_step(spent.steps, step)
        spent.add(turn, step)
        observation = step.observation
        corrections = corrections + 1 if turn.action is None else 0
        if done:
            return "done"
        if corrections > CORRECTIONS:
            return "unparseable"


def exceeded(budget: Budget, spent: Spent, seconds: float) -> str | None:
    """The limit that leaves no room for another turn. `seconds` since the episode began, lost ones included.

    Raises:
        ProviderError: more was lost than the episode may last, or an answer came without what a limit is on.
    """
    used = {"steps": spent.steps, "calls": spent.calls, "tokens": spent.tokens, "cost": spent.cost}
    limits = {"steps": budget.steps, "calls": budget.calls, "tokens": budget.tokens, "cost": budget.cost}
    for name, limit in limits.items():
        if limit is not None and name in spent.untold:
            raise ProviderError(f"an answer came without usage counts: budget.{name} cannot be held; do without it")
        if limit is not None and used[name] >= limit:
            return f"over-{name}"
    if budget.seconds is None:
        return None
    if seconds - spent.lost >= budget.seconds:
        return "over-time"
    if spent.lost >= budget.seconds:
        raise ProviderError(f"failed attempts and waits took {spent.lost:.0f} s of an episode of {budget.seconds:g} s")
    return None
