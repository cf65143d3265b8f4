"""Proves ToolBench's tasks: what `rebind envs check toolbench` shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rebind.envs.adapters.proof import Proof
from rebind.envs.adapters.variants import chosen
from rebind.envs.toolbench.env import ToolbenchEnv
from rebind.envs.toolbench.tasks import ToolbenchTask, library
from rebind.envs.toolbench.trace import FINISH
from rebind.envs.toolbench.world import ToolbenchWorld, solution
from rebind.types import Action, Progress, ToolCall


def check(names: Sequence[str] | None, seeds: Sequence[int], progress: Progress) -> dict[str, Any]:
    """Plays, of each family (all where None), up to as many tasks as there are seeds: the recorded way, nothing but an
    answer, and the recorded way of the next task (`stale`).

    Returns `families`, `tasks`, `responses`, the shares `oracle_pass`, `noop_pass`, `stale_pass`, and `failures`.
    Raises UserError for an unknown family.
    """
    data, env = library(), ToolbenchEnv()
    wanted = chosen(data.families, names)
    every = list(data.tasks.values())
    proof = Proof()
    for done, (name, members) in enumerate(wanted.items()):
        progress(name, done, len(wanted))
        for one in members[: len(seeds)]:
            other = next((o for o in [*members, *every] if set(map(str, one.calls)) - set(map(str, o.calls))), None)
            nothing = ToolCall(tool=FINISH, args={"return_type": "give_answer", "final_answer": "I do not know"})
            played: dict[str, Sequence[Action]] = {"oracle": solution(one), "noop": (nothing,)}
            played |= {"stale": solution(other)} if other else {}
            for kind, actions in played.items():
                proof.add(name, one.id, kind, _passes(env, one, actions))
    return {
        "families": len(wanted),
        "tasks": len(proof.plays("oracle")),
        "responses": len(data.responses),
        **proof.shares(),
        "failures": proof.failures,
    }


def _passes(env: ToolbenchEnv, one: ToolbenchTask, actions: Sequence[Action]) -> bool:
    env.reset(options={"seal": ToolbenchWorld().target(one).seal})
    for action in actions:
        if env.step(action)[2]:
            break
    return env.verify().success
