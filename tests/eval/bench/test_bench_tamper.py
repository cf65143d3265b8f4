"""The tamper benchmark makes real edits of every kind, finds all of them, and would report one that it did not find."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support.audited import clean_run, write

from rebind.errors import LedgerError
from rebind.eval.bench.tamper import REDACTIONS, run
from rebind.eval.bench.tampering import EDITS, REDACTED, SIGNED, rechained
from rebind.eval.ledger import LEDGER_FILE, MANIFEST_FILE, verify
from rebind.eval.ledger.redaction import Selector, redact


def test_every_edit_of_a_finished_run_is_detected_and_the_run_is_left_alone(tmp_path: Path) -> None:
    folder = write(clean_run(), tmp_path)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    found = run(edits=10 * len(EDITS), seed=3, folder=folder)
    assert (found["edits"], found["detected"], found["missed"]) == (160, 160, [])
    assert found["kinds"] == {name: {"edits": 10, "detected": 10} for name in EDITS}
    assert found["by_signature"] == 10 * len(SIGNED)  # those forgeries are perfect to who has no key
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_changes_the_bytes(tmp_path: Path, name: str) -> None:
    folder = write(clean_run(), tmp_path)
    if name in REDACTED:
        redact(folder, [Selector.parse(field) for field in REDACTIONS])
    lines = (folder / LEDGER_FILE).read_bytes().splitlines(keepends=True)
    for seed in range(20):
        edited, what = EDITS[name](list(lines), random.Random(seed))
        assert edited != lines
        assert what


@pytest.mark.parametrize("name", ["forged value", "forged deletion", "forged run, order"])
def test_a_forgery_is_a_whole_chain_that_only_the_manifest_tells_from_the_real_one(tmp_path: Path, name: str) -> None:
    path = write(clean_run(), tmp_path) / LEDGER_FILE
    lines = path.read_bytes().splitlines(keepends=True)
    assert rechained(lines) == lines
    path.write_bytes(b"".join(EDITS[name](lines, random.Random(1))[0]))
    assert not verify(tmp_path).ok
    (tmp_path / MANIFEST_FILE).unlink()
    assert verify(tmp_path).ok


def test_edits_that_verification_would_miss_are_reported_as_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(EDITS, "flipped byte", lambda lines, rng: (lines, "nothing at all"))
    found = run(edits=2 * len(EDITS), folder=write(clean_run(), tmp_path))
    assert (found["detected"], found["missed"]) == (30, ["flipped byte: nothing at all"] * 2)


def test_a_run_that_is_not_finished_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="no finished run"):
        run(edits=1, folder=write(clean_run(), tmp_path, seal=False))
