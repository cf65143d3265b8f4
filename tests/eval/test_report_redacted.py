"""The report of a run some values of which were redacted afterwards."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path

import pytest
from support.ledgers import MadeRun, call

from rebind.errors import LedgerError
from rebind.eval.frames import load_run
from rebind.eval.ledger.redaction import Selector, redact
from rebind.eval.report import build, to_html


def paid(folder: Path) -> Path:
    made = MadeRun(conditions=("none", "full", "qcr"))
    for n in range(2):
        made.record(f"r{n}", {"person": "Ben Moss"})
        target = made.target(f"Pay Anna Keller, no. {n}.", f"r{n}", {"person": "Anna Keller"}, level="large")
        made.episode(target, "none", False, steps=[call("bank_list", "IBAN DE02 1203")])
        made.episode(
            target, "full", False, steps=[call("bank_transfer", "IBAN DE02 1203", to="Ben Moss")], text="Ben Moss did."
        )
        made.episode(target, "qcr", True, steps=[call("bank_transfer", "IBAN DE02 1203", to="Anna Keller")])
    return made.write(folder)


def test_what_was_redacted_is_a_mark_on_the_page_and_the_numbers_stand(tmp_path: Path) -> None:
    folder = paid(tmp_path)
    before = build(folder)
    redact(folder, [Selector.parse(text) for text in ("step.observation", "step.calls", "support.text")], "IBAN")
    after = build(folder)
    assert after.provenance.redacted > 0
    assert any("were redacted" in note for note in after.notes)
    assert after.table("end_to_end").rows[0][1] == before.table("end_to_end").rows[0][1]
    packed = "".join(zlib.decompress(base64.b64decode(f.packed)).decode() for f in after.drill.families)
    everything = to_html(after) + packed
    assert "IBAN" not in everything
    assert "Ben Moss did." not in everything
    assert any(step and step[1] == "[redacted]" for f in json.loads(packed) for row in f["steps"] for step in row)


def test_redacted_bindings_are_no_values_to_look_for(tmp_path: Path) -> None:
    folder = paid(tmp_path)
    redact(folder, [Selector.parse("target.seal.bindings"), Selector.parse("record.seal.bindings")])
    run = load_run(folder)
    assert not run.targets["checkable"].any()
    assert "[redacted]" not in {use.value for story in run.stories.values() for use in story.stale}


def test_numbers_that_were_redacted_are_missed_by_name(tmp_path: Path) -> None:
    folder = paid(tmp_path)
    redact(folder, [Selector.parse("episode.cell")])
    with pytest.raises(LedgerError, match=r"\(episode\) was redacted at /cell"):
        build(folder)
