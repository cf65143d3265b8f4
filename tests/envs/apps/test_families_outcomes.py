"""Every family's verdicts: nothing done, the oracle, each milestone by itself, collateral damage."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from rebind.envs.apps.building import family_of
from rebind.envs.apps.families import FAMILIES
from rebind.envs.apps.replay import Played, logins, player
from rebind.envs.apps.world import sample, tools
from rebind.types import Seal, ToolCall, length_group

SEEDS = (0, 1, 2)
COMPLETE = ToolCall(tool="supervisor_complete_task")

each_family = pytest.mark.parametrize("family", FAMILIES)
each_seed = pytest.mark.parametrize("seed", SEEDS)


def reached(played: Played) -> set[str]:
    return {m.id for m in played.verdict.milestones if m.reached}


@each_family
@each_seed
@pytest.mark.parametrize("actions", [(), (COMPLETE,)], ids=["nothing", "complete-at-once"])
def test_doing_nothing_scores_zero_and_fails(family: str, seed: int, actions: tuple[ToolCall, ...]) -> None:
    verdict = player().act(sample(family, seed).seal, actions).verdict
    assert verdict.milestones
    assert verdict.progress == 0
    assert not verdict.success
    assert not verdict.collateral


@each_family
@each_seed
def test_the_oracle_succeeds_with_every_milestone_and_no_refused_call(family: str, seed: int) -> None:
    solved = player().solve(sample(family, seed).seal)
    assert solved.verdict.success, (solved.verdict.failures, solved.verdict.collateral)
    assert solved.verdict.progress == 1
    assert all(call.ok for call in solved.calls)


@each_family
@each_seed
def test_the_oracle_fits_its_length_group_its_budget_and_the_tools_of_the_prompt(family: str, seed: int) -> None:
    target = sample(family, seed)
    solved = player().solve(target.seal)
    assert length_group(solved.effective) == family_of(family).group
    assert len(solved.actions) <= target.task.budget.steps / 2
    assert {action.tool for action in solved.actions} <= {tool.name for tool in tools(target.seal)}


@each_family
def test_each_milestone_is_false_at_first_reached_by_some_call_and_missing_without_it(family: str) -> None:
    seal = sample(family, 0).seal
    actions = player().solve(seal).actions
    firsts = first_reached(seal, actions)
    assert set(firsts) == {m.id for m in player().act(seal, ()).verdict.milestones}
    for milestone, index in firsts.items():
        assert milestone not in reached(player().act(seal, without(seal, actions, milestone, index)))


@each_family
def test_milestone_names_differ_and_say_something(family: str) -> None:
    milestones = player().act(sample(family, 0).seal, ()).verdict.milestones
    assert len({m.id for m in milestones}) == len(milestones)
    assert all(m.id and m.text for m in milestones)


@each_family
@each_seed
def test_one_unrelated_write_beside_the_solution_is_collateral_damage(family: str, seed: int) -> None:
    seal = sample(family, seed).seal
    actions = player().solve(seal).actions
    verdict = player().act(seal, [*actions[:-1], *unrelated(seal), actions[-1]]).verdict
    assert verdict.progress == 1
    assert len(verdict.collateral) == 1
    assert not verdict.success


@each_family
def test_the_solution_without_declaring_the_task_done_is_no_success(family: str) -> None:
    seal = sample(family, 0).seal
    verdict = player().act(seal, player().solve(seal).actions[:-1]).verdict
    assert not verdict.success
    assert not verdict.collateral


def first_reached(seal: Seal, actions: tuple[ToolCall, ...]) -> dict[str, int]:
    """Index of the action that first reaches each milestone."""
    env, firsts = player().env, dict[str, int]()
    env.reset(options={"seal": seal})
    for index, action in enumerate(actions):
        env.step(action)
        for milestone in env.verify().milestones:
            if milestone.reached:
                firsts.setdefault(milestone.id, index)
    return firsts


def without(seal: Seal, actions: tuple[ToolCall, ...], milestone: str, index: int) -> tuple[ToolCall, ...]:
    """The actions, less each one that would reach the milestone; the first such index is known."""
    while True:
        actions = actions[:index] + actions[index + 1 :]
        if milestone not in reached(player().act(seal, actions)):
            return actions
        index = first_reached(seal, actions)[milestone]


def unrelated(seal: Seal) -> list[ToolCall]:
    """A login and a write that no task asks for."""
    login = ToolCall(tool="supervisor_login", args={"app": "notes"})
    token = logins(player().act(seal, [login]).calls)["notes"]
    args: dict[str, JsonValue] = {
        "title": "Stray thought",
        "body": "Nobody asked for this note.",
        "access_token": token,
    }
    return [login, ToolCall(tool="notes_create", args=args)]
