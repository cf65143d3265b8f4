"""From a family and drawn values to a Target: the initial state, its bindings, the goal, the seal."""

from __future__ import annotations

import hashlib
import json
import random
import sqlite3
from dataclasses import dataclass
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

from pydantic import JsonValue

from rebind.canon import digest
from rebind.envs.apps.families import FAMILIES
from rebind.envs.apps.families.base import Family
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import View
from rebind.envs.apps.state import dump, snapshots
from rebind.errors import UserError, did_you_mean
from rebind.types import Seal, Target, Task

ENV_ID = "rebind/Apps-v0"
WORLD_SEEDS = tuple(range(1, 25))
"""Worlds that tasks are drawn from: few, so that their snapshots stay cached."""


@dataclass(frozen=True)
class Recipe:
    """What determines an initial state besides the bindings."""

    seed: int
    """Of the world."""
    plant: int
    """Of the planted records."""

    @classmethod
    def of(cls, seal: Seal) -> Recipe:
        """Raises UserError where the seal's world is no recipe of this environment."""
        try:
            return cls(**{name: int(str(seal.world[name])) for name in ("seed", "plant")})
        except (KeyError, ValueError) as error:
            raise UserError(f"a seal of {ENV_ID} needs world = {{seed: int, plant: int}}, not {seal.world}") from error


def family_of(name: str) -> Family:
    """Raises UserError where there is no such family."""
    if name not in FAMILIES:
        raise UserError(f"no family {name!r} in {ENV_ID}{did_you_mean(name, FAMILIES)}")
    return FAMILIES[name]


def prepare(db: sqlite3.Connection, family: Family, recipe: Recipe, drawn: dict[str, Any]) -> Plant:
    """Plants a task's records into a restored world. Raises `CannotBuild`."""
    plant = Plant(db, f"{recipe.seed}/{recipe.plant}/{family.id}")
    family.setup(plant, SimpleNamespace(**drawn))
    return plant


def drawn_values(seal: Seal) -> dict[str, Any]:
    """The drawn ones of a seal's bindings. Raises UserError where the seal lacks one."""
    values = seal.values()
    missing = [d.name for d in family_of(seal.family).drawn if d.name not in values]
    if missing:
        raise UserError(f"the seal of a {seal.family} task lacks the bindings {', '.join(missing)}")
    return {d.name: values[d.name] for d in family_of(seal.family).drawn}


def draw(family: Family, view: View, rng: random.Random) -> dict[str, Any]:
    """A value for every drawn binding. Raises `CannotBuild`."""
    bound = SimpleNamespace()
    for d in family.drawn:
        setattr(bound, d.name, d.draw(view, rng, bound))
    return vars(bound)


def assemble(family: Family, recipe: Recipe, drawn: dict[str, Any], wording: int, **sealed: Any) -> Target:
    """The task and its seal; `sealed`: further fields of the seal. Raises `CannotBuild`."""
    db = snapshots().restore(recipe.seed)
    try:
        plant = prepare(db, family, recipe, drawn)
        bindings = family.bind(plant, drawn)
    finally:
        db.close()
    state = digest([_world_digest(recipe.seed), plant.log])
    task = Task(env=ENV_ID, goal=family.goal(drawn, wording), state=state, budget=family.budget)
    world: dict[str, JsonValue] = {"seed": recipe.seed, "plant": recipe.plant}
    canary = hashlib.sha256(
        f"rebind canary {family.id} {task.key} {world} {sorted(sealed.items())}".encode()
    ).hexdigest()
    return Target(
        task=task,
        seal=Seal(
            canary=f"canary-{canary[:32]}",
            env=ENV_ID,
            task_key=task.key,
            family=family.id,
            wording=wording,
            world=world,
            bindings=bindings,
            **sealed,
        ),
    )


@lru_cache(maxsize=64)
def _world_digest(seed: int) -> str:
    """SHA-256 over all rows of an unplanted world, whatever wrote its file."""
    db = snapshots().restore(seed)
    content = {
        table: sorted(map(repr, (list(row.values()) for row in rows.values()))) for table, rows in dump(db).items()
    }
    db.close()
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
