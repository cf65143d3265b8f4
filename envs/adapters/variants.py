"""Tasks of one family that are each other's binding shifts: how far two are apart, and one as a target of another."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol, TypeVar

from pydantic import JsonValue

from rebind.canon import digest
from rebind.envs.adapters.pairs import changed
from rebind.envs.adapters.pairs import level as level_of
from rebind.errors import CannotShift
from rebind.types import Binding, Seal, ShiftLevel, Target, Task


class Variant(Protocol):
    """One of them, as its benchmark has it."""

    @property
    def family(self) -> str: ...

    def bindings(self) -> tuple[Binding, ...]: ...


V = TypeVar("V", bound=Variant)


def differs(source: Variant, target: Variant) -> tuple[tuple[str, ...], ShiftLevel]:
    """Names of the bindings that differ, and the level that this makes."""
    old, new = ({b.name: b.value for b in one.bindings()} for one in (source, target))
    names = changed(old, new)
    return names, level_of(names, len(new))


def another(source: V, members: Sequence[V], seal: Seal, level: ShiftLevel, seed: int) -> V:
    """One of the family's members whose bindings differ from the source's by that much. `seal` is the source's.

    Raises:
        CannotShift: "wording" at `none`, for every task is told in one way only; "level" where there is none.
    """
    if level == "none":
        raise CannotShift("wording")
    partners = [one for one in members if differs(source, one)[1] == level]
    if not partners:
        raise CannotShift("level")
    return random.Random(f"shift {seal.task_key} {level} {seed}").choice(partners)


def following(one: V, members: Sequence[V]) -> V | None:
    """The next member, round in a circle, with other bindings."""
    at = members.index(one)
    return next((other for other in (*members[at + 1 :], *members[:at]) if differs(other, one)[0]), None)


def as_target(
    one: V, task: Task, world: dict[str, JsonValue], source: V | None = None, level: ShiftLevel | None = None
) -> Target:
    """A task with its seal; shifted from `source` where there is one."""
    seal = Seal(
        canary=digest({"canary": task.key, "level": level or ""})[:32],
        env=task.env,
        task_key=task.key,
        family=one.family,
        world=world,
        bindings=one.bindings(),
        level=level,
        changed=differs(source, one)[0] if source else (),
    )
    return Target(task=task, seal=seal)
