"""A finished (or running) study as pandas frames, read from its ledger and nothing else."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rebind.errors import LedgerError
from rebind.eval.bindings import changed_values
from rebind.eval.ledger import read_events
from rebind.eval.rebinding import Watch
from rebind.eval.rows import (
    Attempted,
    RecordRow,
    TargetRow,
    attempts_frame,
    begin,
    episodes_frame,
    finish,
    selections_frame,
    targets_frame,
)
from rebind.eval.stories import Story, step_view, story
from rebind.types import Episode, Event, Seal, Selection, Task, Usage, Verdict

if TYPE_CHECKING:
    import pandas as pd

Group = tuple[str, int]
"""A target's key and a seed."""


@dataclass(frozen=True)
class Chain:
    """Where the ledger ends."""

    events: int
    last_hash: str
    began: float
    ended: float


@dataclass(frozen=True)
class Run:
    """One run. Frames have one row per:

    - `episodes`: final attempt at a cell (the last one that ended). `success`, `milestone` are NA unless judged.
    - `attempts`: attempt, the abandoned ones included.
    - `targets`: target, with its cluster (source trajectory), level, family, selected record.
    - `selections`: target × candidate, best first, with its relation to the target.
    """

    folder: Path
    plan: Mapping[str, Any]
    episodes: pd.DataFrame
    attempts: pd.DataFrame
    targets: pd.DataFrame
    selections: pd.DataFrame
    target_rows: Mapping[str, TargetRow]
    records: Mapping[str, RecordRow]
    stories: Mapping[str, Story]
    """By cell id."""
    chain: Chain
    discrepancies: tuple[str, ...]
    """Where an episode row does not agree with the steps, calls and verdict it sums up."""

    def groups(self) -> dict[Group, dict[str, dict[str, Any]]]:
        """The rows of `episodes` by target and seed, then by condition; NA where nothing is known."""
        found: dict[Group, dict[str, dict[str, Any]]] = {}
        for row in self.episodes.to_dict("records"):
            by = found.setdefault((str(row["target"]), int(row["seed"])), {})
            by[str(row["condition"])] = {str(name): value for name, value in row.items()}
        return found


def load_run(folder: Path | str) -> Run:
    """Reads a run folder.

    Raises:
        LedgerError: there is no ledger, or it cannot be read, or it holds no plan.
    """
    reader = _Reader()
    collected = gc.isenabled()
    gc.disable()  # a ledger makes millions of objects and no cycles: looking for some would take a tenth of the time
    try:
        for event in read_events(Path(folder)):
            reader.feed(event)
    finally:
        if collected:
            gc.enable()
    if not reader.plan:
        raise LedgerError(f"the ledger in {folder} holds no plan: nothing was ever run there")
    return reader.run(Path(folder))


class _Reader:
    """Takes events in order; keeps of each episode what frames and report need."""

    def __init__(self) -> None:
        self.plan: dict[str, Any] = {}
        self.targets: dict[str, TargetRow] = {}
        self.records: dict[str, RecordRow] = {}
        self.open: dict[tuple[str | None, int | None], Attempted] = {}
        self.rows: list[dict[str, Any]] = []
        self.finals: dict[str, dict[str, Any]] = {}
        self.stories: dict[str, Story] = {}
        self.discrepancies: list[str] = []
        self.first: Event | None = None
        self.last: Event | None = None

    def feed(self, event: Event) -> None:
        if self.first is None:
            self.first = event
        self.last = event
        handle = getattr(self, f"_{event.kind}", None)
        if handle is not None:
            handle(event)

    # --- the study ---

    def _plan(self, event: Event) -> None:
        self.plan = dict(event.data)

    def _target(self, event: Event) -> None:
        data: Any = event.data
        source = Seal.model_validate(data["source"]) if data.get("source") else None
        seal = Seal.model_validate(data["seal"])
        self.targets[data["target"]] = TargetRow(data["target"], Task.model_validate(data["task"]), seal, source)

    def _record(self, event: Event) -> None:
        data: Any = event.data
        self.records[data["record"]] = RecordRow(
            id=data["record"],
            seal=Seal.model_validate(data["seal"]),
            instruction=data["instruction"],
            index_text=data["index_text"],
            effective_actions=data["effective_actions"],
            tokens=data.get("tokens"),
        )

    def _retrieval(self, event: Event) -> None:
        data: Any = event.data
        row = self.targets[data["target"]]
        row.query, row.encoder = data["query"], data.get("encoder")
        row.candidates, row.scores = tuple(data["candidates"]), tuple(data["scores"])

    def _selection(self, event: Event) -> None:
        data: Any = event.data
        row = self.targets[data["target_key"]]
        row.selection = Selection.model_validate({k: data[k] for k in Selection.model_fields if k in data})
        if data.get("completion"):
            row.ranker_usage = Usage.model_validate(data["completion"]["usage"])
        chosen = self.records.get(row.selection.chosen or "")
        source = chosen.seal if chosen else row.source
        row.changed = changed_values(source.bindings if source else (), row.seal.bindings)

    # --- an attempt ---

    def _start(self, event: Event) -> None:
        data: Any = event.data
        row = self.targets[data["cell"]["target"]]
        watch = Watch(row.changed)
        watch.show(row.task.goal, "query")
        watch.show(row.query, "first observation")  # the text embedded: the goal, then o_t0
        begun = Attempted(begin(event, row, self.records), watch)
        self.open[event.cell, event.attempt] = begun
        self.rows.append(begun.row)

    def _of(self, event: Event) -> Attempted:
        try:
            return self.open[event.cell, event.attempt]
        except KeyError:
            raise LedgerError(
                f"line {event.n + 1} of the ledger: {event.kind!r} of attempt {event.attempt} at cell {event.cell}, "
                "which has not begun or has ended"
            ) from None

    def _support(self, event: Event) -> None:
        self._of(event).support = dict(event.data)

    def _call(self, event: Event) -> None:
        data: Any = event.data
        self._of(event).calls.append({k: data[k] for k in ("usage", "mem_tokens", "attempts", "replayed")})

    def _step(self, event: Event) -> None:
        data: Any = event.data
        attempt = self._of(event)
        attempt.watch.step(data["index"], data)
        attempt.api_calls += len(data["calls"])
        attempt.steps.append(step_view(data))

    def _verdict(self, event: Event) -> None:
        self._of(event).verdict = Verdict.model_validate(event.data)

    def _episode(self, event: Event) -> None:
        attempt = self._of(event)
        episode = Episode.model_validate(event.data)
        del self.open[event.cell, event.attempt]
        self.discrepancies += finish(attempt, episode)
        cell = episode.cell.id
        self.finals[cell] = attempt.row
        self.stories[cell] = story(attempt.support, attempt.steps, attempt.verdict, attempt.watch)

    # --- all of it ---

    def run(self, folder: Path) -> Run:
        """The frames; call once every event is in."""
        assert self.first is not None
        assert self.last is not None
        return Run(
            folder=folder,
            plan=self.plan,
            episodes=episodes_frame(list(self.finals.values())),
            attempts=attempts_frame(self.rows),
            targets=targets_frame(self.targets.values(), self.records),
            selections=selections_frame(self.targets.values(), self.records),
            target_rows=self.targets,
            records=self.records,
            stories=self.stories,
            chain=Chain(self.last.n + 1, self.last.hash, self.first.at, self.last.at),
            discrepancies=tuple(self.discrepancies),
        )
