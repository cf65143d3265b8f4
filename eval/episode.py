"""One attempt at one cell: reset, support, loop, verdict, all of it into the ledger."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from rebind.agents.actor import Actor
from rebind.agents.loop import run as run_loop
from rebind.agents.settings import ActorSettings
from rebind.banks.store import Bank
from rebind.errors import AgentError, ContextOverflow, InfraError, ProviderError, ProviderRefused, RebindError
from rebind.eval.guarded import GuardedEnvironment
from rebind.eval.ledger import EventLog
from rebind.eval.models import Models
from rebind.eval.parts import Overheard, Tell, overheard, staffed
from rebind.eval.plan import Plan
from rebind.eval.study import Study
from rebind.eval.tokens import account
from rebind.memory.conditions import get_condition
from rebind.memory.skill.environment import SkillEnvironment
from rebind.memory.tokens import note_cap
from rebind.types import (
    Cell,
    Completion,
    Environment,
    Episode,
    Model,
    Outcome,
    Record,
    Request,
    Selection,
    Step,
    Support,
    SupportAsk,
    Target,
)


@dataclass
class Bench:
    """What the episodes of a run share. All of it may be used from many threads."""

    plan: Plan
    bank: Bank
    ledger: EventLog
    models: Models
    targets: dict[str, Target]
    selections: dict[str, Selection]
    idle: dict[str, SimpleQueue[_Warm]] = field(default_factory=dict)
    """By Gymnasium id; made on demand."""
    caps: dict[str, int] = field(default_factory=dict)
    """What `note_cap` gives, by record: the same for every episode, and worth two requests."""

    @contextmanager
    def environment(self, env_id: str, tell: Tell) -> Iterator[Environment]:
        """A warm environment. One that failed is closed, not returned to the idle ones. `tell` hears what the model
        that plays a part in it is asked."""
        queue = self.idle.setdefault(env_id, SimpleQueue())
        try:
            warm = queue.get_nowait()
        except Empty:
            world, part = staffed(env_id, self.models)
            warm = _Warm(GuardedEnvironment(world.make, self.plan.study.budget.seconds), part)
        try:
            with overheard(warm.part, tell):
                yield warm.environment
        except BaseException:
            warm.environment.close()
            raise
        queue.put(warm)

    def close(self) -> None:
        for queue in self.idle.values():
            while not queue.empty():
                queue.get().environment.close()


@dataclass(frozen=True)
class _Warm:
    """An environment for one thread at a time, and the model that plays a part in it, where one does."""

    environment: Environment
    part: Overheard | None


@dataclass
class _Tally:
    """What one attempt did so far, as the token account and the Episode want it."""

    calls: list[dict[str, Any]] = field(default_factory=list)
    support: dict[str, Any] = field(default_factory=dict)
    steps: int = 0
    api_calls: int = 0


def attempt_cell(bench: Bench, cell: Cell, attempt: int) -> Episode:
    """Runs one attempt at a cell to its end and commits it. Never raises for what went wrong inside the episode: the
    failure is named in the Episode and in the ledger.

    Raises:
        ProviderRefused: after recording it; no other episode would fare better.
    """
    log = partial(bench.ledger.append, cell=cell, attempt=attempt)
    log("start", {"cell": cell.model_dump(mode="json"), "attempt": attempt})
    began = time.monotonic()
    tally = _Tally()
    outcome: Outcome
    success: bool | None = None
    milestone: float | None = None
    refused: ProviderRefused | None = None
    try:
        ending, success, milestone = _play(bench, cell, log, tally)
        outcome = "valid" if ending == "done" else "invalid-agent"
    except AgentError as error:
        ending, outcome = type(error).__name__, "invalid-agent"
        log("note", {"error": f"{type(error).__name__}: {error}"})
    except InfraError as error:
        ending, outcome = type(error).__name__, "invalid-infra"
        refused = error if isinstance(error, ProviderRefused) else None
        log("note", {"error": f"{type(error).__name__}: {error}"})
    episode = Episode(
        cell=cell,
        attempt=attempt,
        outcome=outcome,
        ending=ending,
        success=success if outcome == "valid" else None,
        milestone=milestone,
        steps=tally.steps,
        api_calls=tally.api_calls,
        tokens=account(tally.calls, tally.support),
        seconds=time.monotonic() - began,
    )
    log("episode", episode.model_dump(mode="json"))
    bench.ledger.commit()
    if refused:
        raise refused
    return episode


def _play(bench: Bench, cell: Cell, log: Any, tally: _Tally) -> tuple[str, bool, float]:
    """The episode proper: (ending, success, milestone progress)."""
    study = bench.plan.study
    target = bench.targets[cell.target]
    with bench.environment(target.task.env, lambda row: log("note", row)) as plain:
        first, _ = plain.reset(options={"seal": target.seal})
        support = _supported(bench, cell, first, log, tally)
        env: Environment = plain
        if support.skills:
            env = SkillEnvironment(
                plain,
                support.skills,
                fallback=lambda: make_support(bench, cell, first, bench.models.writer.model, "evidence").text,
                on_row=lambda row: log("skill", row),
            )

        def on_call(row: dict[str, Any]) -> None:
            tally.calls.append(row)
            log("call", row)

        def on_step(index: int, step: Step) -> None:
            tally.steps += 1
            tally.api_calls += len(step.calls)
            log("step", {"index": index, **step.model_dump(mode="json")})

        actor = Actor(
            bench.models.actor.model,
            actor_settings(study, bench.models.actor.name, cell.seed),
            goal=target.task.goal,
            tools=env.tools(),
            support=support,
            on_call=on_call,
        )
        ending = run_loop(env, actor, first, study.budget, on_step)
        verdict = plain.verify()
        log("verdict", verdict.model_dump(mode="json"))
        return ending, verdict.success, verdict.progress


def _supported(bench: Bench, cell: Cell, first: str, log: Any, tally: _Tally) -> Support:
    """The cell's support, recorded. Where its writer did not answer, what was asked and tried stands in its place."""
    writer = _Writer(bench.models.writer.model)
    try:
        support = make_support(bench, cell, first, writer)
    except RebindError:
        asked, got = tuple(writer.asked), tuple(writer.got)
        tried = Support(condition=cell.condition, requests=asked, completions=got, flags=("unanswered",))
        tally.support = tried.model_dump(mode="json")
        log("support", tally.support)
        raise
    tally.support = support.model_dump(mode="json")
    log("support", tally.support)
    return support


class _Writer:
    """A writer that keeps what it was asked and what came of it, answered or not."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.asked: list[Request] = []
        self.got: list[Completion] = []

    def complete(self, request: Request) -> Completion:
        self.asked.append(request)
        try:
            completion = self._model.complete(request)
        except (ContextOverflow, ProviderError) as error:
            self.got.append(Completion(text="", finish="error", attempts=error.attempts))
            raise
        self.got.append(completion)
        return completion

    def count(self, request: Request) -> int:
        return self._model.count(request)


def actor_settings(study: Study, model: str, seed: int) -> ActorSettings:
    """How the study's actor acts; the same for every condition."""
    return ActorSettings(
        model=model,
        decoding=study.decoding.model_copy(update={"seed": seed}),
        protocol=study.model.protocol,
        placement=study.model.placement,
        thought=study.model.thought,
        grounded=study.model.grounded,
        strict_tools=study.model.strict_tools,
    )


def make_support(
    bench: Bench, cell: Cell, first_observation: str, writer: Model, condition: str | None = None
) -> Support:
    """What a condition, the cell's where none is named, delivers from the one selected record, the goal and the first
    observation."""
    study = bench.plan.study
    selection = bench.selections[cell.target]
    record = bench.bank.record(selection.chosen) if selection.chosen else None
    name = bench.models.writer.name
    ask = SupportAsk(
        record=record,
        summary=bench.bank.summary(record.id) if record else "",
        skills=bench.bank.skills(record.id) if record else (),
        goal=bench.targets[cell.target].task.goal,
        first_observation=first_observation,
        writer=writer,
        writer_name=name,
        decoding=study.decoding.model_copy(update={"temperature": 0.0, "top_p": 1.0, "max_tokens": 1024, "seed": 0}),
        cap_tokens=_cap(bench, writer, record) if record else 0,
    )
    return get_condition(condition or cell.condition).support(ask)


def _cap(bench: Bench, writer: Model, record: Record) -> int:
    if record.id not in bench.caps:
        bench.caps[record.id] = note_cap(writer, bench.models.writer.name, record)
    return bench.caps[record.id]
