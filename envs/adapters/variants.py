"""Tasks of one family that are each other's binding shifts: how far two are apart, one as a target of another, and
what the worlds of such tasks have in common."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from pydantic import JsonValue

from rebind.canon import digest
from rebind.envs.adapters.pairs import changed
from rebind.envs.adapters.pairs import level as level_of
from rebind.errors import CannotShift, UserError, did_you_mean
from rebind.types import Action, Binding, Environment, Seal, ShiftLevel, Target, Task


class Variant(Protocol):
    """One of them, as its benchmark has it."""

    @property
    def family(self) -> str: ...

    def bindings(self) -> tuple[Binding, ...]: ...


V = TypeVar("V", bound=Variant)


class VariantWorld(ABC, Generic[V]):
    """The parts of a `rebind.types.World` that are alike wherever a benchmark lists its tasks: a target is one of them,
    and so is its source."""

    @abstractmethod
    def unavailable(self) -> str | None:
        """See `rebind.types.Checked`."""

    @abstractmethod
    def listed(self) -> Mapping[str, Sequence[V]]:
        """The tasks by family; none where the benchmark is not here."""

    @abstractmethod
    def task(self, seal: Seal) -> V:
        """The task of a seal. Raises UserError where there is none."""

    @abstractmethod
    def target(self, one: V, source: V | None = None, level: ShiftLevel | None = None) -> Target:
        """The target that a task is, shifted from `source` where there is one."""

    def families(self) -> tuple[str, ...]:
        """None where the benchmark is not here."""
        return tuple(self.listed())

    def sample(self, family: str, seed: int) -> Target:
        """One of the family's tasks; seeds that follow each other go through all of them. Raises UserError for an
        unknown family, or where the benchmark is not here."""
        found = self._members(family)
        return self.target(random.Random(f"sample {family}").sample(found, len(found))[seed % len(found)])

    def shift(self, seal: Seal, level: ShiftLevel, seed: int) -> Target:
        """Another task of the family whose bindings differ from the source's by that much.

        Raises:
            CannotShift: "wording" at `none`, for every task is told in one way only; "level" where there is no such
                task.
        """
        source = self.task(seal)
        return self.target(another(source, self._members(seal.family), seal, level, seed), source, level)

    def _members(self, family: str) -> Sequence[V]:
        known = self.listed()
        why_not = None if known else self.unavailable()
        if why_not:
            raise UserError(why_not)
        return members(known, family)


def by_family(tasks: Iterable[V]) -> dict[str, tuple[V, ...]]:
    """Tasks by family, in order of the families' names."""
    found: dict[str, list[V]] = {}
    for one in tasks:
        found.setdefault(one.family, []).append(one)
    return {name: tuple(found[name]) for name in sorted(found)}


def members(known: Mapping[str, Sequence[V]], family: str) -> Sequence[V]:
    """Raises UserError for an unknown family."""
    if family not in known:
        raise UserError(f"no task family {family!r}{did_you_mean(family, known)}")
    return known[family]


def chosen(known: Mapping[str, Sequence[V]], names: Sequence[str] | None) -> dict[str, Sequence[V]]:
    """The named families; all where None. Raises UserError for an unknown family."""
    return {name: members(known, name) for name in (known if names is None else names)}


def recited(actions: Iterable[Action]) -> Callable[[Environment], Iterator[Action]]:
    """An oracle of actions that are known beforehand."""

    def acts(_env: Environment) -> Iterator[Action]:
        for action in actions:  # noqa: UP028 — what is sent in must not go on to a tuple
            yield action

    return acts


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
