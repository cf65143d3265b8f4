"""Shift levels (QCR, section 3.3 and A.1): which changes of bindings make one, and bindings drawn anew."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from rebind.envs.apps.families.answers import plain
from rebind.envs.apps.families.base import Drawn
from rebind.envs.apps.families.view import CannotBuild
from rebind.types import Seal, ShiftLevel, Target

TRIES = 40
"""Draws until a value, or a whole target, is given up."""
MEDIUM = (2, 3)
"""Fewest and most changed bindings of a medium shift."""
LARGE = 4
"""Fewest changed bindings of a large shift."""


def changed(source: Seal, target: Seal) -> tuple[str, ...]:
    """Names of the target's bindings whose value is not the source's."""
    old = source.values()
    return tuple(b.name for b in target.bindings if old.get(b.name) != b.value)


def makes(level: ShiftLevel, source: Seal, target: Seal, *, worlds: bool) -> bool:
    """Whether the changes make that level. `worlds`: tasks live in several worlds, and only a large shift may go to
    another one."""
    names = changed(source, target)
    central = any(b.central for b in target.bindings if b.name in names)
    moved = source.world != target.world
    if level == "large":
        return len(names) >= LARGE or (central and moved)
    if worlds and moved:
        return False
    if level == "none":
        return not names
    if level == "small":
        return len(names) == 1 and not central
    return MEDIUM[0] <= len(names) <= MEDIUM[1] or (len(names) == 1 and central)


def leaks(source: Seal, target: Target, drawn: Sequence[Drawn]) -> bool:
    """Whether the goal has, as whole words, a source value that the target changed."""
    goal, old, new = plain(target.task.goal), source.values(), target.seal.values()
    show = {d.name: d.show for d in drawn}
    for name in changed(source, target.seal):
        before, after = (_forms(value, show.get(name, str)) for value in (old.get(name), new[name]))
        if any(re.search(rf"(?<!\w){re.escape(form)}(?!\w)", goal) for form in before - after if form):
            return True
    return False


def redrawn(
    drawn: Sequence[Drawn], values: dict[str, Any], chosen: Sequence[Drawn], view: Any, rng: random.Random
) -> dict[str, Any]:
    """The values with those of `chosen`, and what needs them, drawn anew and different from before.

    Raises:
        CannotBuild: a binding has no other value.
    """
    bound, stale = SimpleNamespace(**values), set[str]()
    for d in drawn:
        if d in chosen or stale & set(d.needs):
            setattr(bound, d.name, _another(d, view, rng, bound, values[d.name]))
            stale.add(d.name)
    return vars(bound)


def _another(d: Drawn, view: Any, rng: random.Random, bound: SimpleNamespace, old: Any) -> Any:
    for _ in range(TRIES):
        value = d.draw(view, rng, bound)
        if value != old:
            return value
    raise CannotBuild(f"{d.name} has no value but {old!r}")


def _forms(value: Any, show: Callable[[Any], str]) -> set[str]:
    """How a value may be written: as it is, as a goal shows it, and item by item."""
    if value is None:
        return set()
    items = value if isinstance(value, list | tuple) else []
    return {plain(str(value)), plain(show(value)), *(plain(str(item)) for item in items)}
