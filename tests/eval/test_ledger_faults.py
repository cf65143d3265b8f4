"""Faults of the disk and the clock: each ends in a clear error, nothing acknowledged is lost, and a resume works."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from rebind.errors import LedgerError
from rebind.eval.ledger import LEDGER_FILE, MANIFEST_FILE, Ledger, read_events, verify, writer

DISK = 256 * 1024
PAGE = 4096


def mounted(*arguments: str | Path) -> None:
    """Mounts, or skips the test where that is not allowed."""
    done = subprocess.run(["mount", *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"this test mounts a file system, which is not allowed here: {done.stderr.strip()}")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 256 KiB."""
    if shutil.which("mount") is None:
        pytest.skip("this test mounts a file system: there is no `mount` here")
    place = tmp_path / "disk"
    place.mkdir()
    mounted("-t", "tmpfs", "-o", f"size={DISK}", "rebind-test", place)
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def fill(disk: Path) -> Path:
    """Takes all that is left of a disk."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as out, suppress(OSError):
        for _ in range(DISK // 512 + 1):
            out.write(b"\0" * 512)
    assert shutil.disk_usage(disk).free == 0
    return filler


def acknowledged(folder: Path) -> list[object]:
    return [event.data["n"] for event in read_events(folder) if "n" in event.data]


def goes_on(folder: Path, known: list[int]) -> None:
    """A resume finds every acknowledged event, and the run can be finished."""
    with Ledger.open(folder) as ledger:
        kept = acknowledged(folder)
        assert kept[: len(known)] == known
        ledger.append("note", {"n": len(kept)})
        ledger.seal()
    found = verify(folder)
    assert (found.ok, found.manifest) == (True, "matches"), found.why
    assert acknowledged(folder) == list(range(len(kept) + 1))


def test_a_full_disk_stops_the_run_and_loses_nothing_acknowledged(disk: Path) -> None:
    folder, known = disk / "run", list[int]()
    ledger = Ledger.open(folder)

    def until_full() -> None:
        for n in range(10_000):
            ledger.append("note", {"n": n, "text": "x" * 700})
            ledger.commit()
            known.append(n)

    with pytest.raises(LedgerError, match=r"No space left on device.*What was committed is safe"):
        until_full()
    with pytest.raises(LedgerError, match="resume the run"):
        ledger.append("note", {"n": -1})
    ledger.close()
    assert len(known) > 100
    mounted("-o", f"remount,size={4 * DISK}", disk)
    goes_on(folder, known)


def test_every_thread_is_told_of_a_full_disk(disk: Path) -> None:
    folder, told = disk / "run", list[str]()
    ledger = Ledger.open(folder)
    fill(disk)

    def work() -> None:
        try:
            for n in range(100):
                ledger.append("note", {"thread": n, "text": "x" * 5_000})
                ledger.commit()
        except LedgerError as error:
            told.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    ledger.close()
    assert len(told) == 6
    assert all("No space left" in text for text in told)
    (disk / "filler").unlink()
    goes_on(folder, [])


def test_a_disk_that_is_full_when_the_manifest_is_due_leaves_a_run_that_can_be_finished(disk: Path) -> None:
    folder = disk / "run"
    with Ledger.open(folder) as ledger:
        ledger.append("note", {"n": 0})
        ledger.commit()
        filler = fill(disk)
        with pytest.raises(LedgerError, match=r"manifest.json could not be written: No space"):
            ledger.seal()
        assert sorted(path.name for path in folder.iterdir()) == [LEDGER_FILE, "ledger.lock"]
        assert verify(folder).manifest == "absent"
    filler.unlink()
    goes_on(folder, [0])


def test_a_torn_line_on_a_full_disk_is_a_clear_error_until_there_is_room(disk: Path) -> None:
    folder, known = disk / "run", list[int]()
    path = folder / LEDGER_FILE
    with Ledger.open(folder) as ledger:
        while not known or not PAGE - 200 < path.stat().st_size % PAGE < PAGE - 10:  # too little for the repair's note
            ledger.append("note", {"n": len(known)})
            ledger.commit()
            known.append(len(known))
    with path.open("ab") as out:
        out.write(b'{"at":1')
    fill(disk)
    with pytest.raises(LedgerError, match="No space left"):
        Ledger.open(folder)
    (disk / "filler").unlink()
    goes_on(folder, known)


def test_a_new_run_on_a_full_disk_is_a_clear_error(disk: Path) -> None:
    def begin() -> None:
        with Ledger.open(disk / "run") as ledger:
            ledger.append("note", {"n": 0})
            ledger.commit()

    fill(disk)
    with pytest.raises(LedgerError, match="No space left"):
        begin()
    (disk / "filler").unlink()
    goes_on(disk / "run", [])


def test_a_read_only_folder_can_be_read_and_verified_but_not_resumed(disk: Path) -> None:
    folder = disk / "run"
    with Ledger.open(folder) as ledger:
        ledger.append("note", {"n": 0})
    mounted("-o", "remount,ro", disk)
    assert verify(folder).ok
    assert acknowledged(folder) == [0]
    for place in (folder, disk / "new"):
        with pytest.raises(LedgerError, match="cannot be written: Read-only file system"):
            Ledger.open(place)
    mounted("-o", "remount,rw", disk)
    goes_on(folder, [0])


def test_a_disk_that_fails_to_sync_acknowledges_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(handle: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    ledger = Ledger.open(tmp_path)
    ledger.append("note", {"n": 0})
    ledger.commit()
    with monkeypatch.context() as patched:
        patched.setattr(writer, "_SYNC", failing)
        ledger.append("note", {"n": 1})
        with pytest.raises(LedgerError, match=r"Input/output error.*What was committed is safe"):
            ledger.commit()
    with pytest.raises(LedgerError, match="Input/output error"):  # though it would work now: what was lost is unknown
        ledger.commit()
    ledger.close()
    goes_on(tmp_path, [0])


def test_a_clock_that_jumps_backwards_changes_times_and_no_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter([2_000_000_000.5, 1_000_000_000.0, -5.25, 1_500_000_000.125] * 50)
    with monkeypatch.context() as patched:
        patched.setattr(time, "time", lambda: next(times))
        with Ledger.open(tmp_path) as ledger:
            for n in range(4):
                ledger.append("note", {"n": n})
            ledger.seal()
    assert verify(tmp_path).ok
    events = list(read_events(tmp_path))
    assert [event.n for event in events] == [0, 1, 2, 3]
    assert [event.at for event in events] == [2_000_000_000.5, 1_000_000_000.0, -5.25, 1_500_000_000.125]
    goes_on(tmp_path, [0, 1, 2, 3])


def test_a_ledger_deleted_while_it_is_written_is_put_back_and_the_run_stops(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path)
    for n in range(3):
        ledger.append("note", {"n": n, "text": "x" * 100_000})
        ledger.commit()
    (tmp_path / LEDGER_FILE).unlink()
    ledger.append("note", {"n": 3})
    with pytest.raises(LedgerError, match=r"it was removed; its events are in .*ledger.jsonl"):
        ledger.commit()
    with pytest.raises(LedgerError, match="it was removed"):
        ledger.append("note", {"n": 4})
    ledger.close()
    goes_on(tmp_path, [0, 1, 2])


def test_a_ledger_deleted_before_the_manifest_is_put_back_instead_of_sealed(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path)
    ledger.append("note", {"n": 0})
    ledger.commit()
    (tmp_path / LEDGER_FILE).unlink()
    with pytest.raises(LedgerError, match="it was removed"):
        ledger.seal()
    ledger.close()
    assert not (tmp_path / MANIFEST_FILE).exists()
    goes_on(tmp_path, [0])


def test_a_ledger_that_another_file_took_the_place_of_is_kept_beside_it(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path)
    ledger.append("note", {"n": 0})
    ledger.commit()
    (tmp_path / "other").write_text("something else")
    (tmp_path / "other").replace(tmp_path / LEDGER_FILE)
    ledger.append("note", {"n": 1})
    with pytest.raises(LedgerError, match=r"another file.*ledger\.rescued\.jsonl"):
        ledger.commit()
    ledger.close()
    assert (tmp_path / LEDGER_FILE).read_text() == "something else"
    (tmp_path / "ledger.rescued.jsonl").replace(tmp_path / LEDGER_FILE)
    goes_on(tmp_path, [0])


def test_a_run_folder_deleted_while_it_is_written_is_a_clear_error(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    ledger = Ledger.open(folder)
    ledger.append("note", {"n": 0})
    ledger.commit()
    shutil.rmtree(folder)
    ledger.append("note", {"n": 1})
    with pytest.raises(LedgerError, match="lost with the folder"):
        ledger.commit()
    ledger.close()
