"""From a family and drawn values to a Target: the initial state, its bindings, the goal, the seal."""

from __future__ import annotations

import atexit
import hashlib
import random
import shutil
import sqlite3
import tempfile
from collections import OrderedDict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pydantic import JsonValue

from rebind.canon import digest
from rebind.envs.sites.families import families
from rebind.envs.sites.families.base import Family
from rebind.envs.sites.families.view import Plant, SiteView
from rebind.envs.sites.snapshot import world_digest, world_image
from rebind.errors import UserError, did_you_mean
from rebind.types import Seal, Target, Task

PACKAGES = {"rebind/Sites-v0": "rebind.envs.sites.families", "rebind/Desk-v0": "rebind.envs.sites.desk_families"}
_KEPT = 32
"""Task images kept on disk."""


@dataclass(frozen=True)
class Recipe:
    """What determines an initial state besides the bindings."""

    plant: int
    """Seed of what is planted."""
    feasible: bool

    @classmethod
    def of(cls, seal: Seal) -> Recipe:
        """Raises UserError where the seal's world is no recipe of the sites."""
        try:
            return cls(int(str(seal.world["plant"])), bool(seal.world["feasible"]))
        except (KeyError, ValueError) as error:
            raise UserError(
                f"a seal of the sites needs world = {{plant: int, feasible: bool}}, not {seal.world}"
            ) from error


def family_of(env_id: str, name: str) -> Family:
    """Raises UserError where there is no such family."""
    known = families(PACKAGES[env_id])
    if name not in known:
        raise UserError(f"no family {name!r} in {env_id}{did_you_mean(name, known)}")
    return known[name]


def open_world() -> sqlite3.Connection:
    """The world in memory, private to the caller."""
    db = sqlite3.connect(":memory:", check_same_thread=False)
    db.deserialize(_world_bytes())
    return db


@cache
def _world_bytes() -> bytes:
    return world_image().read_bytes()


def draw(family: Family, view: SiteView, rng: random.Random, feasible: bool) -> dict[str, Any]:
    """A value for every drawn binding. Raises `CannotBuild`."""
    bound = SimpleNamespace()
    for d in family.drawn:
        one = family.absent.get(d.name, d.draw) if not feasible else d.draw
        setattr(bound, d.name, one(view, rng, bound))
    return vars(bound)


def planted(db: sqlite3.Connection, family: Family, recipe: Recipe, drawn: dict[str, Any]) -> Plant:
    """Changes an open world into a task's initial state. Raises `CannotBuild`."""
    plant = Plant(db, f"{recipe.plant}/{family.id}")
    if recipe.feasible:
        family.setup(plant, SimpleNamespace(**drawn))
    return plant


def assemble(env: str, family: Family, recipe: Recipe, drawn: dict[str, Any], wording: int, **sealed: Any) -> Target:
    """The task and its seal; `sealed`: further fields of the seal. Raises `CannotBuild`."""
    db = open_world()
    try:
        plant = planted(db, family, recipe, drawn)
        bindings = family.bind(plant, drawn, recipe.feasible)
        if recipe.feasible:
            family.expect(plant, SimpleNamespace(**{b.name: b.value for b in bindings}))  # it may find no room
        state = digest([world_digest(), plant.log, family.user(drawn), family.start])
    finally:
        db.close()
    task = Task(env=env, goal=family.goal(drawn, wording), state=state, budget=family.budget)
    world: dict[str, JsonValue] = {"plant": recipe.plant, "feasible": recipe.feasible}
    secret = f"rebind canary {family.id} {task.key} {world} {sorted(sealed.items())}"
    seal = Seal(
        canary=f"canary-{hashlib.sha256(secret.encode()).hexdigest()[:32]}",
        env=env,
        task_key=task.key,
        family=family.id,
        wording=wording,
        world=world,
        bindings=bindings,
        **sealed,
    )
    return Target(task=task, seal=seal)


def drawn_values(family: Family, seal: Seal) -> dict[str, Any]:
    """The drawn ones of a seal's bindings. Raises UserError where the seal lacks one."""
    values = seal.values()
    missing = [d.name for d in family.drawn if d.name not in values]
    if missing:
        raise UserError(f"the seal of a {seal.family} task lacks the bindings {', '.join(missing)}")
    return {d.name: values[d.name] for d in family.drawn}


_images: OrderedDict[str, Path] = OrderedDict()


def task_image(seal: Seal) -> Path:
    """The file that a task's episode starts from: the world itself where nothing is planted."""
    key = digest(seal.model_dump(mode="json", include={"env", "family", "world", "bindings"}))
    if key in _images:
        _images.move_to_end(key)
        return _images[key]
    family, db = family_of(seal.env, seal.family), open_world()
    try:
        plant = planted(db, family, Recipe.of(seal), drawn_values(family, seal))
        db.commit()
        path = world_image()
        if plant.log:
            path = _images_folder() / key[:24]
            path.write_bytes(db.serialize())
    finally:
        db.close()
    _images[key] = path
    if len(_images) > _KEPT:
        _, old = _images.popitem(last=False)
        if old != world_image():
            old.unlink(missing_ok=True)
    return path


@cache
def _images_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="rebind-sites-images-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
