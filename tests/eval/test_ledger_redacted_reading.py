"""A redacted run can still be audited, loaded and reported; what needs a redacted value says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.audited import SOURCE_CANARY, clean_run, write
from support.ledgers import MadeRun, call

from rebind.errors import LedgerError
from rebind.eval.audit import audit, holds
from rebind.eval.frames import load_run
from rebind.eval.ledger import read_events, verify
from rebind.eval.ledger.redaction import Selector, redact
from rebind.eval.past import Past
from rebind.eval.report import build
from rebind.types import ReuseNote

TEXTS = (
    "call.messages",
    "call.messages[*]",
    "call.text",
    "call.tools",
    "support.text",
    "support.note",
    "support.requests",
    "support.skills",
    "step.observation",
    "step.action",
    "step.action.args",
    "step.calls[*]",
    "record.content",
    "record.index_text",
    "target.task.goal",
    "retrieval.query",
    "verdict.failures",
    "verdict.milestones",
)
"""Fields a user may want to take out before a run is published."""


def redacted(folder: Path, *fields: str) -> Path:
    """A clean run with these fields taken out."""
    write(clean_run(), folder)
    redact(folder, [Selector.parse(field) for field in fields])
    return folder


@pytest.mark.parametrize("field", TEXTS)
def test_a_run_without_a_field_is_clean_and_what_could_not_be_checked_is_counted(tmp_path: Path, field: str) -> None:
    found = audit(redacted(tmp_path, field))
    assert (found["findings"], holds(found)) == ([], True)
    assert found["skipped"]["redacted_values"] == verify(tmp_path).redacted > 0


def reported(folder: Path) -> Path:
    """A run that a report can be made of, one condition of which copies a stale value."""
    made = MadeRun(conditions=("none", "qcr"))
    record = made.record("r1", {"city": "Graz"})
    target = made.target("Book a room in Linz.", record, {"city": "Linz"})
    note = ReuseNote(workflow="search, then book", rebind="the city", applies="rooms", verify="the booking")
    made.episode(target, "none", False, steps=[call("book", city="Graz")], milestones=(0, 1))
    made.episode(target, "qcr", True, steps=[call("book", city="Linz")], note=note, text="Mind the city.")
    return made.write(folder)


def out_of(folder: Path, field: str) -> Path:
    redact(folder, [Selector.parse(field)])
    return folder


REPORTED = [field for field in TEXTS if field not in ("verdict.milestones", "record.content")]
"""Without the milestones there is no milestone progress; the run that is reported has no records' content."""


@pytest.mark.parametrize("field", REPORTED)
def test_a_run_without_a_field_is_loaded_and_reported_with_its_outcomes_unchanged(tmp_path: Path, field: str) -> None:
    whole = load_run(reported(tmp_path / "whole")).episodes
    folder = out_of(reported(tmp_path / "run"), field)
    same = ["cell", "outcome", "success", "milestone", "ending", "i_base", "online"]
    assert load_run(folder).episodes[same].equals(whole[same])
    assert any("redacted" in note for note in build(folder).notes)


@pytest.mark.parametrize("field", ["step.observation", "step.action.args", "target.task.goal", "retrieval.query"])
def test_without_what_an_agent_was_shown_nobody_says_whether_it_used_a_stale_value(tmp_path: Path, field: str) -> None:
    assert load_run(reported(tmp_path / "whole")).episodes["stale"].tolist() == [1, 0]
    episodes = load_run(out_of(reported(tmp_path / "run"), field)).episodes
    assert episodes[["stale", "rebound", "bound_share"]].isna().all(axis=None)
    assert not episodes["checkable"].any()


@pytest.mark.parametrize("field", ["step.observation", "step.calls[*]", "step.action", "call.messages"])
def test_a_resume_needs_no_text_of_a_step(tmp_path: Path, field: str) -> None:
    folder = redacted(tmp_path, field)
    (tmp_path / "whole").mkdir()
    assert Past.read(folder).ended == Past.read(write(clean_run(), tmp_path / "whole")).ended


def test_a_violation_in_what_is_left_is_still_found(tmp_path: Path) -> None:
    entries = clean_run()
    said: Any = next(e for e in entries if e.kind == "call").data
    said["messages"][-1]["content"] += f" {SOURCE_CANARY}"
    write(entries, tmp_path)
    redact(tmp_path, [Selector.parse("step.observation"), Selector.parse("support.text")])
    found = audit(tmp_path)
    assert found["canaries"] == 1
    assert not holds(found)


NEEDS: dict[str, Callable[[Path], object]] = {
    "plan.targets": audit,
    "target.seal": audit,
    "start.cell": audit,
    "selection.candidates": Past.read,
    "episode.tokens": load_run,
    "support.completions": load_run,
    "verdict.milestones": load_run,
}


@pytest.mark.parametrize("field", NEEDS)
def test_what_a_computation_cannot_do_without_is_named(tmp_path: Path, field: str) -> None:
    folder = redacted(tmp_path, field)
    kind, name = field.split(".")
    with pytest.raises(LedgerError, match=rf"\({kind}\) was redacted at /{name}"):
        NEEDS[field](folder)


def test_a_redacted_value_tells_its_digest_and_not_its_length(tmp_path: Path) -> None:
    folder = redacted(tmp_path, "step.observation")
    value = next(e for e in read_events(folder) if e.kind == "step").data["observation"]
    assert (value, len(value.digest)) == ("[redacted]", 64)
    for asked in (len, list, lambda text: "red" in text):
        with pytest.raises(TypeError):
            asked(value)
