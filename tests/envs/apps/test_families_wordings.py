"""What an agent is told: goals, first observation, tools; and that nothing sealed is in it."""

from __future__ import annotations

import re
import string

import pytest

from rebind.envs.apps.building import family_of
from rebind.envs.apps.families import FAMILIES
from rebind.envs.apps.replay import player
from rebind.envs.apps.world import sample, tools

each_family = pytest.mark.parametrize("family", FAMILIES)
MOST_TOOLS = 16


def fields(wording: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(wording) if name}


@each_family
def test_there_are_three_wordings_and_all_name_the_same_values(family: str) -> None:
    wordings = family_of(family).wordings
    assert len(set(wordings)) == len(wordings) >= 3
    assert len({frozenset(fields(wording)) for wording in wordings}) == 1


@each_family
def test_every_wording_has_every_named_value_as_it_is_shown(family: str) -> None:
    one, values = family_of(family), sample(family, 0).seal.values()
    for wording in range(len(one.wordings)):
        goal = one.goal(values, wording)
        for d in one.drawn:
            assert d.name not in one.named or d.show(values[d.name]) in goal


@each_family
def test_a_family_has_enough_bindings_a_central_one_and_a_local_one(family: str) -> None:
    bindings = sample(family, 0).seal.bindings
    assert len(bindings) >= 4
    assert any(b.central for b in bindings)
    assert any(not b.central for b in bindings)
    assert len({b.name for b in bindings}) == len(bindings)


@each_family
def test_no_value_that_must_be_looked_up_stands_in_the_goal_or_the_first_observation(family: str) -> None:
    target = sample(family, 0)
    one, values = family_of(family), target.seal.values()
    observation, _ = player().env.reset(options={"seal": target.seal})
    for g in one.grounded:
        found = values[g.name]
        for value in found if isinstance(found, list) else [found]:
            assert not re.search(rf"(?<!\w){re.escape(str(value))}(?!\w)", f"{target.task.goal}\n{observation}")


@each_family
@pytest.mark.parametrize("seed", range(4))
def test_nothing_sealed_is_shown(family: str, seed: int) -> None:
    target = sample(family, seed)
    observation, _ = player().env.reset(options={"seal": target.seal})
    shown = target.task.model_dump_json() + observation + "".join(t.model_dump_json() for t in tools(target.seal))
    assert re.fullmatch(r"canary-[0-9a-f]{32}", target.seal.canary)
    assert target.seal.canary not in shown
    assert family not in shown
    assert family.removeprefix("apps/") not in shown


@each_family
def test_the_prompt_names_few_tools_with_login_and_completion_first(family: str) -> None:
    names = [tool.name for tool in tools(sample(family, 0).seal)]
    assert names[:2] == ["supervisor_login", "supervisor_complete_task"]
    assert len(names) == len(set(names)) <= MOST_TOOLS


def test_canaries_and_tasks_differ_between_seeds_and_families() -> None:
    targets = [sample(family, seed) for family in FAMILIES for seed in range(8)]
    assert len({t.seal.canary for t in targets}) == len({t.task.key for t in targets}) == len(targets)
