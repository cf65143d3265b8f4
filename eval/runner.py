"""Runs a plan: lock, retrieval and selection, then every cell not yet in the ledger, then the manifest."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from rebind.agents.simulated import PREFIX as SIMULATED
from rebind.banks.seals import open_seals
from rebind.banks.store import Bank
from rebind.errors import LedgerError, LimitReached, ProviderError
from rebind.eval.crew import Crew, to_the_end
from rebind.eval.engines import Engine, open_engine
from rebind.eval.episode import Bench
from rebind.eval.ledger import EventLog, Ledger
from rebind.eval.lock import make_lock, write_or_check
from rebind.eval.models import Models, Opener, open_models
from rebind.eval.past import Past
from rebind.eval.plan import Plan
from rebind.eval.selecting import select_all
from rebind.types import Cell, Episode, Progress, Selection

_COMMIT_EVERY = 1.0
"""Seconds."""


@dataclass(frozen=True)
class RunSummary:
    """How a run ended."""

    folder: Path
    cells: int
    resumed: int
    """Cells that an earlier start of the same run had already ended."""
    outcomes: dict[str, int]
    """Cells by their last attempt's outcome, those of earlier starts included."""


def run_study(plan: Plan, folder: Path, progress: Progress, opener: Opener = open_models) -> RunSummary:
    """Runs, or resumes, a plan in a run folder. `opener` opens the plan's models.

    Raises:
        LockMismatch: the folder holds a run of another study or of other code.
        UserError: a bank, targets, ledger, model or engine that cannot be used.
        ProviderRefused: the model's provider knows no such key, model or address.
        ProviderError: the ranker did not answer; no cell can run without its selection.
        LimitReached: the run's cost limit; what was begun has ended and is kept.
    """
    bank = Bank.open(plan.study.bank.path)
    with opener(plan) as models, open_engine(plan.study) as engine:
        lock = _lock(plan, models, folder)
        with Ledger.open(folder) as ledger:
            past = Past.read(folder)
            _begin(ledger, plan, models, past, lock)
            models.note_limits(ledger)
            purse = Purse(plan.study.run.max_cost, past.spent, models)
            bench = Bench(
                plan=plan,
                bank=bank,
                ledger=ledger,
                models=models,
                targets={t.task.key: t for t in plan.targets},
                selections=_select(plan, bank, models, ledger, past, purse, progress),
            )
            engine.begin(bench, opener)
            summary = _run_cells(bench, engine, past, purse, folder, progress)
            _seal(ledger)
    return summary


@dataclass(frozen=True)
class Purse:
    """What a run may spend in US dollars, and has spent, earlier starts included."""

    limit: float | None
    before: float
    models: Models

    @property
    def spent(self) -> float:
        return self.before + self.models.door.spent

    @property
    def empty(self) -> bool:
        """Whether the limit is reached, or nobody can tell."""
        return self.limit is not None and (self.spent >= self.limit or self.models.door.unpriced > 0)

    def stop(self, ledger: EventLog, left: int) -> LimitReached:
        """Records that the run stopped here, with so many cells left."""
        untold = self.models.door.unpriced
        about: dict[str, JsonValue] = {"spent": self.spent, "limit": self.limit, "cells_left": left, "unpriced": untold}
        ledger.append("note", {"stopped": "max_cost", **about})
        ledger.commit()
        if untold:
            why, remedy = f"{untold} answers came without usage counts: what they cost is not known", "take out"
        else:
            why, remedy = f"the run's model calls have cost ${self.spent:.4f}", "raise"
        return LimitReached(
            f"{why}, of run.max_cost ${self.limit:g}; cells left: {left}. "
            f"What has ended is kept: {remedy} run.max_cost in the study file and give the same command to go on"
        )


def _lock(plan: Plan, models: Models, folder: Path) -> str:
    lock = make_lock(plan, models.identities)
    try:
        return write_or_check(folder, lock)
    except OSError as error:
        raise LedgerError(f"{folder} cannot be written: {error.strerror}") from None


def _seal(ledger: Ledger) -> None:
    try:
        ledger.seal()
    except OSError as error:
        raise LedgerError(
            f"the manifest of {ledger.folder} could not be written: {error.strerror}. All episodes are in the ledger; "
            "mend this and give the same command"
        ) from None


def _select(
    plan: Plan, bank: Bank, models: Models, ledger: Ledger, past: Past, purse: Purse, progress: Progress
) -> dict[str, Selection]:
    """Every target's selection. What a ranker that did not answer was asked is recorded before the run ends."""
    try:
        seals = open_seals(plan.study.bank.path)
        known = past.selections
        chosen = select_all(plan, bank, seals, models, ledger, known, progress, lambda: not purse.empty)
    except ProviderError as error:
        tried: list[JsonValue] = [a.model_dump(mode="json") for a in error.attempts]
        ledger.append("note", {"error": f"selection: {type(error).__name__}: {error}", "attempts": tried})
        ledger.commit()
        raise
    if any(target.task.key not in chosen for target in plan.targets):
        raise purse.stop(ledger, len(plan.cells))
    return chosen


def _begin(ledger: Ledger, plan: Plan, models: Models, past: Past, lock: str) -> None:
    """The plan event of a new run, or the account of what the last start left open."""
    study = plan.study
    names = {"actor": models.actor.name, "writer": models.writer.name, "ranker": models.ranker.name}
    names |= {str(part): named.name for part, named in models.parts.items()}
    if not past.planned:
        ledger.append(
            "plan",
            {
                "name": study.name,
                "lock": lock,
                "environments": list(study.environments),
                "conditions": list(study.conditions),
                "seeds": list(study.seeds),
                "model": study.model.model_dump(mode="json") | names,
                "decoding": study.decoding.model_dump(mode="json"),
                "budget": study.budget.model_dump(mode="json"),
                "placement": study.model.placement,
                "attempts": study.run.attempts,
                "targets": [t.task.key for t in plan.targets],
                "cells": len(plan.cells),
                "simulated": any(name.startswith(SIMULATED) for name in names.values()),
            },
        )
    for (_, attempt), cell in past.open.items():
        ledger.append("note", {"abandoned": attempt, "why": "the process ended before it did"}, cell, attempt)
    ledger.commit()


def _run_cells(bench: Bench, engine: Engine, past: Past, purse: Purse, folder: Path, progress: Progress) -> RunSummary:
    """Runs every cell that is not settled, several at once. An interrupt, a refusing provider and an empty purse let
    those under way end first; a second interrupt and a ledger that cannot be written do not."""
    study = bench.plan.study
    settled = {c.id: e for c in bench.plan.cells if (e := past.settled(c, study.run.attempts))}
    todo = [c for c in bench.plan.cells if c.id not in settled]
    outcomes = Counter(e.outcome for e in settled.values())
    done, total = len(settled), len(bench.plan.cells)
    progress("episodes", done, total)
    if todo and not purse.empty:
        about: dict[str, JsonValue] = {"workers": study.run.workers, "cells_left": len(todo)}
        bench.ledger.append("note", {**about, "engine": study.run.engine})

    def settle(cell: Cell) -> Episode | None:
        tried = len(past.ended.get(cell.id, ()))
        number = past.attempts[cell.id]
        episode: Episode | None = None
        while (another := engine.attempt(cell, number)) is not None:
            episode, tried, number = another, tried + 1, another.attempt + 1
            if episode.outcome != "invalid-infra" or tried >= study.run.attempts or purse.empty:
                break
        return episode

    crew = Crew(study.run.workers, todo, settle, may_begin=lambda: not purse.empty)

    def watch() -> None:
        nonlocal done
        for episode in crew.results():
            if purse.empty:
                engine.begin_no_more()
            if episode is None:
                continue
            outcomes[episode.outcome] += 1
            done += 1
            few = "".join(f", {name}: {n} at once" for name, n in engine.limited().items())
            progress(f"{episode.cell.condition}: {episode.ending}{few}", done, total)

    with _committing(bench.ledger):
        to_the_end(crew, watch, "episodes", engine.begin_no_more)
    if purse.empty and done < total:
        raise purse.stop(bench.ledger, total - done)
    return RunSummary(folder, total, len(settled), {str(k): n for k, n in outcomes.items()})


@contextmanager
def _committing(ledger: EventLog) -> Iterator[None]:
    """Commits every second, so that long episodes can be watched, and lose little when they are killed."""
    ended = threading.Event()

    def tick() -> None:
        with suppress(LedgerError):  # the episodes meet it too, and stop the run
            while not ended.wait(_COMMIT_EVERY):
                ledger.commit()

    threading.Thread(target=tick, name="commit", daemon=True).start()
    try:
        yield
    finally:
        ended.set()
