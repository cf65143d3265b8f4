"""The profile books the seconds between a ledger's events: model, environment, harness, waiting."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rebind.errors import UserError
from rebind.eval.bench.profile import profile, run
from rebind.eval.ledger import read_events
from rebind.types import Cell, Event

CELL = Cell(target="t", condition="full", seed=0)
OTHER = Cell(target="t", condition="none", seed=0)


def event(at: float, kind: Any, data: dict[str, Any], cell: Cell | None = CELL) -> Event:
    return Event(0, at, kind, cell.id if cell else None, 0 if cell else None, data, "", "", "", [])


def call(*attempts: tuple[float, float], replayed: bool = False) -> dict[str, Any]:
    return {"replayed": replayed, "attempts": [{"started": started, "ms": ms} for started, ms in attempts]}


def start(cell: Cell) -> dict[str, Any]:
    return {"cell": cell.model_dump(mode="json"), "attempt": 0}


EVENTS = [
    event(0.0, "plan", {}, None),
    event(10.0, "start", start(CELL)),
    event(11.0, "support", {"completions": [call((10.2, 500.0))]}),  # half a second of model, the rest is the reset
    event(11.5, "start", start(OTHER), OTHER),
    event(15.0, "call", call((11.5, 1000.0), (14.0, 500.0))),  # 1.5 s of model, 1.5 s between the two attempts
    event(15.5, "step", {"action": {"tool": "t"}}),
    event(16.0, "call", call(replayed=True)),
    event(16.25, "step", {"action": None}),
    event(16.5, "support", {"completions": []}, OTHER),
    event(17.0, "verdict", {}),
    event(17.25, "episode", {}),
]


def test_each_second_of_an_attempt_is_booked_once() -> None:
    """Model and waiting by the attempts' own times, the rest by what the event ends."""
    found = profile(EVENTS)
    whole, full, none = found["rows"]
    assert [row["condition"] for row in found["rows"]] == ["all", "full", "none"]
    assert (full["model_s"], full["waiting_s"]) == (2.0, 1.5)
    assert full["environment_s"] == pytest.approx(0.5 + 0.5 + 0.75)
    assert full["harness_s"] == pytest.approx(1.0 + 0.5 + 0.25 + 0.25)
    assert full["seconds"] == pytest.approx(7.25)
    assert none["environment_s"] == whole["seconds"] - full["seconds"] == pytest.approx(5.0)
    assert (found["before_s"], found["wall_s"]) == (10.0, 7.25)
    assert found["at_once"] == pytest.approx(12.25 / 7.25, abs=0.01)


def test_a_recorded_run_adds_up_to_what_its_episodes_say(mixed_run: Path) -> None:
    """The seconds of all attempts are those that the episodes took, faults and retries included."""
    episodes = [e for e in read_events(mixed_run) if e.kind == "episode"]
    found = run(mixed_run)
    whole, *conditions = found["rows"]
    assert whole["attempts"] == len(episodes)
    assert whole["seconds"] == pytest.approx(sum(e.data["seconds"] for e in episodes), rel=0.1)
    assert whole["seconds"] == pytest.approx(sum(row["seconds"] for row in conditions), abs=0.01)
    assert sum(whole[f"{part}_share"] for part in ("model", "environment", "harness", "waiting")) == pytest.approx(
        1, abs=0.001
    )
    assert whole["model_s"] > 0


def test_a_ledger_without_attempts_is_refused() -> None:
    """There is nothing to profile before the first attempt."""
    with pytest.raises(UserError, match="no attempt"):
        profile(EVENTS[:1])
