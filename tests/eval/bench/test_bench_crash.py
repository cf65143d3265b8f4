"""The crash benchmark would see a lost or doubled episode, a table that changed, and a ledger torn anywhere."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.audited import Entry, clean_run, write

from rebind.eval.bench.crash import _reported, _shares, _tear, compare, doubled, episodes_of, lost
from rebind.eval.bench.victims import POINTS
from rebind.eval.ledger import LEDGER_FILE, Ledger, verify


def cut(folder: Path, episodes: int) -> Path:
    """A run whose writer died in the middle of the episode after so many."""
    entries = clean_run()
    ends = [n for n, entry in enumerate(entries) if entry.kind == "episode"]
    return write(entries[: ends[episodes - 1] + 4], folder, seal=False)


def test_an_episode_that_is_gone_or_another_is_lost(tmp_path: Path) -> None:
    before = episodes_of(cut(tmp_path / "a", 3))
    assert len(before) == 3
    assert lost(before, before) == []
    first, *rest = before
    assert lost(before, {name: before[name] for name in rest}) == [f"episode {first} is gone or changed"]
    assert lost(before, {**before, first: "0" * 64}) == [f"episode {first} is gone or changed"]
    assert episodes_of(tmp_path / "nothing") == {}


def test_a_second_valid_episode_of_a_cell_is_a_double_and_a_failed_attempt_is_none(tmp_path: Path) -> None:
    entries = clean_run()
    episode = next(entry for entry in entries if entry.kind == "episode")
    failed = Entry("episode", {**episode.data, "outcome": "invalid-infra"}, episode.cell, 1)
    assert doubled(write([*entries, failed], tmp_path / "a")) == []
    again = Entry("episode", episode.data, episode.cell, 1)
    assert len(doubled(write([*entries, again], tmp_path / "b"))) == 1


def test_a_table_that_is_missing_or_differs_is_named() -> None:
    assert compare({"a": 1, "b": 2}, {"a": 1, "b": 2}) == []
    assert compare({"a": 1, "b": 2}, {"a": 3, "c": 2}) == [f"table {name!r} differs" for name in "abc"]


def test_the_commands_last_word_on_episodes_is_read_past_those_on_selecting() -> None:
    selecting = "small: 6/6 after 1 s  selecting\n"
    assert (
        _reported(selecting + "small: 0/48 after 2 s  episodes\nsmall: 5/48 after 3 s, about 9 s left  qcr: done\n")
        == 5
    )
    assert _reported("small: 3/6 after 1 s  selecting\n") == 0
    assert _reported("") == 0


def test_the_kills_of_all_rounds_are_as_many_as_were_asked_for() -> None:
    for kills in (1, 7, 300):
        shares = list(_shares(kills, random.Random(kills)))
        assert sum(shares) == kills
        assert max(shares) <= 9


KILLED = """
import sys
from pathlib import Path
from rebind.eval.bench.victims import POINTS, _killer
sys.path.insert(0, sys.argv[3])
from support.audited import clean_run, write
from rebind.eval.lock import write_or_check
sys.addaudithook(_killer(POINTS[sys.argv[1]]))
folder = Path(sys.argv[2])
write_or_check(folder, {"study": 1})
write(clean_run(), folder)
"""


@pytest.mark.parametrize(
    ("point", "there"),
    [
        ("lock: before it is written", set()),
        ("lock: before it appears", {"study.lock.tmp"}),
        ("seal: before the manifest is written", {"study.lock", "ledger.jsonl", "ledger.lock"}),
        ("seal: before the manifest appears", {"study.lock", "ledger.jsonl", "ledger.lock", "manifest.json.tmp"}),
        ("seal: after the manifest appeared", {"study.lock", "ledger.jsonl", "ledger.lock", "manifest.json"}),
    ],
)
def test_a_named_point_kills_at_that_call_and_no_other(tmp_path: Path, point: str, there: set[str]) -> None:
    tests = Path(__file__).resolve().parents[2]
    folder = tmp_path / "run"
    words = [sys.executable, "-c", KILLED, point, str(folder), str(tests)]
    assert subprocess.run(words, check=False, capture_output=True).returncode == -signal.SIGKILL
    assert {p.name for p in folder.iterdir()} == there
    assert len(POINTS) == 5


def test_a_tear_spares_every_event_and_leaves_a_ledger_that_can_be_opened(tmp_path: Path) -> None:
    before = episodes_of(cut(tmp_path, 2))
    content = (tmp_path / LEDGER_FILE).read_bytes()
    torn = 0
    for seed in range(60):
        (tmp_path / LEDGER_FILE).write_bytes(content)
        tore = _tear(tmp_path, random.Random(seed))
        torn += tore
        with Ledger.open(tmp_path) as ledger:
            assert bool(ledger.repairs) == tore
        assert (tmp_path / LEDGER_FILE).read_bytes().startswith(content)
        assert episodes_of(tmp_path) == before
        assert verify(tmp_path).ok
    assert 15 < torn < 45
    assert not _tear(tmp_path / "nothing", random.Random(0))
