"""MiniWoB++ for the bank builder and the runner: the same task with another seed is a binding shift."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from rebind.canon import digest
from rebind.envs.browser.env import BrowserTask
from rebind.envs.miniwob.env import ENV_ID, MiniwobEnv, task_state
from rebind.envs.miniwob.server import why_no_pages
from rebind.envs.miniwob.solutions import SOLUTIONS
from rebind.envs.miniwob.task import MiniwobTask
from rebind.envs.miniwob.tasks import names
from rebind.errors import CannotShift, UserError, did_you_mean
from rebind.types import Action, Binding, Environment, Progress, Seal, ShiftLevel, Target, Task

PREFIX = "miniwob/"
_TRIES = 60
"""Seeds looked at for one whose changed bindings fit a level."""


class MiniwobWorld:
    """`rebind.types.World` of the tasks that have a solution here; `all_tasks` names the others too."""

    name = "miniwob"
    env_id = ENV_ID

    needs = "pip install 'rebind[sites,miniwob]' and a Chromium"
    resources: Mapping[str, float] = {"CPU": 1.0, "browser": 1.0}

    def unavailable(self) -> str | None:
        from rebind.envs.browser.engine import missing

        return missing() or why_no_pages()

    def check(self, families: Sequence[str] | None, seeds: Sequence[int], progress: Progress) -> dict[str, Any]:
        from rebind.envs.miniwob.check import check

        return check(families, seeds, progress)

    def families(self) -> tuple[str, ...]:
        """Tasks whose solution is known, so that a record can be made of them."""
        return tuple(PREFIX + name for name in sorted(SOLUTIONS))

    def all_tasks(self) -> tuple[str, ...]:
        """Every task that needs no canvas or image reading, solved here or not; each runs by its name."""
        return tuple(PREFIX + name for name in names())

    def make(self) -> Environment:
        return MiniwobEnv()

    def browser_tasks(self) -> dict[str, Callable[[int], BrowserTask]]:
        """Every task that needs no canvas or image reading, by name, made from a seed."""
        return {name: partial(MiniwobTask, name) for name in names()}

    def sample(self, family: str, seed: int) -> Target:
        name = _task_name(family)
        return self._target(name, seed % 2**31, None, None)

    def shift(self, seal: Seal, level: ShiftLevel, seed: int) -> Target:
        """The same task at another seed, its fields compared with the source's: `small` changes one of several,
        `medium` some, `large` all; `none` is the source's own seed.

        Raises:
            CannotShift: "level" where no seed tried changes that many.
        """
        name = _task_name(seal.family)
        if level == "none":
            return self._target(name, int(str(seal.world["seed"])), seal, level)
        draw = random.Random(digest({"seal": seal.task_key, "level": level, "seed": seed}))
        for _ in range(_TRIES):
            target = self._target(name, draw.randrange(2**31), seal, level)
            if _level(len(target.seal.changed), len(target.seal.bindings)) == level:
                return target
        raise CannotShift("level")

    def oracle(self, seal: Seal) -> Callable[[Environment], Iterator[Action]]:
        """Raises UserError where no solution of the task is written."""
        name = _task_name(seal.family)
        if name not in SOLUTIONS:
            raise UserError(f"no solution of {seal.family} is written{did_you_mean(name, SOLUTIONS)}")
        values = {k: str(v) for k, v in seal.values().items()}
        return lambda _env: SOLUTIONS[name](values)

    def _target(self, name: str, seed: int, source: Seal | None, level: ShiftLevel | None) -> Target:
        goal = _goal(name, seed)
        bindings = _bindings(name, goal)
        task = Task(env=ENV_ID, goal=goal, state=task_state(name, seed))
        old = source.values() if source else {}
        seal = Seal(
            canary=digest({"canary": task.key, "level": level or ""})[:32],
            env=ENV_ID,
            task_key=task.key,
            family=PREFIX + name,
            world={"seed": seed},
            bindings=bindings,
            level=level,
            changed=tuple(b.name for b in bindings if source and old.get(b.name) != b.value),
        )
        return Target(task=task, seal=seal)


def _level(changed: int, of: int) -> ShiftLevel:
    if changed == 0:
        return "none"
    if changed == of:
        return "large"
    return "small" if changed == 1 else "medium"


@lru_cache(maxsize=10_000)
def _goal(name: str, seed: int) -> str:
    with _asking_alone:
        return _asking().goal(name, seed)


_asking_alone = threading.Lock()


@lru_cache(maxsize=1)
def _asking() -> MiniwobEnv:
    """The tab in which pages are asked for their words."""
    return MiniwobEnv()


def _bindings(name: str, goal: str) -> tuple[Binding, ...]:
    """The fields that the package itself finds in the task's words; the words as a whole where it finds none."""
    from miniwob.fields import get_field_extractor

    try:
        fields = list(get_field_extractor(name)(goal))
    except (KeyError, ValueError):
        fields = []
    if not fields:
        return (Binding(name="instruction", kind="parameter", value=goal, central=True),)
    return tuple(Binding(name=k, kind="parameter", value=str(v), central=len(fields) == 1) for k, v in fields)


def _task_name(family: str) -> str:
    name = family.removeprefix(PREFIX)
    every = names()
    if name not in every or not family.startswith(PREFIX):
        raise UserError(f"no task family {family!r}{did_you_mean(family, [PREFIX + n for n in every])}")
    return name
