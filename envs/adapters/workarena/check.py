"""Proves the tasks on an instance: what `rebind envs check workarena` shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rebind.envs.adapters.proof import Proof
from rebind.envs.adapters.variants import VariantWorld, chosen
from rebind.envs.adapters.workarena.env import WorkArenaEnv
from rebind.envs.adapters.workarena.tasks import WorkArenaTask
from rebind.types import Progress

_KINDS = ("oracle", "noop")


def check(
    world: VariantWorld[WorkArenaTask], names: Sequence[str] | None, seeds: Sequence[int], progress: Progress
) -> dict[str, Any]:
    """Plays, of each family (all where None), a task a seed: by WorkArena's own solution, and by doing nothing.

    Returns `families`, `tasks`, `oracle_pass`, `noop_pass` and `failures`.

    Raises:
        UserError: an unknown family.
        EnvironmentFailure: the instance does not answer.
    """
    families, proof, env = chosen(world.listed(), names), Proof(_KINDS), WorkArenaEnv()
    tasks = 0
    try:
        for family, members in families.items():
            for seed in list(seeds)[: len(members)]:
                progress(family, tasks, len(families) * len(seeds))
                target = world.sample(family, seed)
                for kind in _KINDS:
                    env.reset(options={"seal": target.seal})
                    if kind == "oracle":
                        env.solve()
                    proof.add(family, target.task.goal, kind, env.verify().success)
                tasks += 1
    finally:
        env.close()
    return {"families": len(families), "tasks": tasks, **proof.shares(), "failures": proof.failures}
