"""Runs on shared storage: sent while they go on, taken up by another machine, written by one process at a time."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.s3 import s3, url  # noqa: F401  # fixtures

from rebind.banks.storage import Remote, StorageError
from rebind.eval import mirror
from rebind.eval.ledger import LEDGER_FILE, MANIFEST_FILE, Ledger, verify
from rebind.eval.ledger.lines import parse_line
from rebind.eval.mirror import run_here, written_here


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes this process use the cache of a machine, by name."""

    def use(name: str) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / f"cache-{name}"))

    return use


@contextmanager
def _ledger(place: str) -> Iterator[Ledger]:
    with written_here(Path(place)) as folder, Ledger.open(folder) as ledger:
        yield ledger


def _note(place: str, *texts: str, seal: bool = False) -> None:
    with _ledger(place) as ledger:
        for text in texts:
            ledger.append("note", {"said": text})
        if seal:
            ledger.seal()


def _note_and(place: str, text: str, then: Callable[[], object]) -> None:
    with _ledger(place) as ledger:
        ledger.append("note", {"said": text})
        then()


def _said(folder: Path) -> list[str]:
    events = [parse_line(line) for line in (folder / LEDGER_FILE).read_bytes().splitlines(keepends=True)]
    return [e.data["said"] for e in events if e is not None and "said" in e.data]


def test_a_run_goes_on_where_another_machine_left_it(url: str, machine: Callable[[str], None]) -> None:  # noqa: F811
    for name, text in (("one", "a"), ("two", "b"), ("one", "c")):
        machine(name)
        _note(url, text)
    machine("three")
    assert _said(run_here(Path(url))) == ["a", "b", "c"]


def test_a_sealed_run_verifies_where_it_is_read(url: str, machine: Callable[[str], None]) -> None:  # noqa: F811
    _note(url, "a", seal=True)
    machine("reader")
    assert verify(run_here(Path(url))).manifest == "matches"
    machine("two")
    _note(url, "b")
    assert MANIFEST_FILE not in Remote(url).entries()
    machine("reader")
    assert _said(run_here(Path(url))) == ["a", "b"]
    assert not (run_here(Path(url)) / MANIFEST_FILE).exists()


def test_events_are_sent_while_the_run_goes_on(url: str, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.setattr(mirror, "EVERY", 0.05)
    with _ledger(url) as ledger:
        ledger.append("note", {"said": "early"})
        ledger.commit()
        until = time.monotonic() + 30
        while LEDGER_FILE not in Remote(url).entries():
            assert time.monotonic() < until
            time.sleep(0.05)
        assert _said(run_here(Path(url))) == ["early"]
    assert set(Remote(url).entries()) == {LEDGER_FILE}


def test_half_a_line_is_not_sent(url: str) -> None:  # noqa: F811
    with written_here(Path(url)) as folder:
        with Ledger.open(folder) as ledger:
            ledger.append("note", {"said": "whole"})
        with (folder / LEDGER_FILE).open("ab") as file:
            file.write(b'{"at":1')
    assert Remote(url).read(LEDGER_FILE) == (folder / LEDGER_FILE).read_bytes()[: -len(b'{"at":1')]


def test_a_run_that_was_continued_in_two_places_is_refused(url: str, machine: Callable[[str], None]) -> None:  # noqa: F811
    _note(url, "a")
    early = Remote(url).read(LEDGER_FILE)
    machine("two")
    _note(url, "b")
    machine("one")
    Remote(url).write(LEDGER_FILE, early or b"")
    _note(url, "c")
    machine("two")
    with pytest.raises(StorageError, match="continued in both"):
        _note(url, "d")


def test_a_run_that_another_machine_writes_is_refused_until_that_is_silent(url: str) -> None:  # noqa: F811
    other = {"host": "elsewhere", "process": 7, "at": time.time()}
    Remote(url).write("writer.json", json.dumps(other).encode())
    with pytest.raises(StorageError, match="being written by process 7 on elsewhere"):
        _note(url, "a")
    Remote(url).write("writer.json", json.dumps(other | {"at": time.time() - 700}).encode())
    _note(url, "a")
    assert "writer.json" not in Remote(url).entries()


def test_a_run_that_was_taken_over_meanwhile_is_not_sent_over_what_the_other_sent(url: str) -> None:  # noqa: F811
    other = json.dumps({"host": "elsewhere", "process": 7, "at": time.time()}).encode()
    with pytest.raises(StorageError, match="taken over by process 7 on elsewhere"):
        _note_and(url, "a", lambda: Remote(url).write("writer.json", other))
    assert Remote(url).read("writer.json") == other
    assert LEDGER_FILE not in Remote(url).entries()


def test_a_process_of_this_machine_that_died_does_not_bar_the_run(url: str) -> None:  # noqa: F811
    import platform
    import subprocess
    import sys

    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    gone = {"host": platform.node(), "process": dead.pid, "at": time.time()}
    Remote(url).write("writer.json", json.dumps(gone).encode())
    _note(url, "a")
    assert _said(run_here(Path(url))) == ["a"]


def test_what_could_not_be_sent_stays_and_the_next_start_sends_it(s3: None, machine: Callable[[str], None]) -> None:  # noqa: F811
    import s3fs

    machine("one")
    bucket = s3fs.S3FileSystem()
    bucket.mkdir("rebind-lost")
    with pytest.raises(StorageError, match="is safe in"):
        _note_and("s3://rebind-lost/run", "a", lambda: bucket.rm("rebind-lost", recursive=True))
    bucket.mkdir("rebind-lost")
    _note("s3://rebind-lost/run", "b")
    assert _said(run_here(Path("s3://rebind-lost/run"))) == ["a", "b"]


def test_a_url_without_a_run_is_named(url: str) -> None:  # noqa: F811
    with pytest.raises(StorageError, match=r"holds no ledger\.jsonl"):
        run_here(Path(url))
