"""Skills of real app-world trajectories: they solve their own task again, and shifted ones with the target's values."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rebind.banks.rollers import oracle_roller
from rebind.banks.rollout import roll
from rebind.banks.skills import verified_skills
from rebind.memory.skill.environment import SkillEnvironment
from rebind.memory.skill.induce import induce
from rebind.memory.skill.reads import finishes
from rebind.types import SHIFT_LEVELS, Environment, Seal, Skill, Target, ToolCall, World

SOLVED = (
    "apps/forward-latest-invoice",
    "apps/handover-newest-documents",
    "apps/postpone-meeting-tell-accepted",
    "apps/send-gift-to-current-address",
    "apps/settle-trip-one-by-one",
)


@pytest.fixture
def environment(apps: World) -> Iterator[Environment]:
    made = apps.make()
    yield made
    made.close()


def the_skill(source: Any, environment: Environment) -> Skill:
    (skill,) = verified_skills(source.record, source.seal, environment)
    return skill


@pytest.mark.parametrize("family", SOLVED)
def test_a_trajectory_with_detours_becomes_a_skill_that_solves_its_own_task(
    source_of: Callable[[str, int], Any], environment: Environment, family: str
) -> None:
    source = source_of(family, 0)
    skill = the_skill(source, environment)
    assert len(skill.steps) < sum(len(s.calls) for s in source.record.steps)


@pytest.mark.parametrize("family", SOLVED)
def test_a_skill_solves_shifted_targets_with_the_targets_values(
    apps: World, source_of: Callable[[str, int], Any], environment: Environment, family: str
) -> None:
    """Slots are filled as a perfect caller would: by the skill that the target's own oracle run gives."""
    source = source_of(family, 0)
    skill = the_skill(source, environment)
    solved = [
        succeeds(environment, target, skill, slots)
        for target in (apps.shift(source.seal, level, 3) for level in SHIFT_LEVELS)
        if (slots := slots_for(apps, environment, target, skill)) is not None
    ]
    assert len(solved) >= 2
    assert all(solved)


def test_a_question_whose_answer_is_computed_gives_no_skill(
    source_of: Callable[[str, int], Any], environment: Environment
) -> None:
    source = source_of("apps/budget-left-question", 0)
    assert verified_skills(source.record, source.seal, environment) == ()


def test_the_actor_reads_what_the_skill_did_and_every_inner_call_counts(
    source_of: Callable[[str, int], Any], environment: Environment
) -> None:
    source = source_of("apps/forward-latest-invoice", 0)
    skill = the_skill(source, environment)
    wrapped = SkillEnvironment(environment, [skill])
    wrapped.reset(options={"seal": source.seal})
    assert wrapped.tools()[0].name == skill.name
    action = {"tool": skill.name, "args": {s.name: s.example for s in skill.slots}}
    observation, reward, terminated, _, info = wrapped.step(json.dumps(action))
    assert len(info["calls"]) == len(skill.steps)
    assert info["error"] is None
    assert (reward, terminated) == (0.0, False)
    assert observation.splitlines()[-1].startswith("All calls succeeded.")
    assert wrapped.step(ToolCall(tool="supervisor_complete_task"))[2]
    assert wrapped.verify().success


def test_a_skill_called_wrongly_makes_no_call_and_says_what_it_needs(
    source_of: Callable[[str, int], Any], environment: Environment
) -> None:
    source = source_of("apps/forward-latest-invoice", 0)
    skill = the_skill(source, environment)
    wrapped = SkillEnvironment(environment, [skill])
    wrapped.reset(options={"seal": source.seal})
    observation, _, _, _, info = wrapped.step(ToolCall(tool=skill.name, args={"nonsense": 1}))
    assert info == {"calls": (), "error": observation}
    assert "has no parameter nonsense" in observation
    observation, _, _, _, info = wrapped.step(ToolCall(tool=skill.name))
    assert info["calls"] == ()
    assert "needs" in observation


def test_other_actions_pass_through(source_of: Callable[[str, int], Any], environment: Environment) -> None:
    source = source_of("apps/forward-latest-invoice", 0)
    wrapped = SkillEnvironment(environment, [the_skill(source, environment)])
    wrapped.reset(options={"seal": source.seal})
    assert "access_token" in wrapped.step(ToolCall(tool="supervisor_login", args={"app": "mail"}))[0]
    assert "422" in wrapped.step('{"tool": 5}')[0] or "error" in wrapped.step('{"tool": 5}')[0]


def _shape(skill: Skill) -> tuple[list[str], list[str]]:
    """Its tools in order, and the names of its slots."""
    return [s.tool for s in skill.steps], [s.name for s in skill.slots]


def slots_for(apps: World, environment: Environment, target: Target, skill: Skill) -> dict[str, Any] | None:
    """Values for a target, where its oracle goes the same way as the source's did."""
    own = roll(environment, target, target.seal.family, 0, oracle_roller(apps, 0.0)).record
    others = [induce(own, late=late) for late in (True, False)] if own else []
    for other in others:
        if other and _shape(other) == _shape(skill):
            return {s.name: s.example for s in other.slots}
    return None


def succeeds(environment: Environment, target: Target, skill: Skill, slots: dict[str, Any]) -> bool:
    seal: Seal = target.seal
    wrapped = SkillEnvironment(environment, [skill])
    wrapped.reset(options={"seal": seal})
    wrapped.step(ToolCall(tool=skill.name, args=slots))
    if not any(finishes(s.tool) for s in skill.steps):
        wrapped.step(ToolCall(tool="supervisor_complete_task"))
    return wrapped.verify().success
