"""Who works through source tasks for a bank: the oracle, or any model through the same actor and loop as in a study."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rebind.agents.actor import Actor
from rebind.agents.loop import run
from rebind.agents.settings import ActorSettings
from rebind.banks.rollers import oracle_roller
from rebind.banks.rollout import Roller, Trace
from rebind.eval.models import Named, open_model
from rebind.types import Budget, Decoding, Environment, Step, Support, Target, World

ORACLE = "oracle"


@contextmanager
def roller(world: World, model: str, detours: float) -> Iterator[Roller]:
    """The roller that a name stands for: `oracle` with that rate of detours, or a model without memory.

    Raises:
        ModelError: a name that leads nowhere.
    """
    if model == ORACLE:
        yield oracle_roller(world, detours)
        return
    with open_model(model) as named:
        assert named is not None  # a name was given
        yield model_roller(named)


def model_roller(named: Named, budget: Budget | None = None) -> Roller:
    """A roller that lets a model act without memory."""

    def roll(environment: Environment, target: Target, seed: int) -> Trace:
        first, _ = environment.reset(options={"seal": target.seal})
        settings = ActorSettings(model=named.name, decoding=Decoding(seed=seed))
        steps: list[Step] = []
        actor = Actor(
            named.model,
            settings,
            goal=target.task.goal,
            tools=environment.tools(),
            support=Support(condition="none"),
            on_call=lambda row: None,
        )
        ending = run(environment, actor, first, budget or target.task.budget, lambda _, step: steps.append(step))
        rollout: dict[str, Any] = {"source": "model", "seed": seed, "ending": ending}
        rollout["settings"] = settings.model_dump(mode="json")
        return Trace(first_observation=first, steps=tuple(steps), rollout=rollout)

    return roll
