"""Binding shift over all families: levels, literal replay, leaks, and each reason for which a target is rejected."""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import replace
from functools import cache
from typing import cast

import pytest
from pydantic import JsonValue

from rebind.envs.apps.building import family_of
from rebind.envs.apps.families import FAMILIES
from rebind.envs.apps.families.draw import choice
from rebind.envs.apps.families.forward_invoice import ForwardInvoice
from rebind.envs.apps.replay import literally, player
from rebind.envs.apps.shift import check, shift
from rebind.envs.apps.world import AppsWorld, sample
from rebind.errors import CannotShift
from rebind.types import Action, Binding, Call, Seal, ShiftLevel, Target, ToolCall

each_family = pytest.mark.parametrize("family", FAMILIES)
each_seed = pytest.mark.parametrize("seed", [0, 1])
each_shifting_level = pytest.mark.parametrize("level", ["small", "medium", "large"])
FIRST = next(iter(FAMILIES))


@cache
def shifted(family: str, seed: int, level: ShiftLevel) -> tuple[Target, Target]:
    """A source and its target."""
    source = sample(family, seed)
    return source, shift(source.seal, level, seed)


def changed(source: Seal, target: Seal) -> set[str]:
    return {name for name, value in target.values().items() if source.values()[name] != value}


@each_family
@each_seed
def test_none_keeps_state_and_bindings_and_says_it_in_other_words(family: str, seed: int) -> None:
    source, target = shifted(family, seed, "none")
    assert target.seal.bindings == source.seal.bindings
    assert target.task.state == source.task.state
    assert target.task.goal != source.task.goal
    assert target.seal.changed == ()
    assert player().replay(source.seal, target.seal).verdict.success


@each_family
@each_seed
@each_shifting_level
def test_literal_replay_of_the_source_fails_where_the_oracle_succeeds(
    family: str, seed: int, level: ShiftLevel
) -> None:
    source, target = shifted(family, seed, level)
    assert player().solve(target.seal).verdict.success
    assert not player().replay(source.seal, target.seal).verdict.success


@each_family
@each_seed
@each_shifting_level
def test_a_level_changes_as_many_bindings_as_it_says_and_the_seal_names_them(
    family: str, seed: int, level: ShiftLevel
) -> None:
    source, target = (one.seal for one in shifted(family, seed, level))
    names = changed(source, target)
    central = {b.name for b in target.bindings if b.central} & names
    assert set(target.changed) == names
    assert target.level == level
    assert {
        "small": target.world == source.world and len(names) == 1 and not central,
        "medium": target.world == source.world and (len(names) in (2, 3) or names == central),
        "large": len(names) >= 4 or bool(central and target.world != source.world),
    }[level]


@each_family
@each_seed
@each_shifting_level
def test_the_goal_has_no_source_value_that_changed(family: str, seed: int, level: ShiftLevel) -> None:
    source, target = shifted(family, seed, level)
    old, new = source.seal.values(), target.seal.values()
    for name in target.seal.changed:
        kept = items(new[name])
        for value in items(old[name]):
            assert value in kept or not re.search(rf"(?<!\w){re.escape(str(value))}(?!\w)", target.task.goal)


def items(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else [value]


@each_family
@pytest.mark.parametrize("level", ["none", "small", "medium", "large"])
def test_a_shift_is_the_same_for_the_same_seed(family: str, level: ShiftLevel) -> None:
    source, target = shifted(family, 0, level)
    assert shift(source.seal, level, 0) == target


@each_family
def test_seeds_give_different_small_targets(family: str) -> None:
    source = sample(family, 0).seal
    assert len({shift(source, "small", seed).task.key for seed in range(3)}) > 1


def test_the_same_task_is_rejected() -> None:
    source = sample(FIRST, 0)
    assert check(source, relabelled(source, level="none")) == "same-as-source"


def test_a_target_whose_seal_does_not_name_what_changed_is_rejected() -> None:
    source = sample(FIRST, 0)
    target = shift(source.seal, "medium", 0)
    assert check(source, relabelled(target, changed=target.seal.changed[:1])) == "level"


def test_a_target_of_another_level_than_it_says_is_rejected() -> None:
    source = sample(FIRST, 0)
    assert check(source, relabelled(shift(source.seal, "large", 0), level="small")) == "level"


def test_a_goal_with_a_stale_source_value_is_rejected() -> None:
    source = sample("apps/forward-latest-invoice", 0)
    target = shift(source.seal, "large", 0)
    goal = f"{target.task.goal} Not to  {str(source.seal.values()['recipient']).upper()}!"
    stale = target.model_copy(update={"task": target.task.model_copy(update={"goal": goal})})
    assert check(source, stale) == "source-value-in-goal"


def test_a_target_whose_oracle_cannot_succeed_is_rejected() -> None:
    source = sample("apps/forward-latest-invoice", 0)
    target = shift(source.seal, "large", 0)
    assert check(source, rebound(target, label="")) == "oracle-fails"
    assert check(source, rebound(target, recipient="Nobody Atall")) == "oracle-fails"


def test_a_target_that_the_source_solves_to_the_letter_is_rejected() -> None:
    source = sample("apps/forward-latest-invoice", 0)
    other = shift(source.seal, "none", 0)
    pretended = rebound(source, address="someone@else.example").seal
    assert check(pretended, relabelled(other, level="small", changed=("address",))) == "literal-replay-passes"


class Rigid(ForwardInvoice):
    """A family that leaves no room for a small shift: each of its values has no other."""

    id = "apps/rigid"
    drawn = (
        replace(ForwardInvoice.drawn[0], draw=choice(["Hazel Freight"])),
        replace(ForwardInvoice.drawn[1], draw=choice([""])),
        replace(ForwardInvoice.drawn[2], draw=choice(["to-pay"])),
        replace(ForwardInvoice.drawn[3], draw=choice(["Please check this."])),
    )


def test_where_no_draw_is_acceptable_the_most_frequent_reason_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FAMILIES, Rigid.id, Rigid())
    values = {**sample(ForwardInvoice.id, 0).seal.values(), "supplier": "Hazel Freight", "label": "to-pay"}
    bindings = tuple(Binding(name=n, kind="parameter", value=v) for n, v in values.items())
    seal = sample(ForwardInvoice.id, 0).seal.model_copy(update={"family": Rigid.id, "bindings": bindings})
    with pytest.raises(CannotShift, match="initial-state"):
        shift(seal, "large", 0)


def test_replay_exchanges_access_tokens_and_nothing_else() -> None:
    actions = [
        ToolCall(tool="supervisor_login", args={"app": "mail"}),
        ToolCall(
            tool="mail_send", args={"to": ["a@b.example"], "subject": "old", "body": "old", "access_token": "old"}
        ),
    ]
    replayed = literally(actions, {"mail": "old"})
    first = next(replayed)
    second = replayed.send((Call(tool=first.tool, args=first.args, status=200, result={"access_token": "new"}),))
    assert first == actions[0]
    assert second.args == {**actions[1].args, "access_token": "new"}


def test_the_oracle_of_the_world_protocol_solves_a_shifted_target() -> None:
    world = AppsWorld()
    target = world.shift(world.sample(FIRST, 4).seal, "large", 4)
    env = world.make()
    env.reset(options={"seal": target.seal})
    actions = cast("Actions", world.oracle(target.seal)(env))
    action: Action | None = next(actions)
    while action is not None:
        calls = env.step(action)[-1]["calls"]
        action = next_action(actions, calls)
    assert env.verify().success
    env.close()


Actions = Generator[Action, tuple[Call, ...], None]


def next_action(actions: Actions, calls: tuple[Call, ...]) -> Action | None:
    try:
        return actions.send(calls)
    except StopIteration:
        return None


def rebound(target: Target, **values: str) -> Target:
    """The target with other binding values in its seal."""
    bindings = [b.model_copy(update={"value": values.get(b.name, b.value)}) for b in target.seal.bindings]
    return relabelled(target, bindings=tuple(bindings))


def relabelled(target: Target, **seal: object) -> Target:
    return target.model_copy(update={"seal": target.seal.model_copy(update=seal)})


@each_family
def test_the_oracle_is_given_only_what_the_goal_names(family: str) -> None:
    one = family_of(family)
    hidden = [b.name for b in sample(family, 0).seal.bindings if b.name not in one.named]
    goal_only = {name: value for name, value in sample(family, 0).seal.values().items() if name not in hidden}
    solved = one.solve(goal_only)
    assert isinstance(next(solved), ToolCall)
