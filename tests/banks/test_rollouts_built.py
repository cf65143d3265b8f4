"""Rollouts: detours do no harm, a stopped build goes on, families of intermediate difficulty are told."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from rebind.banks.build import build, kept_rollouts, not_intermediate, read_rollouts
from rebind.banks.rollers import oracle_roller
from rebind.banks.rollout import Rollout, Trace, do, roll
from rebind.envs import world
from rebind.errors import BankError, EnvironmentFailure, UserError
from rebind.types import Environment, Target, ToolCall, World

FAMILIES = ("apps/forward-latest-invoice", "apps/send-gift-to-current-address")


def test_trajectories_full_of_detours_are_still_accepted(apps: World) -> None:
    environment = apps.make()
    taken: Counter[str] = Counter()
    failed = 0
    for family in apps.families():
        rollout = roll(environment, apps.sample(family, 5), family, 5, oracle_roller(apps, 0.6))
        assert rollout.accepted, (family, rollout.seal.verdict)
        assert rollout.record is not None
        assert rollout.seal.rollout is not None
        detours = rollout.seal.rollout["detours"]
        assert isinstance(detours, dict)
        taken.update({kind: int(str(times)) for kind, times in detours.items()})
        failed += sum(not c.ok for s in rollout.record.steps for c in s.calls)
    kinds = {"missing-token", "missing-argument", "wrong-id", "wrong-argument", "docs", "wrong-query", "re-check"}
    assert kinds <= set(taken)
    assert failed >= sum(taken[k] for k in ("missing-token", "missing-argument", "wrong-id", "wrong-argument"))


def test_a_rollout_is_fixed_by_family_and_seed(apps: World) -> None:
    first, second = (
        roll(apps.make(), apps.sample(FAMILIES[0], 1), FAMILIES[0], 1, oracle_roller(apps, 0.3)) for _ in range(2)
    )
    assert first == second


def test_the_bare_oracle_makes_no_detour(apps: World) -> None:
    rollout = roll(apps.make(), apps.sample(FAMILIES[0], 1), FAMILIES[0], 1, oracle_roller(apps, 0.0))
    assert rollout.record is not None
    assert all(c.ok for s in rollout.record.steps for c in s.calls)


def test_a_build_that_was_killed_in_the_middle_of_a_line_ends_as_an_undisturbed_one(
    apps: World, tmp_path: Path
) -> None:
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    build(apps, whole, oracle_roller(apps), seeds=range(2), families=FAMILIES)
    build(apps, stopped, oracle_roller(apps), seeds=range(2), families=FAMILIES)
    lines = stopped / "rollouts.jsonl"
    lines.write_bytes(lines.read_bytes()[:-1000])
    assert len(lines.read_bytes().splitlines()) == 4
    build(apps, stopped, oracle_roller(apps), seeds=range(2), families=FAMILIES)
    assert lines.read_bytes() == (whole / "rollouts.jsonl").read_bytes()


def test_rollouts_made_side_by_side_give_the_same_file(apps: World, tmp_path: Path) -> None:
    for workers in (1, 3):
        build(apps, tmp_path / str(workers), oracle_roller(apps), seeds=range(2), families=FAMILIES, workers=workers)
    alone, beside = (tmp_path / n / "rollouts.jsonl" for n in "13")
    assert beside.read_bytes() == alone.read_bytes()


def test_a_rollout_that_breaks_ends_a_build_side_by_side_and_keeps_those_before_it(apps: World, tmp_path: Path) -> None:
    whole = oracle_roller(apps)

    def breaks(environment: Environment, target: Target, seed: int) -> Trace:
        if (target.seal.family, seed) == (FAMILIES[0], 1):
            raise EnvironmentFailure("the environment broke")
        return whole(environment, target, seed)

    with pytest.raises(EnvironmentFailure, match="broke"):
        build(apps, tmp_path, breaks, seeds=range(2), families=FAMILIES, workers=3)
    assert {r.seed for r in read_rollouts(tmp_path / "rollouts.jsonl")} == {0}
    assert len(read_rollouts(tmp_path / "rollouts.jsonl")) == len(FAMILIES)


def test_a_rollout_whose_environment_failed_once_is_rolled_out_again(apps: World, tmp_path: Path) -> None:
    whole, failed = oracle_roller(apps), set[str]()

    def once(environment: Environment, target: Target, seed: int) -> Trace:
        if target.task.key not in failed:
            failed.add(target.task.key)
            raise EnvironmentFailure("the browser died")
        return whole(environment, target, seed)

    build(apps, tmp_path, once, seeds=range(1), families=FAMILIES[:2])
    assert [r.accepted for r in read_rollouts(tmp_path / "rollouts.jsonl")] == [True, True]


def test_a_finished_build_rolls_nothing_out_again(apps: World, rollouts: Path) -> None:
    def refuses(environment: Environment, target: Target, seed: int) -> Trace:
        raise AssertionError("rolled out again")

    families = tuple(dict.fromkeys(r.family for r in read_rollouts(rollouts / "rollouts.jsonl")))
    assert build(apps, rollouts, refuses, seeds=range(2), families=families).accepted == 6


def gives_up(environment: Environment, target: Target, seed: int) -> Trace:
    """An agent that solves even seeds of one family, and nothing else."""
    if target.seal.family == FAMILIES[0] and seed % 2 == 0:
        solved = oracle_roller(world("apps"), 0.0)(environment, target, seed)
        return solved.model_copy(update={"rollout": {"source": "model"}})
    first, _ = environment.reset(options={"seal": target.seal})
    step, _ = do(environment, ToolCall(tool="supervisor_complete_task"))
    return Trace(first_observation=first, steps=(step,), rollout={"source": "model"})


def test_only_accepted_rollouts_are_kept_and_only_families_of_intermediate_difficulty(
    apps: World, tmp_path: Path
) -> None:
    built = build(apps, tmp_path / "b", gives_up, seeds=range(2), families=FAMILIES, difficulty="intermediate")
    assert built.families == FAMILIES[:1]
    assert built.dropped == {FAMILIES[1]: "only failures"}
    (kept,) = kept_rollouts(tmp_path / "b")
    assert (kept.family, kept.seed, kept.accepted) == (FAMILIES[0], 0, True)


def test_a_baseline_decides_before_anything_is_rolled_out(apps: World, tmp_path: Path) -> None:
    built = build(
        apps, tmp_path / "b", oracle_roller(apps), seeds=range(1), families=FAMILIES,
        difficulty="intermediate", baseline=gives_up, baseline_seeds=range(2),
    )  # fmt: skip
    assert (built.rollouts, built.families) == (1, FAMILIES[:1])


def test_the_oracle_is_refused_as_a_judge_of_difficulty(apps: World, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be told from the oracle"):
        build(apps, tmp_path, oracle_roller(apps), seeds=range(1), families=FAMILIES, difficulty="intermediate")


def test_families_built_one_after_the_other_are_pooled(apps: World, tmp_path: Path) -> None:
    for family in FAMILIES:
        build(apps, tmp_path, oracle_roller(apps), seeds=range(1), families=(family,))
    assert {r.family for r in kept_rollouts(tmp_path)} == set(FAMILIES)


def test_difficulty_is_told_by_what_a_family_yields(rollouts: Path) -> None:
    good = read_rollouts(rollouts / "rollouts.jsonl")[0]
    bad: Rollout = good.model_copy(update={"accepted": False, "record": None})
    mixed = {"family": "mixed"}
    some = [
        good,
        bad.model_copy(update={"family": "hard"}),
        good.model_copy(update=mixed),
        bad.model_copy(update=mixed),
    ]
    assert not_intermediate(some, [good.family, "hard", "mixed", "new"]) == {
        good.family: "only successes",
        "hard": "only failures",
        "new": "no rollouts",
    }


def test_a_folder_of_another_environment_is_refused(apps: World, rollouts: Path) -> None:
    class Other:
        env_id = "rebind/Other-v0"
        name = "other"
        families = staticmethod(apps.families)

    with pytest.raises(BankError, match="was begun with rebind/Apps-v0, not rebind/Other-v0"):
        build(Other(), rollouts, oracle_roller(apps), seeds=range(1))  # type: ignore[arg-type]  # refused before use


def test_an_unknown_family_is_refused_with_the_nearest_name(apps: World, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="did you mean 'apps/forward-latest-invoice'"):
        build(apps, tmp_path, oracle_roller(apps), seeds=range(1), families=("apps/forward-last-invoice",))
