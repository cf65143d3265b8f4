"""Binding shift: targets that keep a source's workflow and change the values it needs (QCR, section 3.3 and A.1)."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import closing
from types import SimpleNamespace
from typing import Any

from rebind.envs.apps.families.base import Drawn
from rebind.envs.levels import MEDIUM, TRIES, changed, leaks, makes, redrawn
from rebind.envs.sites.building import Recipe, assemble, draw, drawn_values, family_of, open_world
from rebind.envs.sites.families.base import CannotBuild, Family
from rebind.envs.sites.families.view import SiteView
from rebind.errors import CannotShift
from rebind.types import Seal, ShiftLevel, Target

_TO_INFEASIBLE = 0.12
"""Share of large shifts after which the task cannot be done, where the family has such a variant."""


def shift(seal: Seal, level: ShiftLevel, seed: int) -> Target:
    """A target of the source's family at that level; same arguments, same bytes.

    Raises `CannotShift` with the most frequent reason of `problem`, or "initial-state", where no draw was acceptable;
    "infeasible" for a small shift of what cannot be done, which would leave it so.
    Whether its oracle passes and the source's actions fail is for `banks.accept` to see: both take a browser.
    """
    rng = random.Random(f"shift {seal.task_key} {level} {seed}")
    family, reasons = family_of(seal.env, seal.family), Counter[str]()
    for _ in range(TRIES):
        try:
            target = _draw(family, seal, level, rng)
        except CannotBuild:
            reasons["initial-state"] += 1
            continue
        reason = problem(seal, target)
        if reason is None:
            return target
        reasons[reason] += 1
    raise CannotShift(reasons.most_common(1)[0][0])


def problem(source: Seal, target: Target) -> str | None:
    """Why a target is not acceptable, or None where it is: "same-as-source", "level", "source-value-in-goal",
    "same-answer" (a question whose answer the source already gave)."""
    if target.task.key == source.task_key:
        return "same-as-source"
    if target.seal.level is None or not makes(target.seal.level, source, target.seal, worlds=False):
        return "level"
    if leaks(source, target, family_of(source.env, source.family).drawn):
        return "source-value-in-goal"
    if target.seal.level != "none" and _same_ending(source, target.seal):
        return "same-answer"
    return None


def _draw(family: Family, seal: Seal, level: ShiftLevel, rng: random.Random) -> Target:
    recipe, values = Recipe.of(seal), drawn_values(family, seal)
    wordings = list(range(len(family.wordings)))
    if level == "none":
        wordings.remove(seal.wording)
    elif not recipe.feasible:
        recipe, values = _made_feasible(family, recipe, values, level, rng)
    elif level == "large" and family.absent and recipe.feasible and rng.random() < _TO_INFEASIBLE:
        recipe = Recipe(rng.randrange(1_000_000), False)
        db = open_world()
        values = draw(family, SiteView(db), rng, recipe.feasible)
        db.close()
    else:
        values = _redrawn(family, values, _chosen(family, level, rng), rng)
    target = assemble(seal.env, family, recipe, values, rng.choice(wordings), source=None, level=level)
    names = changed(seal, target.seal)
    return target.model_copy(update={"seal": target.seal.model_copy(update={"changed": names})})


def _made_feasible(
    family: Family, recipe: Recipe, values: dict[str, Any], level: ShiftLevel, rng: random.Random
) -> tuple[Recipe, dict[str, Any]]:
    """What cannot be done becomes what can: else the source's ending would be the target's. Raises CannotShift."""
    if level == "small":
        raise CannotShift("infeasible")
    recipe = Recipe(recipe.plant, True)
    chosen = [d for d in family.drawn if d.name in family.absent] if level == "medium" else list(family.drawn)
    return recipe, _redrawn(family, values, chosen, rng)


def _chosen(family: Family, level: ShiftLevel, rng: random.Random) -> list[Drawn]:
    """Which values to redraw: all for large; for medium one central, or two or three; for small one local."""
    local, central = ([d for d in family.drawn if d.central is is_central] for is_central in (False, True))
    if level == "small":
        return [rng.choice(local)]
    if level == "large":
        return list(family.drawn)
    way = rng.random()
    if way < 0.4 and central:
        return [rng.choice(central)]
    among = local if way < 0.7 and len(local) >= MEDIUM[0] else list(family.drawn)
    return rng.sample(among, min(len(among), rng.randint(*MEDIUM)))


def _redrawn(family: Family, values: dict[str, Any], chosen: list[Drawn], rng: random.Random) -> dict[str, Any]:
    with closing(open_world()) as db:
        return redrawn(family.drawn, values, chosen, SiteView(db), rng)


def _same_ending(source: Seal, target: Seal) -> bool:
    """Whether a question's answer is the one that the source already gave."""
    if not (Recipe.of(target).feasible and Recipe.of(source).feasible):
        return False
    old, new = _answer(source), _answer(target)
    return old is not None and new is not None and new.accepts(str(old.value))


def _answer(seal: Seal) -> Any:
    """The answer of a question without effects (all have a `value`, which they accept); None for other tasks."""
    from rebind.envs.sites.building import planted

    family, db = family_of(seal.env, seal.family), open_world()
    try:
        plant = planted(db, family, Recipe.of(seal), drawn_values(family, seal))
        expected = family.expect(plant, SimpleNamespace(**seal.values()))
        return None if expected.effects else expected.answer
    finally:
        db.close()
