"""ToolBench as an environment."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from support.originals import data

from rebind.banks.rollers import oracle_roller
from rebind.envs.toolbench.env import ToolbenchEnv
from rebind.envs.toolbench.tasks import VARIABLE, library
from rebind.envs.toolbench.world import ToolbenchWorld
from rebind.errors import CannotShift, UserError
from rebind.types import SHIFT_LEVELS, Code, ToolCall


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> ToolbenchWorld:
    folders = [str(data("toolbench")), str(data("stabletoolbench"))]
    monkeypatch.setenv(VARIABLE, os.pathsep.join(folders))
    return ToolbenchWorld()


def test_contract(world: ToolbenchWorld) -> None:
    """The recorded way solves every task; an answer alone, and the way of another task, solve none."""
    result = world.check(None, range(3), lambda *_: None)
    assert result["failures"] == []
    assert (result["oracle_pass"], result["noop_pass"], result["stale_pass"]) == (1.0, 0.0, 0.0)
    assert (result["tasks"], result["families"]) == (139, 125)


def test_bank_builder_can_follow_the_oracle(world: ToolbenchWorld) -> None:
    """The oracle is a generator that takes the calls of its steps, as the bank builder sends them."""
    env, one = ToolbenchEnv(), next(iter(library().tasks.values()))
    trace = oracle_roller(world, rate=0.0)(env, world.target(one), 0)
    assert env.verify().success
    assert len(trace.steps) == len(one.calls) + 1


def test_misses_and_refusals_are_observations(world: ToolbenchWorld) -> None:
    """A call that nobody recorded is an explicit miss in the log; unknown functions and Python are refused."""
    env = ToolbenchEnv()
    one = next(iter(library().tasks.values()))
    env.reset(options={"seal": world.target(one).seal})
    seen, _, over, _, info = env.step(ToolCall(tool=one.calls[0].tool, args={"nobody": "asked this"}))
    assert "not recorded" in seen
    assert (info["calls"][0].status, over) == (404, False)
    for action in (ToolCall(tool="no_such"), Code(code="1"), "{", ToolCall(tool="Finish", args={"return_type": "?"})):
        _, _, over, _, info = env.step(action)
        assert info["error"]
        assert (info["calls"], over) == ((), False)
    assert not env.verify().success
    assert {spec.name for spec in env.tools()} >= {call.tool for call in one.calls} | {"Finish"}


def test_giving_up_ends_without_success(world: ToolbenchWorld) -> None:
    """An agent that made all calls but gives up has every milestone and no success."""
    env, one = ToolbenchEnv(), next(iter(library().tasks.values()))
    env.reset(options={"seal": world.target(one).seal})
    for call in one.calls:
        env.step(call)
    assert env.step(ToolCall(tool="Finish", args={"return_type": "give_up"}))[2]
    verdict = env.verify()
    assert (verdict.success, verdict.progress) == (False, 1.0)


def test_shifts_are_other_queries_of_the_same_functions(world: ToolbenchWorld) -> None:
    """A shift is another query of the family, at the level that its arguments make; at `none` they are the same."""
    found = Counter[str]()
    for name, members in library().families.items():
        for source in map(world.target, members):
            for level in SHIFT_LEVELS:
                try:
                    made = world.shift(source.seal, level, 0)
                except CannotShift:
                    continue
                found[level] += 1
                assert made.seal.family == name
                assert (not made.seal.changed) == (level == "none")
                assert made.seal.bindings
                assert made.task.goal != source.task.goal
    assert found == {"none": 4, "medium": 9}


def test_tasks_with_cut_answers_are_told_apart(world: ToolbenchWorld) -> None:
    """Tasks whose answers upstream cut have families of another name, and their calls are answered with status 206."""
    for one in library().tasks.values():
        answers = [library().responses.answer(call.tool, call.args).status for call in one.calls]
        assert one.family.startswith("toolbench-cut/" if one.cut else "toolbench/")
        assert set(answers) <= ({200, 206} if one.cut else {200})


def test_seeds_go_through_all_tasks_of_a_family(world: ToolbenchWorld) -> None:
    """As many seeds as a family has tasks give each of them once."""
    for name, members in library().families.items():
        goals = [world.sample(name, seed).task.goal for seed in range(len(members))]
        assert sorted(goals) == sorted(one.trace.query for one in members)


def test_without_data_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without data the world has no families and names the command that brings them."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv(VARIABLE, raising=False)
    world = ToolbenchWorld()
    assert world.families() == ()
    assert "rebind data get toolbench" in str(world.unavailable())
    with pytest.raises(UserError, match="rebind data get"):
        world.sample("toolbench/x", 0)
