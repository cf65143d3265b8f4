"""Binding shift: targets that keep a source's workflow and change the values it needs (QCR, section 3.3 and A.1)."""

from __future__ import annotations

import random
import re
from collections import Counter
from types import SimpleNamespace
from typing import Any

from rebind.envs.apps.building import WORLD_SEEDS, Recipe, assemble, draw, drawn_values, family_of
from rebind.envs.apps.families.answers import plain
from rebind.envs.apps.families.base import Drawn, Family
from rebind.envs.apps.families.oracle import OracleFailed
from rebind.envs.apps.families.view import CannotBuild, View
from rebind.envs.apps.replay import player
from rebind.envs.apps.state import snapshots
from rebind.errors import CannotShift
from rebind.types import Seal, ShiftLevel, Target

_TRIES = 40
_MEDIUM = (2, 3)
"""Fewest and most changed bindings of a medium shift."""
_LARGE = 4
"""Fewest changed bindings of a large shift within one world."""


def shift(seal: Seal, level: ShiftLevel, seed: int) -> Target:
    """A target of the source's family at that level; same arguments, same bytes.

    Raises `CannotShift` with the most frequent reason of `check` where no draw in `_TRIES` was acceptable.
    """
    rng = random.Random(f"shift {seal.task_key} {level} {seed}")
    reasons: Counter[str] = Counter()
    for _ in range(_TRIES):
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
    if set(after.changed) != set(_changed(before, after)) or after.level is None or not _is(after.level, before, after):
        return "level"
    if _leaks(before, target):
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
    changed = _changed(seal, target.seal)
    return target.model_copy(update={"seal": target.seal.model_copy(update={"changed": changed})})


def _chosen(family: Family, level: ShiftLevel, rng: random.Random) -> list[Drawn]:
    """Which values to redraw for a level: all for large; for medium one central or up to three; for small one local."""
    local, central = ([d for d in family.drawn if d.central is is_central] for is_central in (False, True))
    if level == "small":
        return [rng.choice(local)]
    if level == "large":
        return list(family.drawn)
    if rng.random() < 0.5 and central:
        return [rng.choice(central)]
    return rng.sample(family.drawn, min(len(family.drawn), rng.randint(1, _MEDIUM[1])))


def _in_world(family: Family, recipe: Recipe, rng: random.Random) -> dict[str, Any]:
    db = snapshots().restore(recipe.seed)
    try:
        return draw(family, View(db), rng)
    finally:
        db.close()


def _redrawn(
    family: Family, recipe: Recipe, values: dict[str, Any], chosen: list[Drawn], rng: random.Random
) -> dict[str, Any]:
    """The values with those of `chosen`, and what needs them, drawn anew and different from before."""
    db = snapshots().restore(recipe.seed)
    bound = SimpleNamespace(**values)
    stale: set[str] = set()
    try:
        for d in family.drawn:
            if d in chosen or stale & set(d.needs):
                setattr(bound, d.name, _another(d, View(db), rng, bound, values[d.name]))
                stale.add(d.name)
    finally:
        db.close()
    return vars(bound)


def _another(d: Drawn, view: View, rng: random.Random, bound: SimpleNamespace, old: Any) -> Any:
    for _ in range(_TRIES):
        value = d.draw(view, rng, bound)
        if value != old:
            return value
    raise CannotBuild(f"{d.name} has no value but {old!r}")


def _changed(source: Seal, target: Seal) -> tuple[str, ...]:
    old = source.values()
    return tuple(b.name for b in target.bindings if old.get(b.name) != b.value)


def _is(level: ShiftLevel, source: Seal, target: Seal) -> bool:
    """Whether the changes make that level."""
    changed = _changed(source, target)
    central = any(b.central for b in target.bindings if b.name in changed)
    same_world = source.world == target.world
    if level == "none":
        return same_world and not changed
    if level == "small":
        return same_world and len(changed) == 1 and not central
    if level == "medium":
        return same_world and (_MEDIUM[0] <= len(changed) <= _MEDIUM[1] or (len(changed) == 1 and central))
    return len(changed) >= _LARGE or (central and not same_world)


def _leaks(source: Seal, target: Target) -> bool:
    """Whether the goal has, as whole words, a source value that the target changed."""
    family, goal, new = family_of(source.family), plain(target.task.goal), target.seal.values()
    show = {d.name: d.show for d in family.drawn}
    for name in _changed(source, target.seal):
        old_forms, new_forms = (_forms(value, show.get(name, str)) for value in (source.values()[name], new[name]))
        if any(re.search(rf"(?<!\w){re.escape(form)}(?!\w)", goal) for form in old_forms - new_forms if form):
            return True
    return False


def _forms(value: Any, show: Any) -> set[str]:
    """How a value may be written: as it is, as a goal shows it, and item by item."""
    items = value if isinstance(value, list | tuple) else []
    return {plain(str(value)), plain(show(value)), *(plain(str(item)) for item in items)}
