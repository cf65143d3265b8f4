"""A ledger read in two processes says what it says when it is read in one."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.ledgers import MadeRun, call

from rebind.eval import halves
from rebind.eval.bench.big_ledger import write_big_ledger
from rebind.eval.halves import read_ledger
from rebind.eval.reading import Reader
from rebind.eval.stories import Steps


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("big")
    assert write_big_ledger(folder, sources=1) == (40, 1_000)
    return folder


def said(reader: Reader) -> object:
    assert reader.first
    assert reader.last
    rows = sorted(reader.rows, key=lambda row: (row["cell"], row["attempt"]))
    ends = (reader.first.n, reader.last.n, reader.last.hash, reader.redacted)
    return rows, reader.finals, reader.stories, reader.discrepancies, ends, reader.targets.keys(), reader.plan


def test_two_halves_make_the_whole(folder: Path) -> None:
    whole, shared = read_ledger(folder, big=1 << 60), read_ledger(folder, big=0)
    assert len(whole.finals) == 40
    assert [row["cell"] for row in shared.rows] == [row["cell"] for row in whole.rows]
    assert said(shared) == said(whole)


def test_the_second_process_does_its_half(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is never read whole where two processes can share it."""
    monkeypatch.setattr(halves, "_whole", lambda path: pytest.fail(f"{path} was read whole"))
    assert len(read_ledger(folder, big=0).finals) == 40


def test_the_steps_of_either_half_are_found_again(folder: Path) -> None:
    run = read_ledger(folder, big=0)
    with Steps(folder) as steps:
        assert sum(len(steps.of(story)) for story in run.stories.values()) == 1_000


def test_a_study_that_goes_on_late_is_read_whole(tmp_path: Path) -> None:
    """As in a ledger of two runs' worth: a target that is only named after the first attempts."""
    made = MadeRun(conditions=("none",))
    made.record("r", {"person": "Ben"})
    first = made.target("Pay Anna.", "r", {"person": "Anna"})
    made.episode(first, "none", True, steps=[call("x", "y" * 4_000)])
    early = made._study, made._episodes
    made._study, made._episodes = [], []
    second = made.target("Pay Eva.", "r", {"person": "Eva"})
    made.episode(second, "none", True)
    late = [(kind, data, None, None) for kind, data in made._study] + made._episodes
    made._study, made._episodes = early[0], early[1] + late
    assert len(read_ledger(made.write(tmp_path), big=0).finals) == 2


def test_a_broken_half_is_reported_as_a_broken_ledger(tmp_path: Path) -> None:
    from rebind.errors import LedgerError

    made = MadeRun(conditions=("none",))
    made.record("r", {"person": "Ben"})
    for n in range(6):
        made.episode(made.target(f"Pay Anna {n}.", "r", {"person": "Anna"}), "none", True)
    path = made.write(tmp_path) / "ledger.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:-1], b"{}\n"]))
    with pytest.raises(LedgerError, match="no event of a ledger"):
        read_ledger(tmp_path, big=0)
