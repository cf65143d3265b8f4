"""Proves AppWorld's tasks: what `rebind envs check appworld` shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rebind.envs.adapters.appworld.env import AppWorldEnv
from rebind.envs.adapters.appworld.tasks import AppWorldTask, tasks
from rebind.envs.adapters.appworld.world import AppWorldWorld
from rebind.envs.adapters.proof import Proof
from rebind.envs.adapters.variants import by_family, chosen, following
from rebind.types import Code, Progress

_NOTHING = "apis.supervisor.complete_task()"


def check(names: Sequence[str] | None, seeds: Sequence[int], progress: Progress) -> dict[str, Any]:
    """Plays, of each scenario (all where None), up to as many variants as there are seeds: the variant's solution,
    nothing but `complete_task`, and the solution of the next variant with other bindings (`stale`).

    Returns `data` (whose tasks: results on the small world are no AppWorld scores), `families`, `tasks`, `pairs`; the
    shares that passed, `oracle_pass`, `noop_pass`, `stale_pass`; and `failures`.
    Raises UserError for an unknown family.
    """
    wanted = chosen(by_family(tasks()), names)
    proof, env = Proof(), AppWorldEnv(trusted=True)
    try:
        for done, (name, members) in enumerate(wanted.items()):
            progress(name, done, len(wanted))
            for one in members[: len(seeds)]:
                for kind, code in _played(one, members).items():
                    proof.add(name, one.id, kind, _passes(env, one, code))
    finally:
        env.close()
    official = any(one.official for members in wanted.values() for one in members)
    return {
        "data": "AppWorld" if official else "small world of our own, no AppWorld scores",
        "families": len(wanted),
        "tasks": len(proof.plays("oracle")),
        "pairs": len(proof.plays("stale")),
        **proof.shares(),
        "failures": proof.failures,
    }


def _played(one: AppWorldTask, members: Sequence[AppWorldTask]) -> dict[str, str]:
    other = following(one, members)
    stale = {"stale": other.solution()} if other else {}
    return {"oracle": one.solution(), "noop": _NOTHING, **stale}


def _passes(env: AppWorldEnv, one: AppWorldTask, code: str) -> bool:
    env.reset(options={"seal": AppWorldWorld().target(one).seal})
    env.step(Code(code=code))
    return env.verify().success
