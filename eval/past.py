"""What the ledger of a run already holds, for the start that goes on with it."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rebind.eval.ledger import LEDGER_FILE, explained, read_events
from rebind.types import Cell, Episode, Event, Selection


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
    spent: float = 0.0
    """US dollars of all model calls, as far as known."""

    @classmethod
    def read(cls, folder: Path) -> Past:
        past = cls()
        if not (folder / LEDGER_FILE).exists():
            return past
        for event in read_events(folder):
            with explained(event, "a resume"):
                past._take(event)
        return past

    def _take(self, event: Event) -> None:
        data: dict[str, Any] = event.data
        self.spent += dollars(event)
        match event.kind:
            case "plan":
                self.planned = True
            case "selection":
                fields = {k: data[k] for k in Selection.model_fields}
                self.selections[data["target_key"]] = Selection.model_validate(fields)
            case "start":
                cell = Cell.model_validate(data["cell"])
                self.attempts[cell.id] += 1
                self.open[cell.id, data["attempt"]] = cell
            case "episode":
                episode = Episode.model_validate(data)
                self.ended[episode.cell.id].append(episode)
                self.open.pop((episode.cell.id, episode.attempt), None)
            case "note" if "abandoned" in data and event.cell:
                self.open.pop((event.cell, data["abandoned"]), None)
            case _:
                pass

    def settled(self, cell: Cell, attempts: int) -> Episode | None:
        """The episode that settles a cell: its last one, unless infrastructure failed it and attempts are left."""
        ended = self.ended.get(cell.id)
        if not ended or (ended[-1].outcome == "invalid-infra" and len(ended) < attempts):
            return None
        return ended[-1]


def asked_in(event: Event) -> list[dict[str, Any]]:
    """What models were asked, as far as an event records it: rows with `attempts`, of an actor, a writer or a
    ranker."""
    data: dict[str, Any] = event.data
    match event.kind:
        case "call":
            return [data]
        case "support":
            return list(data["completions"])
        case "selection":
            return [data["completion"]] if data.get("completion") else []
        case "note":
            return [data] if "attempts" in data else []
        case _:
            return []


def dollars(event: Event) -> float:
    """US dollars that an event's attempts cost, as far as known."""
    return sum(attempt["cost"] or 0.0 for row in asked_in(event) for attempt in row["attempts"])
