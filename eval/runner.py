"""Runs a plan: lock, retrieval and selection, then every cell not yet in the ledger, then the manifest."""

from __future__ import annotations

from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rebind.agents.simulated import PREFIX as SIMULATED
from rebind.banks.files import Progress
from rebind.banks.seals import open_seals
from rebind.banks.store import Bank
from rebind.eval.episode import Bench, attempt_cell
from rebind.eval.ledger import LEDGER_FILE, Ledger, read_events
from rebind.eval.lock import make_lock, write_or_check
from rebind.eval.models import Models, open_models
from rebind.eval.plan import Plan
from rebind.eval.selecting import select_all
from rebind.types import Cell, Episode, Selection


@dataclass(frozen=True)
class RunSummary:
    """How a run ended."""

    folder: Path
    cells: int
    resumed: int
    """Cells that an earlier start of the same run had already ended."""
    outcomes: dict[str, int]
    """Cells by their last attempt's outcome, those of earlier starts included."""


@dataclass
class Past:
    """What a ledger already holds of a run."""

    planned: bool = False
    ended: dict[str, list[Episode]] = field(default_factory=lambda: defaultdict(list))
    """Ended attempts by cell id."""
    open: dict[tuple[str, int], Cell] = field(default_factory=dict)
    """Attempts begun and not ended, by cell id and number."""
    attempts: Counter[str] = field(default_factory=Counter)
    """Attempts begun, by cell id."""
    selections: dict[str, Selection] = field(default_factory=dict)
    """By task key."""

    @classmethod
    def read(cls, folder: Path) -> Past:
        past = cls()
        if not (folder / LEDGER_FILE).exists():
            return past
        for event in read_events(folder):
            data: dict[str, Any] = event.data
            match event.kind:
                case "plan":
                    past.planned = True
                case "selection":
                    fields = {k: data[k] for k in Selection.model_fields}
                    past.selections[data["target_key"]] = Selection.model_validate(fields)
                case "start":
                    cell = Cell.model_validate(data["cell"])
                    past.attempts[cell.id] += 1
                    past.open[cell.id, data["attempt"]] = cell
                case "episode":
                    episode = Episode.model_validate(data)
                    past.ended[episode.cell.id].append(episode)
                    past.open.pop((episode.cell.id, episode.attempt), None)
                case "note" if "abandoned" in data and event.cell:
                    past.open.pop((event.cell, data["abandoned"]), None)
                case _:
                    pass
        return past

    def settled(self, cell: Cell, attempts: int) -> Episode | None:
        """The episode that settles a cell: its last one, unless infrastructure failed it and attempts are left."""
        ended = self.ended.get(cell.id)
        if not ended or (ended[-1].outcome == "invalid-infra" and len(ended) < attempts):
            return None
        return ended[-1]


def run_study(plan: Plan, folder: Path, progress: Progress) -> RunSummary:
    """Runs, or resumes, a plan in a run folder.

    Raises:
        LockMismatch: the folder holds a run of another study or of other code.
        UserError: a bank, targets, ledger or model that cannot be used.
        ProviderRefused: the model's provider knows no such key, model or address.
    """
    bank = Bank.open(plan.study.bank.path)
    with open_models(plan) as models:
        lock = write_or_check(folder, make_lock(plan, models.identities))
        with Ledger.open(folder) as ledger:
            past = Past.read(folder)
            _begin(ledger, plan, models, past, lock)
            seals = open_seals(plan.study.bank.path)
            bench = Bench(
                plan=plan,
                bank=bank,
                ledger=ledger,
                models=models,
                targets={t.task.key: t for t in plan.targets},
                selections=select_all(plan, bank, seals, models, ledger, past.selections, progress),
            )
            summary = _run_cells(bench, past, folder, progress)
            ledger.seal()
    return summary


def _begin(ledger: Ledger, plan: Plan, models: Models, past: Past, lock: str) -> None:
    """The plan event of a new run, or the account of what the last start left open."""
    study = plan.study
    names = {"actor": models.actor.name, "writer": models.writer.name, "ranker": models.ranker.name}
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


def _run_cells(bench: Bench, past: Past, folder: Path, progress: Progress) -> RunSummary:
    """Runs every cell that is not settled, several at once; an interrupt lets those under way end first."""
    study = bench.plan.study
    settled = {c.id: e for c in bench.plan.cells if (e := past.settled(c, study.run.attempts))}
    todo = [c for c in bench.plan.cells if c.id not in settled]
    outcomes = Counter(e.outcome for e in settled.values())
    progress("episodes", len(settled), len(bench.plan.cells))

    def settle(cell: Cell) -> Episode:
        tried = len(past.ended.get(cell.id, ()))
        number = past.attempts[cell.id]
        while True:
            episode = attempt_cell(bench, cell, number)
            tried, number = tried + 1, number + 1
            if episode.outcome != "invalid-infra" or tried >= study.run.attempts:
                return episode

    with ThreadPoolExecutor(study.run.workers, thread_name_prefix="episode") as pool:
        futures = [pool.submit(settle, c) for c in todo]
        try:
            for n, future in enumerate(as_completed(futures), len(settled) + 1):
                episode = future.result()
                outcomes[episode.outcome] += 1
                progress(f"{episode.cell.condition}: {episode.ending}", n, len(bench.plan.cells))
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
        finally:
            bench.close()
    return RunSummary(folder, len(bench.plan.cells), len(settled), {str(k): n for k, n in outcomes.items()})
