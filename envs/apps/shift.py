"""Binding shift: targets that keep a source's workflow and change the values it needs (QCR, section 3.3 and A.1)."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from rebind.envs.apps.building import WORLD_SEEDS, Recipe, assemble, draw, drawn_values, family_of
from rebind.envs.apps.families.base import Drawn, Family
from rebind.envs.apps.families.oracle import OracleFailed
from rebind.envs.apps.families.view import CannotBuild, View
from rebind.envs.apps.replay import player
from rebind.envs.apps.state import snapshots
from rebind.envs.levels import MEDIUM, TRIES, changed, leaks, makes, redrawn
from rebind.errors import CannotShift
from rebind.types import Seal, ShiftLevel, Target


def shift(seal: Seal, level: ShiftLevel, seed: int) -> Target:
    """A target of the source's family at that level; same arguments, same bytes.

    Raises `CannotShift` with the most frequent reason of `check` where no draw in `TRIES` was acceptable.
    """
    rng = random.Random(f"shift {seal.task_key} {level} {seed}")
    reasons: Counter[str] = Counter()
    for _ in range(TRIES):
        try:
            target = _draw(seal, level, rng)
        except CannotBuild:
            reasons["initial-state"] += 1
            continue
        reason = check(seal, target)
        if reason is None:
            return target
        reasons[reason] += 1
    raise CannotShift(reasons.most_common(1)[0][0])


def check(source: Target | Seal, target: Target) -> str | None:
    """Why a target is not acceptable, or None where it is. Reasons, in the order they are looked for:

    "same-as-source" (the same task), "level" (the changed bindings do not make that level, or `changed` does not tell
    the truth), "source-value-in-goal", "initial-state" (it cannot be built), "oracle-fails", "literal-replay-passes"
    (above level none).
    """
    before, after = source.seal if isinstance(source, Target) else source, target.seal
    if target.task.key == before.task_key:
        return "same-as-source"
    if set(after.changed) != set(changed(before, after)):
        return "level"
    if after.level is None or not makes(after.level, before, after, worlds=True):
        return "level"
    if leaks(before, target, family_of(before.family).drawn):
        return "source-value-in-goal"
    return _fails(before, after)


def _fails(source: Seal, target: Seal) -> str | None:
    """The reason found by playing the target: with its oracle, and with the source's calls to the letter."""
    try:
        if not player().solve(target).verdict.success:
            return "oracle-fails"
        replay_passes = target.level != "none" and player().replay(source, target).verdict.success
    except CannotBuild:
        return "initial-state"
    except OracleFailed:
        return "oracle-fails"
    return "literal-replay-passes" if replay_passes else None


def _draw(seal: Seal, level: ShiftLevel, rng: random.Random) -> Target:
    """One candidate, which may turn out to be of another level. Raises `CannotBuild`."""
    family, recipe, values = family_of(seal.family), Recipe.of(seal), drawn_values(seal)
    wordings = list(range(len(family.wordings)))
    if level == "none":
        wordings.remove(seal.wording)
    elif level == "large" and rng.random() < 0.5:
        recipe = Recipe(rng.choice([s for s in WORLD_SEEDS if s != recipe.seed]), rng.randrange(1_000_000))
        values = _in_world(family, recipe, rng)
    else:
        values = _redrawn(family, recipe, values, _chosen(family, level, rng), rng)
    target = assemble(family, recipe, values, rng.choice(wordings), source=None, level=level)
    names = changed(seal, target.seal)
    return target.model_copy(update={"seal": target.seal.model_copy(update={"changed": names})})


def _chosen(family: Family, level: ShiftLevel, rng: random.Random) -> list[Drawn]:
    """Which values to redraw for a level: all for large; for medium one central or up to three; for small one local."""
    local, central = ([d for d in family.drawn if d.central is is_central] for is_central in (False, True))
    if level == "small":
        return [rng.choice(local)]
    if level == "large":
        return list(family.drawn)
    if rng.random() < 0.5 and central:
        return [rng.choice(central)]
    return rng.sample(family.drawn, min(len(family.drawn), rng.randint(1, MEDIUM[1])))


def _in_world(family: Family, recipe: Recipe, rng: random.Random) -> dict[str, Any]:
    db = snapshots().restore(recipe.seed)
    try:
        return draw(family, View(db), rng)
    finally:
        db.close()


def _redrawn(
    family: Family, recipe: Recipe, values: dict[str, Any], chosen: list[Drawn], rng: random.Random
) -> dict[str, Any]:
    db = snapshots().restore(recipe.seed)
    try:
        return redrawn(family.drawn, values, chosen, View(db), rng)
    finally:
        db.close()
