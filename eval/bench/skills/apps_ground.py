"""Runs skills on tasks of the app world; its verifier judges."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from rebind.banks.rollout import do
from rebind.banks.skills import caller, holds
from rebind.eval.bench.skills.apps_tasks import Task
from rebind.eval.bench.skills.caller import Filled
from rebind.memory.skill.execute import execute
from rebind.memory.skill.library import Source, Version
from rebind.memory.skill.reads import finishes, only_reads
from rebind.memory.skill.request import read_values
from rebind.memory.skill.tier_c import Asked, Reading, TierC
from rebind.types import Call, Environment, Skill, ToolCall

_FINISH = "supervisor_complete_task"


@dataclass(frozen=True)
class Solo:
    """What came of one skill, alone on a task."""

    filled: bool
    """Whether a perfect reader found a value for every slot."""
    ended: bool = False
    wrote: bool = False
    steps: int | None = None
    """Steps in all; None where the verifier does not accept what came of it."""

    @property
    def last(self) -> bool:
        """Whether nothing else is tried after it."""
        return self.ended or self.wrote


class Ground:
    """One environment, and what was found out in it about skills and tasks."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._solos: dict[str, Solo] = {}
        self._asked: dict[tuple[int, str], tuple[Version, Solo]] = {}
        """By version and task; the version is kept, so that no other takes its id."""
        self._holds: dict[str, bool] = {}

    def valid(self, version: Version, task: Task) -> bool:
        """Whether a skill, filled by a perfect reader, solves a task."""
        return self.solo(version, task).steps is not None

    def holds(self, skill: Skill, task: Task) -> bool:
        """Whether a skill that a task's trace became passes its validation tests on the task's state."""
        key = f"{skill.model_dump_json()} {task.key}"
        if key not in self._holds:
            self._holds[key] = holds(skill, task.trace, task.seal, self._environment)
        return self._holds[key]

    def solo(self, version: Version, task: Task) -> Solo:
        """A skill alone on a task, executed once for equal steps and equal values told by the goal."""
        skill = version.skill
        asked = (id(version), task.key)
        if asked in self._asked:
            return self._asked[asked][1]
        known = read_values(skill.slots, version.requests, task.goal)
        steps = [s.model_dump(mode="json") for s in skill.steps]
        key = json.dumps([steps, [s.name for s in skill.slots], known, task.key], sort_keys=True)
        if key not in self._solos:
            made = task.caller.fill(skill, known)
            self._solos[key] = self._alone(skill, made, task) if made else Solo(filled=False)
        self._asked[asked] = version, self._solos[key]
        return self._solos[key]

    def _alone(self, skill: Skill, made: Filled, task: Task) -> Solo:
        trying = _Trying(self._environment, task)
        trying.look_up(made)
        execution = execute(skill, made.values, trying.call)
        trying.steps += 1
        wrote = any(c.ok and not only_reads(c.tool) for c in execution.calls)
        ended = execution.problem is None
        return Solo(True, ended, wrote, trying.finish(skill) if ended else None)

    def walk(self, versions: Sequence[Version], task: Task) -> int | None:
        """Steps with the first of some skills that runs to its end, in the order given; None where none did, or where
        the verifier does not accept what came of it. What cannot be filled costs nothing; one that stopped before it
        wrote anything costs its calls, and the next is tried."""
        spent = 0
        for version in versions:
            solo = self.solo(version, task)
            if solo.last:
                return None if solo.steps is None else spent + solo.steps
            spent += solo.filled
        return None

    def try_out(self, tier: TierC, task: Task, own: Source) -> None:
        """Counts for reliability what comes of the skills nearest to a task, but for its own, on the task's state."""
        for version in tier.nearest(task.goal, task.scope, own):
            solo = self.solo(version, task)
            if solo.filled:
                tier.library.record(version, ok=solo.steps is not None, request=task.goal)

    def read(self, tier: TierC, task: Task) -> tuple[Reading, int | None]:
        """Tier C's own read path on a task, and the steps with it as in `walk`."""
        trying = _Trying(self._environment, task)

        def given(version: Version, known: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
            made = task.caller.fill(version.skill, known)
            if made is None:
                return {}
            trying.look_up(made)
            return made.values

        def row(event: Mapping[str, JsonValue]) -> None:
            trying.steps += event["what"] in ("rehearsal", "validation")

        reading = tier.read(Asked(task.goal, task.scope), trying.call, given, row)
        if not reading.ok or reading.version is None:
            return reading, None
        return reading, trying.finish(reading.version.skill)


class _Trying:
    """A task begun anew, and the steps taken in it."""

    def __init__(self, environment: Environment, task: Task) -> None:
        environment.reset(options={"seal": task.seal})
        self._environment = environment
        self._looked_up: list[Call] = []
        self.steps = 0

    @property
    def call(self) -> Callable[[ToolCall], Call]:
        return lambda made: caller(self._environment, made)

    def look_up(self, made: Filled) -> None:
        """Makes the calls that the caller needs first, those that it has not made yet."""
        for one in made.before:
            if one not in self._looked_up:
                self._looked_up.append(one)
                self.steps += 1
                do(self._environment, ToolCall(tool=one.tool, args=one.args))

    def finish(self, skill: Skill) -> int | None:
        """Declares the task done unless the skill did: the steps in all, or None where the verifier does not accept."""
        if not any(finishes(s.tool) for s in skill.steps):
            self.steps += 1
            do(self._environment, ToolCall(tool=_FINISH))
        return self.steps if self._environment.verify().success else None
