"""The ended attempts of a run, one by one, each with its target and all its events; what replay and exports read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from rebind.errors import LedgerError
from rebind.eval.ledger import read_events
from rebind.eval.ledger.reader import explained
from rebind.types import Cell, Episode, Event

Json = Mapping[str, Any]


class Turn(NamedTuple):
    """One model call of the actor, the prompt it was sent (all of it), and the step that its answer made."""

    call: Event
    prompt: tuple[Json, ...]
    tools: tuple[Json, ...]
    """Native tools of the request."""
    step: Event | None
    """None where the call was not answered."""


@dataclass(frozen=True)
class EndedAttempt:
    """One attempt at a cell, from its start to its end."""

    cell: Cell
    number: int
    target: Json
    """Data of the `target` event."""
    selection: Json
    """Data of the `retrieval` and `selection` events, in one."""
    start: Event
    events: tuple[Event, ...]
    """Support, calls, steps, notes and verdict, in order."""
    end: Event
    """The `episode` event."""
    episode: Episode
    before: tuple[tuple[Episode, str], ...]
    """Attempts at the cell that ended earlier, with the error that ended each (its ending where none was noted)."""

    def data(self, kind: str) -> Json | None:
        """The data of the first event of a kind."""
        return next((event.data for event in self.of(kind)), None)

    def of(self, kind: str) -> Iterator[Event]:
        """The events of a kind, in order."""
        return (event for event in self.events if event.kind == kind)

    @property
    def error(self) -> str:
        """What ended it, in words: the error that was noted, or its ending."""
        noted = (str(e.data["error"]) for e in self.of("note") if "error" in e.data)
        return next(noted, self.episode.ending)

    @contextmanager
    def explained(self, wanted: str) -> Iterator[None]:
        """While something is made of it: an error that comes of a redaction becomes one that says so.

        Raises:
            LedgerError: `wanted` needs what was redacted.
        """
        redacted = next((e for e in (self.start, *self.events, self.end) if e.redacted), self.end)
        with explained(redacted, wanted):
            yield

    def turns(self) -> Iterator[Turn]:
        """The actor's calls in order, with whole prompts."""
        prompt: tuple[Json, ...] = ()
        tools: tuple[Json, ...] = ()
        waiting: Turn | None = None
        for event in self.events:
            data: Json = event.data
            if event.kind == "call":
                if waiting:
                    yield waiting
                prompt = (*prompt[: data["kept"]], *data["messages"])
                tools = tools if data["tools"] is None else tuple(data["tools"])
                waiting = Turn(event, prompt, tools, None)
            elif event.kind == "step" and waiting:
                yield waiting._replace(step=event)
                waiting = None
        if waiting:
            yield waiting


class Group(NamedTuple):
    environment: str
    condition: str


@dataclass
class _Begun:
    """An attempt that has begun and not ended."""

    start: Event
    events: list[Event] = field(default_factory=list)


class Attempts:
    """The ended attempts of a run: the last one of every cell, or `every` one. Iterating reads the ledger anew, so that
    a large run is never in memory whole.

    Raises:
        LedgerError: there is no ledger, or it cannot be read, or it holds no plan.
    """

    def __init__(self, folder: Path, *, every: bool = False) -> None:
        self.folder, self._every = folder, every
        self.plan: Json = {}
        self.began = 0.0
        """When the run was planned (Unix seconds)."""
        self._last: dict[str, int] = {}
        self._cells: dict[str, Cell] = {}
        self._environments: dict[str, str] = {}
        """By target."""
        self._ended = 0
        self.last_hash = ""
        for event in read_events(folder):
            with explained(event, "its place in the study"):
                self._survey(event)
        if not self.plan:
            raise LedgerError(f"the ledger in {folder} holds no plan: nothing was ever run there")

    def _survey(self, event: Event) -> None:
        self.last_hash = event.hash
        if event.kind == "plan":
            self.plan, self.began = event.data, event.at
        elif event.kind == "target":
            self._environments[event.data["target"]] = event.data["task"]["env"]
        elif event.kind == "start" and event.cell is not None:
            self._cells[event.cell] = Cell.model_validate(event.data["cell"])
        elif event.kind == "episode" and event.cell is not None and event.attempt is not None:
            self._last[event.cell] = event.attempt
            self._ended += 1

    def __len__(self) -> int:
        return self._ended if self._every else len(self._last)

    @property
    def cells(self) -> tuple[str, ...]:
        """Ids of the cells that were begun."""
        return tuple(self._cells)

    @property
    def open(self) -> tuple[str, ...]:
        """Ids of the cells that were begun and of which no attempt has ended."""
        return tuple(cell for cell in self._cells if cell not in self._last)

    def groups(self) -> tuple[Group, ...]:
        """Environments and conditions of the ended attempts, in the plan's order of conditions."""
        order = {condition: n for n, condition in enumerate(self.plan["conditions"])}
        found = {self._group(cell) for name, cell in self._cells.items() if name in self._last}
        return tuple(sorted(found, key=lambda g: (g.environment, order.get(g.condition, len(order)), g.condition)))

    def of_group(self, group: Group) -> Iterator[EndedAttempt]:
        """The ended attempts of one environment and condition."""
        return (attempt for attempt in self if self._group(attempt.cell) == group)

    def _group(self, cell: Cell) -> Group:
        return Group(self._environments[cell.target], cell.condition)

    def __iter__(self) -> Iterator[EndedAttempt]:
        targets: dict[str, Json] = {}
        selections: dict[str, dict[str, Any]] = defaultdict(dict)
        begun: dict[tuple[str, int], _Begun] = {}
        before: dict[str, list[tuple[Episode, str]]] = defaultdict(list)
        for event in read_events(self.folder):
            data: Json = event.data
            if event.kind == "target":
                targets[data["target"]] = data
            elif event.kind in ("retrieval", "selection"):
                selections[data.get("target") or data["target_key"]].update(data)
            elif event.cell is None or event.attempt is None:
                continue
            elif event.kind == "start":
                begun[event.cell, event.attempt] = _Begun(event)
            elif event.kind != "episode":
                if attempt := begun.get((event.cell, event.attempt)):
                    attempt.events.append(event)
            else:
                with explained(event, "the episode"):
                    ended = _ended(event, begun, targets, selections, tuple(before[event.cell]))
                before[event.cell].append((ended.episode, ended.error))
                if self._every or self._last.get(event.cell) == event.attempt:
                    yield ended


def _ended(
    end: Event,
    begun: dict[tuple[str, int], _Begun],
    targets: Mapping[str, Json],
    selections: Mapping[str, Json],
    before: tuple[tuple[Episode, str], ...],
) -> EndedAttempt:
    """The attempt that an `episode` event ends."""
    assert end.cell is not None  # the caller asked
    assert end.attempt is not None
    attempt = begun.pop((end.cell, end.attempt), None)
    episode = Episode.model_validate(end.data)
    if attempt is None or episode.cell.target not in targets:
        missing = "its start" if attempt is None else "its target"
        raise LedgerError(
            f"line {end.n + 1} of the ledger ends attempt {end.attempt} at cell {end.cell} without {missing}"
        )
    return EndedAttempt(
        cell=episode.cell,
        number=end.attempt,
        target=targets[episode.cell.target],
        selection=selections.get(episode.cell.target, {}),
        start=attempt.start,
        events=tuple(attempt.events),
        end=end,
        episode=episode,
        before=before,
    )
