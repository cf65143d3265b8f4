"""Scripts for the simulated models of a study: `simulated/oracle` solves every target, `simulated/N` N percent of the
episodes. For testing the harness; what they produce is no result."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from typing import Any, cast

from rebind.agents.simulated import PREFIX, Script
from rebind.banks.worlds import world_of
from rebind.errors import ModelError
from rebind.types import Action, Call, Completion, Environment, Played, Request, Target, ToolCall

_NOTE = {
    "workflow": "log in, look up, act, complete the task",
    "rebind": "every id, from a search",
    "applies": "the same kind of task",
    "verify": "look at what was changed",
}


def solve_rate(name: str) -> float:
    """The share of episodes that a simulated model solves, from its name.

    Raises:
        ModelError: the name is neither `simulated/oracle` nor `simulated/` and a whole number up to 100.
    """
    kind = name.removeprefix(PREFIX)
    if kind == "oracle":
        return 1.0
    if kind.isdecimal() and int(kind) <= 100:
        return int(kind) / 100
    raise ModelError(f"no simulated model {name!r}; there are {PREFIX}oracle and {PREFIX}0 to {PREFIX}100")


def oracle_script(targets: Sequence[Target], rate: float = 1.0) -> Script:
    """A script that says what each target's oracle does; a share of 1 - `rate` of the episodes declares itself
    done half-way."""
    answers: dict[str, tuple[str, ...]] = {}
    for env_id in sorted({t.task.env for t in targets}):
        world = world_of(env_id)
        env = (world.played_by(_Silent(), "") if isinstance(world, Played) else world).make()
        try:
            answers |= {t.task.goal: tuple(_solve(env, t)) for t in targets if t.task.env == env_id}
        finally:
            env.close()
    otherwise = (("<scenario>", "###STOP###"), ('{"candidate"', '{"candidate": 1}'), ("", json.dumps(_NOTE)))
    last: dict[str, Any] = json.loads(next(iter(answers.values()))[-1])
    give_up = json.dumps({"tool": last["tool"], "args": {}})  # what ends an episode, with nothing said
    return Script(answers=answers, otherwise=otherwise, success=(("", rate),), give_up=give_up)


class _Silent:
    """A `Model` that says nothing, for parts that no solution needs."""

    def complete(self, request: Request) -> Completion:
        return Completion(text="")

    def count(self, request: Request) -> int:
        return 0


def _solve(env: Environment, target: Target) -> list[str]:
    """The oracle's actions on a target, as an actor of the JSON protocol says them."""
    env.reset(options={"seal": target.seal})
    # The protocol says Iterator for readers; an oracle is a generator that is sent the calls of its last step.
    solution = cast("Generator[Action, tuple[Call, ...], None]", world_of(target.task.env).oracle(target.seal)(env))
    said: list[str] = []
    try:
        action = next(solution)
        while True:
            assert isinstance(action, ToolCall)  # oracles act by tool calls
            said.append(json.dumps({"tool": action.tool, "args": action.args}, ensure_ascii=False))
            action = solution.send(env.step(action)[4]["calls"])
    except StopIteration:
        return said
