"""Takes the events of a ledger in order, and keeps of each attempt what frames and report need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from rebind.errors import LedgerError
from rebind.eval.lines import REDACTED, Line, read_lines, readable, whole_step
from rebind.eval.rebinding import Watch
from rebind.eval.rows import Attempted, RecordRow, TargetRow, begin, finish
from rebind.eval.stories import Story, story
from rebind.types import Episode, Seal, Selection, Task, Usage, Verdict

_STUDY = frozenset(("plan", "target", "record", "retrieval", "selection"))


class Place(NamedTuple):
    """Where an event stands in the chain, and when it was written."""

    n: int
    at: float
    hash: str


@dataclass
class Reader:
    """What a ledger has said so far. Feed it every line, in order."""

    plan: dict[str, Any] = field(default_factory=dict)
    targets: dict[str, TargetRow] = field(default_factory=dict)
    records: dict[str, RecordRow] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    """Of every attempt, as they began."""
    finals: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By cell: the row of its last attempt that ended."""
    stories: dict[str, Story] = field(default_factory=dict)
    discrepancies: list[str] = field(default_factory=list)
    redacted: int = 0
    """Events some values of which were redacted."""
    studied: int = 0
    """Number of the last event about the study itself."""
    first: Place | None = None
    last: Place | None = None
    _hidden: set[str] = field(default_factory=set)
    """Targets of whose goal, seals or query something was redacted."""
    _watches: dict[str, Watch] = field(default_factory=dict)
    """By target."""
    _open: dict[tuple[str | None, int | None], Attempted] = field(default_factory=dict)

    def read(self, path: Path, start: int = 0, end: int | None = None, *, strays: bool = False) -> int:
        """Takes in the lines of a ledger file from one byte to another; returns the byte it came to.

        Args:
            strays: pass over events of attempts that did not begin in these lines, rather than refuse them.

        Raises:
            LedgerError: a line is no event, or belongs to an attempt that has not begun or has ended.
        """
        at, event = start, None
        for line, event in read_lines(path, start, end):
            self._feed(line, event, at, strays)
            at += len(line)
        if event:
            self.last = Place(event.n, event.at, event.hash)
        return at

    def read_header(self, path: Path) -> None:
        """Takes in what stands before the first attempt: the study."""
        for line, event in read_lines(path):
            if event.kind == "start":
                return
            self._feed(line, event, 0, strays=False)

    def read_ends(self, path: Path, start: int) -> None:
        """Takes in what attempts under way did from a byte on, and nothing else."""
        at, waiting, redacted = start, set(self._open), self.redacted
        for line, event in read_lines(path, start) if waiting else ():
            key = event.cell, event.attempt
            if key in waiting:
                if event.kind == "episode" or (event.kind == "note" and "abandoned" in event.data):
                    waiting.discard(key)
                self._feed(line, event, at, strays=False)
            if not waiting:
                break
            at += len(line)
        self.redacted = redacted  # the reader of those lines counts them

    def take(self, later: Reader) -> None:
        """Adds what another reader made of the lines that follow."""
        self.rows += later.rows
        self.finals.update(later.finals)
        self.stories.update(later.stories)
        self.discrepancies += later.discrepancies
        self.redacted += later.redacted
        self.last = later.last or self.last

    def _feed(self, line: bytes, event: Line, at: int, strays: bool) -> None:
        kind = event.kind
        if self.first is None:
            self.first = Place(event.n, event.at, event.hash)
        if event.redacted:
            self.redacted += 1
        if kind in _STUDY:
            self.studied = event.n
            _take(getattr(self, f"_{kind}"), event)
        elif kind == "start":
            _take(self._start, event)
        elif kind != "note":
            attempt = self._open.get((event.cell, event.attempt))
            if attempt is not None:
                if kind == "step":
                    self._step(attempt, line, event, at)
                elif kind == "call":
                    attempt.calls.append(event.data)
                elif kind == "support":
                    attempt.support = event.data
                elif kind != "skill":
                    _take(self._verdict if kind == "verdict" else self._episode, event)
            elif not strays:
                raise LedgerError(
                    f"line {event.n + 1} of the ledger: {kind!r} of attempt {event.attempt} at cell {event.cell}, "
                    "which has not begun or has ended"
                )

    # --- the study ---

    def _plan(self, event: Line) -> None:
        self.plan = _data(event)

    def _target(self, event: Line) -> None:
        data = _data(event)
        source = _seal(data["source"]) if data.get("source") else None
        seal = _seal(data["seal"])
        if event.redacted:
            self._hidden.add(data["target"])
        self.targets[data["target"]] = TargetRow(data["target"], Task.model_validate(data["task"]), seal, source)

    def _record(self, event: Line) -> None:
        data = _data(event)
        self.records[data["record"]] = RecordRow(
            id=data["record"],
            seal=_seal(data["seal"]),
            instruction=data["instruction"],
            index_text=data["index_text"],
            effective_actions=data["effective_actions"],
            tokens=data.get("tokens"),
        )

    def _retrieval(self, event: Line) -> None:
        data = _data(event)
        row = self.targets[data["target"]]
        if event.redacted:
            self._hidden.add(row.key)
        row.query, row.encoder = data["query"], data.get("encoder")
        row.candidates, row.scores = tuple(data["candidates"]), tuple(data["scores"])

    def _selection(self, event: Line) -> None:
        data = _data(event)
        row = self.targets[data["target_key"]]
        row.selection = Selection.model_validate({k: data[k] for k in Selection.model_fields if k in data})
        if isinstance(data.get("completion"), dict):
            row.ranker_usage = Usage.model_validate(data["completion"]["usage"])
        chosen = self.records.get(row.selection.chosen or "")
        source = chosen.seal if chosen else row.source
        row.old = source.bindings if source else ()

    # --- an attempt ---

    def _start(self, event: Line) -> None:
        data = _data(event)
        row = self.targets[data["cell"]["target"]]
        begun = Attempted(begin(event, data, row, self.records), self._watch(row).again())
        self._open[event.cell, event.attempt] = begun
        self.rows.append(begun.row)

    def _watch(self, row: TargetRow) -> Watch:
        """A watch that was shown what every attempt at the target is shown first."""
        watch = self._watches.get(row.key)
        if watch is None:
            watch = self._watches[row.key] = Watch(row.changed, blind=row.key in self._hidden)
            watch.show(row.task.goal, "query")
            watch.show(row.query, "first observation")  # the text embedded: the goal, then o_t0
        return watch

    def _step(self, attempt: Attempted, line: bytes, event: Line, at: int) -> None:
        attempt.api_calls += len(event.data.calls)
        attempt.steps.append(at)
        if event.redacted:
            attempt.watch.blind = True
        if attempt.watch.concerns(line):
            attempt.watch.step(whole_step(line))

    def _verdict(self, event: Line) -> None:
        data = _data(event)
        for words in ("failures", "collateral"):
            data[words] = [REDACTED] if data[words] == REDACTED else data[words]
        self._open[event.cell, event.attempt].verdict = Verdict.model_validate(data)

    def _episode(self, event: Line) -> None:
        attempt = self._open[event.cell, event.attempt]
        episode = Episode.model_validate(_data(event))
        del self._open[event.cell, event.attempt]
        self.discrepancies += finish(attempt, episode)
        cell = episode.cell.id
        self.finals[cell] = attempt.row
        self.stories[cell] = story(attempt.support, attempt.steps, attempt.verdict, attempt.watch)


def _take(handle: Callable[[Line], None], event: Line) -> None:
    """Hands an event on; an error that comes of its redaction says so."""
    try:
        handle(event)
    except (TypeError, ValueError, KeyError) as error:
        if not event.redacted:
            raise
        where = f"event {event.n} ({event.kind}) was redacted at {', '.join(event.redacted)}"
        raise LedgerError(f"{where}: the tables cannot be had without it") from error


def _data(event: Line) -> Any:
    """The data of an event, with marks where it was redacted."""
    return readable(event.data) if event.redacted else event.data


def _seal(data: dict[str, Any]) -> Seal:
    """A seal; one whose bindings were redacted has none."""
    kept = data["bindings"] if isinstance(data["bindings"], list) else []
    return Seal.model_validate({**data, "bindings": [b for b in kept if isinstance(b, dict)]})
