"""The ledger's writer: torn tails, threads, locks, failures, kills, and going on after the end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rebind.errors import LedgerError
from rebind.eval.ledger import LEDGER_FILE, MANIFEST_FILE, Ledger, read_events, verify, writer
from rebind.types import Cell

CELL = Cell(target="0123456789abcdef" * 4, condition="none", seed=3)


def test_what_is_appended_is_what_is_read(tmp_path: Path) -> None:
    step = {"index": 0, "observation": "→ 😀\n", "ratio": 1.0, "none": None}
    with Ledger.open(tmp_path) as ledger:
        ledger.append("plan", {"name": "p", "seeds": [1, 2]})
        ledger.append("step", step, CELL, attempt=1)
    plan, told = read_events(tmp_path)
    assert (plan.n, plan.kind, plan.cell, plan.attempt, plan.data) == (
        0,
        "plan",
        None,
        None,
        {"name": "p", "seeds": [1, 2]},
    )
    assert (told.n, told.kind, told.cell, told.attempt, told.data) == (1, "step", "0123456789abcdef/none/3", 1, step)


def test_a_torn_last_line_of_any_length_is_cut_off_and_reported(tmp_path: Path) -> None:
    with Ledger.open(tmp_path) as ledger:
        ledger.append("start", {"attempt": 1}, CELL, 1)
        ledger.append("step", {"observation": "ü"}, CELL, 1)
    path = tmp_path / LEDGER_FILE
    whole = path.read_bytes()
    first, last = whole.splitlines(keepends=True)
    for length in range(1, len(last)):
        path.write_bytes(first + last[:length])
        with Ledger.open(tmp_path) as ledger:
            assert len(ledger.repairs) == 1
            assert f"{length} bytes" in ledger.repairs[0]
            ledger.append("step", {"observation": "again"}, CELL, 1)
        events = list(read_events(tmp_path))
        assert [e.kind for e in events] == ["start", "note", "step"]
        cut = events[1].data["cut"]
        assert isinstance(cut, dict)
        assert cut["bytes"] == length
        assert verify(tmp_path).ok


def test_an_intact_ledger_is_opened_without_a_repair(tmp_path: Path) -> None:
    for n in range(3):
        with Ledger.open(tmp_path) as ledger:
            assert ledger.repairs == ()
            ledger.append("note", {"opened": n})
    assert [e.data for e in read_events(tmp_path)] == [{"opened": n} for n in range(3)]


def test_an_edited_ledger_is_not_opened(tmp_path: Path) -> None:
    with Ledger.open(tmp_path) as ledger:
        for n in range(3):
            ledger.append("note", {"value": n})
    path = tmp_path / LEDGER_FILE
    path.write_bytes(path.read_bytes().replace(b'"value":1', b'"value":7'))
    with pytest.raises(LedgerError, match="line 2"):
        Ledger.open(tmp_path)
    with pytest.raises(LedgerError, match="line 2"):  # and the lock of the first try was let go
        Ledger.open(tmp_path)


def test_a_finished_run_that_was_cut_is_not_opened(tmp_path: Path) -> None:
    with Ledger.open(tmp_path) as ledger:
        ledger.append("note", {"value": 1})
        ledger.append("note", {"value": 2})
        ledger.seal()
    path = tmp_path / LEDGER_FILE
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    with pytest.raises(LedgerError, match="its end was cut off"):
        Ledger.open(tmp_path)


def test_two_writers_of_one_run_are_refused(tmp_path: Path) -> None:
    with Ledger.open(tmp_path), pytest.raises(LedgerError, match=f"pid {os.getpid()}"):
        Ledger.open(tmp_path)
    Ledger.open(tmp_path).close()


def test_threads_append_and_commit_at_once_without_breaking_the_chain(tmp_path: Path) -> None:
    threads, each = 8, 150

    def work(seed: int) -> None:
        cell = Cell(target="a" * 64, condition="none", seed=seed)
        for n in range(each):
            ledger.append("step", {"index": n}, cell, 1)
            if n % 10 == 9:
                ledger.commit()

    with Ledger.open(tmp_path) as ledger:
        workers = [threading.Thread(target=work, args=(seed,)) for seed in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    found = verify(tmp_path)
    assert (found.ok, found.events) == (True, threads * each)
    order: dict[str | None, list[object]] = {}
    for event in read_events(tmp_path):
        order.setdefault(event.cell, []).append(event.data["index"])
    assert list(order.values()) == [list(range(each))] * threads


def test_committers_at_once_share_one_fsync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entered, go_on = threading.Event(), threading.Event()
    real = writer._SYNC

    def slow(handle: int) -> None:
        entered.set()
        go_on.wait(10)
        real(handle)

    with Ledger.open(tmp_path) as ledger:
        monkeypatch.setattr(writer, "_SYNC", slow)
        ledger.append("note", {"n": 0})
        first = threading.Thread(target=ledger.commit)
        first.start()
        entered.wait(10)
        for n in range(1, 6):
            ledger.append("note", {"n": n})
        rest = [threading.Thread(target=ledger.commit) for _ in range(5)]
        for thread in rest:
            thread.start()
        go_on.set()
        for thread in (first, *rest):
            thread.join()
    assert ledger.fsyncs == 2  # one for the first, one for the five that waited; closing finds nothing left to sync


def test_a_failed_write_is_a_clear_error_and_nothing_more_is_appended(tmp_path: Path) -> None:
    script = """
import os, resource, signal, sys
from pathlib import Path
from rebind.errors import LedgerError
from rebind.eval.ledger import Ledger
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
ledger = Ledger.open(Path(sys.argv[1]))
ledger.append("note", {"n": 0})
ledger.commit()
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
ledger.append("note", {"text": "x" * 5000})
for act in (ledger.commit, lambda: ledger.append("note", {}), ledger.commit):
    try:
        act()
        print("no error")
    except LedgerError as error:
        print(error)
ledger.close()
"""
    done = subprocess.run([sys.executable, "-c", script, tmp_path], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    assert all("could not be written: File too large" in line and "resume the run" in line for line in lines)
    with Ledger.open(tmp_path) as ledger:
        assert len(ledger.repairs) == 1
    assert [e.data.get("n", "repair") for e in read_events(tmp_path)] == [0, "repair"]


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match="cannot be written"):
        Ledger.open(tmp_path / "file" / "run")


def test_a_closed_ledger_takes_nothing_more(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path)
    ledger.close()
    ledger.close()
    with pytest.raises(LedgerError, match="closed"):
        ledger.append("note", {})


@pytest.mark.parametrize("value", [float("nan"), 2**60, {3: 4}])
def test_a_value_that_json_cannot_hold_is_refused_and_the_ledger_goes_on(tmp_path: Path, value: object) -> None:
    with Ledger.open(tmp_path) as ledger:
        with pytest.raises(LedgerError, match="a 'note' event holds a value that JSON cannot"):
            ledger.append("note", {"value": value})  # type: ignore[dict-item]  # the mistake under test
        ledger.append("note", {"value": "fine"})
    assert [e.data for e in read_events(tmp_path)] == [{"value": "fine"}]


def test_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    with Ledger.open(tmp_path) as ledger, pytest.raises(LedgerError, match="'stpe' is no kind"):
        ledger.append("stpe", {})  # type: ignore[arg-type]  # the mistake under test


def test_lone_surrogates_from_a_model_are_replaced_rather_than_lost_with_their_episode(tmp_path: Path) -> None:
    with Ledger.open(tmp_path) as ledger:
        ledger.append("call", {"text": "a \ud800 b", "\udfff": 1, "z": 2})
    assert [event.data for event in read_events(tmp_path)] == [{"text": "a \ufffd b", "\ufffd": 1, "z": 2}]
    assert verify(tmp_path).ok


def test_going_on_after_the_manifest_removes_it_and_notes_what_it_said(tmp_path: Path) -> None:
    with Ledger.open(tmp_path) as ledger:
        ledger.append("note", {"n": 0})
        sealed = ledger.seal()
    with Ledger.open(tmp_path) as ledger:
        assert ledger.seal() == sealed  # nothing was added: the manifest stands
        assert (tmp_path / MANIFEST_FILE).exists()
        ledger.append("note", {"n": 1})
        assert not (tmp_path / MANIFEST_FILE).exists()
        again = ledger.seal()
    assert again.events == 3
    data = [e.data for e in read_events(tmp_path)]
    assert data == [{"n": 0}, {"reopened": sealed.model_dump(mode="json")}, {"n": 1}]
    assert verify(tmp_path).manifest == "matches"


def test_a_file_changed_under_the_writer_is_not_sealed(tmp_path: Path) -> None:
    with Ledger.open(tmp_path) as ledger:
        ledger.append("note", {"n": 0})
        ledger.commit()
        path = tmp_path / LEDGER_FILE
        path.write_bytes(path.read_bytes().replace(b'"n":0}', b'"n":1}'))
        with pytest.raises(LedgerError, match="changed while"):
            ledger.seal()


WRITER = """
import sys
from pathlib import Path
from rebind.eval.ledger import Ledger
ledger = Ledger.open(Path(sys.argv[1]))
for n in range(1_000_000):
    ledger.append("note", {"n": n, "text": "x" * (n % 700)})
    if n % 7 == 0:
        ledger.commit()
        print(n, flush=True)
"""


def test_a_writer_killed_at_any_moment_loses_nothing_it_had_committed(tmp_path: Path) -> None:
    for kill, wait_for in enumerate((1, 40, 300)):
        folder = tmp_path / str(kill)
        process = subprocess.Popen([sys.executable, "-c", WRITER, folder], stdout=subprocess.PIPE, text=True)
        assert process.stdout
        acknowledged = [int(process.stdout.readline()) for _ in range(wait_for)]
        process.send_signal(signal.SIGKILL)
        acknowledged += [int(line) for line in process.stdout.read().split("\n")[:-1]]
        process.wait()
        with Ledger.open(folder):
            pass
        assert verify(folder).ok
        kept = [e.data["n"] for e in read_events(folder) if "n" in e.data]
        assert kept == list(range(len(kept)))
        assert len(kept) > acknowledged[-1]


def test_threads_that_fill_the_buffer_while_others_commit_do_not_disturb_each_other(tmp_path: Path) -> None:
    text = "x" * 30_000
    with Ledger.open(tmp_path) as ledger, ThreadPoolExecutor(8) as pool:

        def episode(_: int) -> None:
            for _ in range(12):
                ledger.append("note", {"text": text})
            ledger.commit()

        list(pool.map(episode, range(120)))
    assert verify(tmp_path).events == 120 * 12
