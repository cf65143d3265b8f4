"""Tasks of the app world with what is known of each: a trace with detours, its verified skill, and a clean solution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rebind.banks.rollers import oracle_roller
from rebind.banks.rollout import roll
from rebind.banks.skills import verified_skills
from rebind.eval.bench.skills.caller import PerfectCaller
from rebind.memory.shard.scope import ItemMeta, NamespaceIs, Scope
from rebind.types import Environment, Progress, Record, Seal, Skill, World

_OPEN = ("supervisor", "api")
"""Namespaces that every request may use."""
FIRST = 800
"""Number of the first instance. The first eight from 0, 100, 200 and so on up to 700 were looked at before."""


@dataclass(frozen=True)
class Task:
    """One instance of a family."""

    family: str
    number: int
    seal: Seal
    scope: Scope
    trace: Record
    """As an agent would have gone about it: failed calls, wrong turns, re-checks."""
    solution: Record
    """The oracle's run."""
    skill: Skill | None
    """What became of the trace; None where nothing passed its validation."""

    @property
    def goal(self) -> str:
        return self.trace.instruction

    @property
    def key(self) -> str:
        return f"{self.family}#{self.number}"

    @cached_property
    def caller(self) -> PerfectCaller:
        return PerfectCaller(self.solution)


def make_tasks(
    world: World, environment: Environment, families: Sequence[str], instances: int, progress: Progress
) -> list[Task]:
    """Tasks of all families, instance by instance. A task whose trace the verifier did not accept is left out."""
    jobs = [(family, number) for number in range(FIRST, FIRST + instances) for family in families]
    found: list[Task] = []
    for done, (family, number) in enumerate(jobs):
        progress("traces", done, len(jobs))
        target = world.sample(family, number)
        rolled = roll(environment, target, family, number, oracle_roller(world))
        clean = roll(environment, target, family, number, oracle_roller(world, 0.0))
        if rolled.record is None or clean.record is None:
            continue
        environment.reset(options={"seal": target.seal})
        names = sorted({namespace(tool.name) for tool in environment.tools()} | set(_OPEN))
        skills = verified_skills(rolled.record, rolled.seal, environment)
        found.append(
            Task(
                family=family,
                number=number,
                seal=target.seal,
                scope=Scope(predicates=(NamespaceIs(names=tuple(names)),)),
                trace=rolled.record,
                solution=clean.record,
                skill=skills[0] if skills else None,
            )
        )
    return found


def namespace(tool: str) -> str:
    """The app that a tool belongs to."""
    return tool.partition("_")[0]


def metas(skill: Skill) -> tuple[ItemMeta, ...]:
    """Metadata of a skill: the apps that it calls."""
    return tuple(ItemMeta(namespace=name) for name in sorted({namespace(s.tool) for s in skill.steps}))
