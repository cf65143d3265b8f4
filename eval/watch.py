"""A run seen from outside while it goes: read from the end of its ledger, which is never written to."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rebind.eval.ledger import LEDGER_FILE, MANIFEST_FILE
from rebind.eval.ledger.reader import explained, parse_event
from rebind.eval.past import asked_in, dollars
from rebind.types import Event

_LOCK_FILE = "ledger.lock"
_LONGEST_ACTION = 70


@dataclass
class Running:
    """An episode under way."""

    cell: str
    condition: str
    attempt: int
    began: float
    step: int = 0
    last: str = ""
    """What was done last, cut."""


@dataclass
class Watch:
    """Follows the ledger of a run folder, which need not exist yet; `refresh` takes in what is new."""

    folder: Path
    plan: dict[str, Any] = field(default_factory=dict)
    selected: int = 0
    running: dict[tuple[str, int], Running] = field(default_factory=dict)
    outcomes: dict[str, str] = field(default_factory=dict)
    """Of the last attempt at each cell that ended, by cell id."""
    tries: Counter[str] = field(default_factory=Counter)
    """Ended attempts, by cell id."""
    tokens: Counter[str] = field(default_factory=Counter)
    cost: float | None = None
    failed_requests: int = 0
    infra_episodes: int = 0
    concurrency: dict[str, int] = field(default_factory=dict)
    workers: int | None = None
    stopped: str = ""
    trouble: str = ""
    """The last error that was recorded."""
    events: int = 0
    began: float = 0.0
    """Unix seconds at which the last start of the run began its episodes."""
    before: int = 0
    """Cells that were settled then."""
    latest: float = 0.0
    """Unix seconds of the last event."""
    _read: int = 0
    """Bytes taken in; always whole lines."""

    def refresh(self) -> None:
        """Takes in the events that came since the last time. A line that is still being written waits for the next.

        Raises:
            LedgerError: a line is no event.
        """
        path = self.folder / LEDGER_FILE
        if not path.exists():
            return
        with path.open("rb") as lines:
            lines.seek(self._read)
            for line in lines:
                if not line.endswith(b"\n"):
                    return
                event = parse_event(line, f"{path}, event {self.events}")
                with explained(event, "the live view"):
                    self._take(event)
                self._read += len(line)

    def _take(self, event: Event) -> None:
        self.events, self.latest = event.n + 1, event.at
        for request in asked_in(event):
            self.failed_requests += sum(a["error"] is not None for a in request["attempts"])
            if usage := request.get("usage"):
                self.tokens.update({k: usage[k] or 0 for k in ("prompt", "completion")})
            if any(a["cost"] is not None for a in request["attempts"]):
                self.cost = (self.cost or 0.0) + dollars(event)
        data: dict[str, Any] = event.data
        match event.kind:
            case "plan":
                self.plan = data
            case "selection":
                self.selected += 1
            case "note":
                self._note(event, data)
            case "start" | "step" | "episode":
                assert event.cell is not None  # these belong to a cell
                assert event.attempt is not None
                self._episode(event, data, (event.cell, event.attempt))
            case _:
                pass

    def _episode(self, event: Event, data: dict[str, Any], key: tuple[str, int]) -> None:
        cell, attempt = key
        match event.kind:
            case "start":
                self.stopped = ""
                self.running[key] = Running(cell, cell.split("/")[1], attempt, event.at)
            case "step" if key in self.running:
                self.running[key].step, self.running[key].last = data["index"] + 1, _action(data["action"])
            case "episode":
                self.running.pop(key, None)
                self.outcomes[cell] = data["outcome"]
                self.tries[cell] += 1
                self.infra_episodes += data["outcome"] == "invalid-infra"
            case _:
                pass

    def _note(self, event: Event, data: dict[str, Any]) -> None:
        if "abandoned" in data and event.cell is not None:
            self.running.pop((event.cell, data["abandoned"]), None)
        if "workers" in data:
            self.workers, self.began, self.before = data["workers"], event.at, self.settled
            self.concurrency, self.stopped = {}, ""
        if "concurrency" in data:
            self.concurrency[data["provider"]] = data["concurrency"]
        if "stopped" in data:
            untold = data.get("unpriced")
            how = f"cannot be held: {untold} answers without usage" if untold else f"reached at {data['spent']:.4f}"
            self.stopped = f"{data['stopped']} {data['limit']:g} {how}"
        if "error" in data:
            self.trouble = str(data["error"])

    @property
    def settled(self) -> int:
        """Cells that will not be tried again."""
        most = self.plan.get("attempts", 1)
        return sum(o != "invalid-infra" or self.tries[cell] >= most for cell, o in self.outcomes.items())

    def state(self) -> str:
        """ "not begun", "selecting", "running", "stopped", "no process" or "finished"."""
        if not self.plan:
            return "not begun"
        if (self.folder / MANIFEST_FILE).exists():
            return "finished"
        if self.stopped:
            return "stopped"
        if not self._alive():
            return "no process"
        return "running" if self.workers else "selecting"

    def _alive(self) -> bool:
        """Whether the process that took the run's lock is there (on this machine)."""
        try:
            os.kill(int((self.folder / _LOCK_FILE).read_text()), 0)
        except (OSError, ValueError) as error:
            return isinstance(error, PermissionError)
        return True

    def frame(self) -> dict[str, Any]:
        """What is to be seen, as a JSON object: `state`, `cells`, `conditions` (outcomes by condition), `running`,
        `tokens`, `cost` (US dollars, None where no price is known), `cells_per_minute` and `eta_seconds` (of the last
        start), `infra`, `concurrency` (requests at once by provider, where it was changed), `trouble`."""
        total, state = self.plan.get("cells", 0), self.state()
        going = state in ("running", "selecting")
        minutes = ((time.time() if going else self.latest) - self.began) / 60 if self.began else 0.0
        rate = (self.settled - self.before) / minutes if minutes > 0 else None
        by: dict[str, Counter[str]] = {c: Counter() for c in self.plan.get("conditions", ())}
        for cell, outcome in self.outcomes.items():
            by.setdefault(cell.split("/")[1], Counter())[outcome] += 1
        under_way = self.running.values() if going else ()
        return {
            "run": str(self.folder),
            "name": self.plan.get("name"),
            "simulated": self.plan.get("simulated"),
            "state": state,
            "why": self.stopped or None,
            "cells": {"total": total, "done": self.settled, "left": total - self.settled},
            "targets_selected": self.selected,
            "conditions": {name: dict(counts) for name, counts in by.items()},
            "running": [
                {"cell": r.cell, "attempt": r.attempt, "step": r.step, "last": r.last, "seconds": time.time() - r.began}
                for r in under_way
            ],
            "tokens": {name: self.tokens[name] for name in ("prompt", "completion")},
            "cost": self.cost,
            "cells_per_minute": rate,
            "eta_seconds": 60 * (total - self.settled) / rate if going and rate else None,
            "infra": {"episodes": self.infra_episodes, "failed_requests": self.failed_requests},
            "workers": self.workers,
            "concurrency": self.concurrency,
            "trouble": self.trouble or None,
            "events": self.events,
            "silent_seconds": time.time() - self.latest if self.latest else None,
        }


def _action(action: Any) -> str:
    """An action in a few words."""
    if action is None:
        return "(no action could be read)"
    if "code" in action:
        return str(action["code"]).strip().partition("\n")[0][:_LONGEST_ACTION]
    said = f"{action['tool']} {json.dumps(action['args'], ensure_ascii=False)}"
    return said if len(said) <= _LONGEST_ACTION else said[: _LONGEST_ACTION - 1] + "…"
