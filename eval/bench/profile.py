"""`rebind bench profile`: where the time of a study's episodes went, by the times in its ledger.

Each event of an attempt is booked with the seconds since the one before it (docs/scale.md says which part gets what).
So any run can be looked at, also long after it ended.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from rebind.banks.files import silent
from rebind.errors import UserError
from rebind.eval.bench import scale
from rebind.eval.ledger import explained, read_events
from rebind.eval.past import asked_in
from rebind.types import Cell, Event, Progress

PARTS = ("model", "environment", "harness", "waiting")
ALL = "all"


@dataclass
class _Spent:
    """Seconds of a condition's attempts, by part."""

    attempts: int = 0
    steps: int = 0
    parts: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PARTS, 0.0))

    def row(self, condition: str) -> dict[str, Any]:
        total = sum(self.parts.values())
        row: dict[str, Any] = {"condition": condition, "attempts": self.attempts, "steps": self.steps}
        row["seconds"] = round(total, 3)
        row |= {f"{part}_s": round(seconds, 3) for part, seconds in self.parts.items()}
        return row | {f"{part}_share": round(s / total, 4) if total else None for part, s in self.parts.items()}


def run(folder: Path | None = None, study: Path | None = None, progress: Progress = silent) -> dict[str, Any]:
    """Profiles a recorded run (`folder`), a run of a study file, or, with neither, a short run of the shipped app-world
    targets beside a scripted model of 50 ms latency.

    Returns:
        As `profile`; of the short run also `cpu_ms_per_step`.

    Raises:
        UserError: both are given, or what they name cannot be used.
    """
    if folder is not None and study is not None:
        raise UserError("give a run's folder or --study, not both")
    if folder is not None:
        return profile(read_events(folder))
    with tempfile.TemporaryDirectory(prefix="rebind-profile-") as scratch:
        if study is None:
            row = scale.row(Path(scratch) / "short", 8, 60, 0.05)
            return {**profile(read_events(Path(scratch) / "short" / "run")), "cpu_ms_per_step": row["cpu_ms_per_step"]}
        from rebind.eval.plan import make_plan
        from rebind.eval.runner import run_study
        from rebind.eval.study import load_study

        run_study(make_plan(load_study(study)), Path(scratch) / "run", progress)
        return profile(read_events(Path(scratch) / "run"))


def profile(events: Iterable[Event]) -> dict[str, Any]:
    """Where the time of a run's attempts went.

    Returns:
        `rows`: of `condition` ("all" first), `attempts`, `steps`, `seconds` and, for each of model, environment,
        harness and waiting, `…_s` and `…_share`; `before_s` (planning, retrieval and selection: from the first event to
        the first attempt), `wall_s` (from the first attempt to the last event of one, pauses between starts of a run
        included), `at_once` (attempts under way on average).

    Raises:
        LedgerError: what is needed was redacted.
        UserError: no attempt was begun.
    """
    spent: dict[str, _Spent] = defaultdict(_Spent)
    last: dict[tuple[str, int], tuple[float, str]] = {}
    first = began = ended = None
    for event in events:
        first = event.at if first is None else first
        if event.cell is None or event.attempt is None:
            continue
        with explained(event, "a profile"):
            key = (event.cell, event.attempt)
            if event.kind == "start":
                condition = Cell.model_validate(event.data["cell"]).condition
                last[key] = (event.at, condition)
                began = event.at if began is None else began
                for one in (ALL, condition):
                    spent[one].attempts += 1
            elif key in last:
                since, condition = last[key]
                for one in (ALL, condition):
                    _book(spent[one], event, since)
                last[key], ended = (event.at, condition), event.at
    if first is None or began is None:
        raise UserError("the ledger holds no attempt at a cell: there is nothing to profile")
    wall = (ended or began) - began
    whole = sum(spent[ALL].parts.values())
    return {
        "rows": [spent[name].row(name) for name in (ALL, *sorted(spent.keys() - {ALL}))],
        "before_s": round(began - first, 3),
        "wall_s": round(wall, 3),
        "at_once": round(whole / wall, 2) if wall else None,
    }


def _book(spent: _Spent, event: Event, since: float) -> None:
    """Books the seconds up to an event."""
    seconds = max(0.0, event.at - since)
    model = waiting = 0.0
    for row in asked_in(event):
        if not row["replayed"]:
            model += sum(attempt["ms"] for attempt in row["attempts"]) / 1000
            waiting += sum(_pauses(row["attempts"]))
    model = min(model, seconds)
    waiting = min(waiting, seconds - model)
    rest = "environment" if event.kind in ("support", "verdict", "skill") or _acted(event) else "harness"
    spent.parts["model"] += model
    spent.parts["waiting"] += waiting
    spent.parts[rest] += seconds - model - waiting
    spent.steps += event.kind == "step"


def _acted(event: Event) -> bool:
    return event.kind == "step" and event.data["action"] is not None


def _pauses(attempts: list[Mapping[str, Any]]) -> Iterator[float]:
    """Seconds between each two attempts at one request."""
    for before, after in pairwise(attempts):
        yield max(0.0, after["started"] - before["started"] - before["ms"] / 1000)
