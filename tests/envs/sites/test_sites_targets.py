"""Families, without a browser: sampled, worded, shifted."""

from __future__ import annotations

import string

import pytest

from rebind.envs import world
from rebind.envs.sites.building import PACKAGES
from rebind.envs.sites.families import families
from rebind.envs.sites.families.base import Family
from rebind.envs.sites.shift import problem
from rebind.envs.sites.snapshot import missing
from rebind.errors import CannotShift, UserError
from rebind.types import LENGTH_GROUPS, SHIFT_LEVELS, Seal

ALL = [] if missing() else [(env, one) for env, package in PACKAGES.items() for one in families(package).values()]
NAMES = {"rebind/Sites-v0": "sites", "rebind/Desk-v0": "desk"}


@pytest.mark.parametrize("name", ["sites", "desk"])
def test_there_are_24_families_over_all_length_groups(name: str) -> None:
    """Each world has at least 24 families, some in every length group."""
    own = [one for env, one in ALL if NAMES[env] == name]
    assert len(own) >= 24
    assert {one.group for one in own} == set(LENGTH_GROUPS)


@pytest.mark.parametrize(("env", "family"), ALL, ids=[one.id for _, one in ALL])
def test_a_family_samples_the_same_task_twice_and_shifts_it_to_every_level(env: str, family: Family) -> None:
    """Same seed, same task; and a target at every shift level that is what it says."""
    one = world(NAMES[env])
    source = one.sample(family.id, 1)
    assert source == one.sample(family.id, 1)
    for level in SHIFT_LEVELS:
        if level == "small" and not source.seal.world["feasible"]:
            with pytest.raises(CannotShift, match="infeasible"):
                one.shift(source.seal, level, 3)
            continue
        target = one.shift(source.seal, level, 3)
        assert problem(source.seal, target) is None
        assert (target.seal.level, target.task.env) == (level, env)
        assert bool(target.seal.changed) == (level != "none")


@pytest.mark.parametrize(("env", "family"), ALL, ids=[one.id for _, one in ALL])
def test_all_wordings_name_the_same_values(env: str, family: Family) -> None:
    """Three wordings or more, with the same fields, one of them central."""
    fields = [{name for _, name, _, _ in string.Formatter().parse(wording) if name} for wording in family.wordings]
    assert len(family.wordings) >= 3
    assert all(named == fields[0] for named in fields)
    assert any(d.central for d in family.drawn)


def test_an_unknown_family_is_a_user_error_with_the_nearest_name() -> None:
    """The message suggests what was meant."""
    with pytest.raises(UserError, match="did you mean 'sites/write-review'"):
        world("sites").sample("sites/write-reviews", 0)


def test_a_seal_that_is_no_recipe_is_a_user_error() -> None:
    """A seal without the sites' recipe says what one looks like."""
    env = world("sites").make()
    seal = Seal(canary="c", env="rebind/Sites-v0", task_key="t", family="sites/write-review")
    with pytest.raises(UserError, match=r"lacks the bindings|needs world"):
        env.reset(options={"seal": seal})
