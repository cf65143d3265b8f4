"""The app world as the bank builder, the runner and its own environment see it."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rebind.envs.apps.api.registry import APPS, OPEN_APPS, REGISTRY
from rebind.envs.apps.building import (
    ENV_ID,
    WORLD_SEEDS,
    Recipe,
    assemble,
    draw,
    drawn_values,
    family_of,
    prepare,
)
from rebind.envs.apps.families import FAMILIES
from rebind.envs.apps.families.evidence import Evidence
from rebind.envs.apps.families.view import CannotBuild, View
from rebind.envs.apps.shift import shift as shifted
from rebind.envs.apps.state import snapshots
from rebind.types import Action, Call, Environment, Progress, Seal, ShiftLevel, Target, ToolSpec, Verdict

if TYPE_CHECKING:
    from rebind.envs.apps.env import AppsEnv

_ALWAYS = ("supervisor_login", "supervisor_complete_task", "api_docs_search", "api_docs_show")
_TRIES = 50


def setup(db: sqlite3.Connection, seal: Seal) -> None:
    """Plants a task's records into its restored world. Raises UserError where the seal is not one of this world."""
    prepare(db, family_of(seal.family), Recipe.of(seal), drawn_values(seal))


def first_observation(db: sqlite3.Connection, _seal: Seal) -> str:
    """What the agent reads before it acts: whom it acts for, the world's date, and how to go on."""
    view = View(db)
    apps = ", ".join(app for app in APPS if app not in OPEN_APPS)
    return (
        f"You act for {view.profile('name')} ({view.me}). Today is {view.today}. Apps: {apps}. "
        "supervisor_login(app) gives the access_token that the app's APIs need; api_docs_search and api_docs_show tell "
        "of APIs not listed. End with supervisor_complete_task, with the answer if a question was asked."
    )


def tools(seal: Seal) -> tuple[ToolSpec, ...]:
    """The tools to name in the prompt for a task, in alphabetical order after those that every task has."""
    names = (*_ALWAYS, *sorted(set(family_of(seal.family).tools.split()).difference(_ALWAYS)))
    return tuple(REGISTRY[name].spec for name in names)


def judge(before_db: sqlite3.Connection, after_db: sqlite3.Connection, calls: tuple[Call, ...], seal: Seal) -> Verdict:
    """The verdict on an episode of the seal's task, from the states at its start and now and the calls between."""
    evidence = Evidence(View(before_db), View(after_db), tuple(calls))
    return family_of(seal.family).judge(evidence, seal.values())


def sample(family: str, seed: int) -> Target:
    """A source task of the family. Same arguments, same bytes, in any process. Raises UserError for an unknown family
    and `CannotBuild` where no world has room for it."""
    one = family_of(family)
    rng = random.Random(f"sample {family} {seed}")
    for attempt in range(_TRIES):
        recipe = Recipe(rng.choice(WORLD_SEEDS), rng.randrange(1_000_000))
        db = snapshots().restore(recipe.seed)
        try:
            return assemble(one, recipe, draw(one, View(db), rng), rng.randrange(len(one.wordings)))
        except CannotBuild:
            if attempt == _TRIES - 1:
                raise
        finally:
            db.close()
    raise AssertionError("unreachable")


class AppsWorld:
    """`rebind.types.World` for the app world."""

    name = "apps"
    env_id = ENV_ID

    needs = "nothing: it runs anywhere"

    def unavailable(self) -> str | None:
        return None

    def check(self, families: Sequence[str] | None, seeds: Sequence[int], progress: Progress) -> dict[str, Any]:
        from rebind.envs.apps.check import check

        return check(families, seeds, progress)

    def families(self) -> tuple[str, ...]:
        return tuple(FAMILIES)

    def make(self) -> AppsEnv:
        from rebind.envs.apps.env import AppsEnv  # it imports this module

        return AppsEnv()

    def sample(self, family: str, seed: int) -> Target:
        """See `sample`."""
        return sample(family, seed)

    def shift(self, seal: Seal, level: ShiftLevel, seed: int) -> Target:
        """See `shift.shift`."""
        return shifted(seal, level, seed)

    def oracle(self, seal: Seal) -> Callable[[Environment], Iterator[Action]]:
        """The family's solution: a generator that is sent the calls of each step. The environment is not looked at."""
        return lambda _env: family_of(seal.family).solve(seal.values())
