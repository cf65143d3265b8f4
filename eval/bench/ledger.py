"""What the ledger takes in and gives back: events and episodes a second, and the time, memory and page of a report over
a big run (simulated; see `big_ledger`)."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from rebind.errors import RebindError
from rebind.eval.bench.big_ledger import CONDITIONS, SEEDS, write_big_ledger
from rebind.eval.ledger import LEDGER_FILE
from rebind.types import SHIFT_LEVELS, Progress

EPISODES = 10_000
_PARTS = 3
_GLANCE = 0.02
"""Seconds between two looks at a running report."""


def run(progress: Progress, episodes: int = EPISODES) -> dict[str, Any]:
    """Measures rates, then reports on a fresh ledger of that many episodes, 25 steps each on average.

    Returns:
        What `ledger_rates.measure` says, and of the report: `simulated` (True), `episodes`, `steps`, `ledger_mb`,
        `write_s` (to make the ledger), `report_s` (wall), `report_cpu_s`, `report_mb` (peak resident), `html_mb`.
    """
    from rebind.eval.bench.ledger_rates import measure

    progress("rates", 0, _PARTS)
    found = measure()
    with tempfile.TemporaryDirectory(prefix="rebind-bench-ledger-") as scratch:
        folder = Path(scratch) / "big"
        progress("writing the ledger", 1, _PARTS)
        began = time.perf_counter()
        written, steps = write_big_ledger(
            folder, max(1, episodes // (len(SHIFT_LEVELS) * len(CONDITIONS) * len(SEEDS)))
        )
        took = time.perf_counter() - began
        progress("report", 2, _PARTS)
        made = report_on(folder, Path(scratch) / "out")
        progress("done", _PARTS, _PARTS)
        size = (folder / LEDGER_FILE).stat().st_size / 1e6
    about = {
        "simulated": True,
        "episodes": written,
        "steps": steps,
        "ledger_mb": round(size, 1),
        "write_s": round(took, 1),
    }
    return {**found, **about, **made}


def report_on(run_folder: Path, out: Path) -> dict[str, float]:
    """Runs `rebind report` in a process of its own: wall and processor seconds, resident memory (the peaks of the
    process and of the one it starts, added) and the size of the page, both in millions of bytes.

    Raises:
        RebindError: the report failed.
    """
    words = ["report", str(run_folder), "--out", str(out)]
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", "from rebind.cli import main; main()", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    peaks: dict[int, int] = {}
    ended, status, used = 0, 0, None
    while not ended:
        _note_peaks(process.pid, peaks)
        time.sleep(_GLANCE)
        ended, status, used = os.wait4(process.pid, os.WNOHANG)
    took = time.perf_counter() - began
    assert used is not None
    if status:
        raise RebindError(
            f"`rebind {' '.join(words)}` failed with status {os.waitstatus_to_exitcode(status)}; run it to see why"
        )
    peaks.setdefault(process.pid, used.ru_maxrss * _rss_unit())
    return {
        "report_s": round(took, 2),
        "report_cpu_s": round(used.ru_utime + used.ru_stime, 2),
        "report_mb": round(sum(peaks.values()) / 1e6, 1),
        "html_mb": round((out / "report.html").stat().st_size / 1e6, 2),
    }


def _note_peaks(process: int, peaks: dict[int, int]) -> None:
    """Takes down the peak resident memory of a process and its children so far, in bytes, where the system tells."""
    with suppress(OSError, IndexError):
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        for each in (process, *map(int, children)):
            status = Path(f"/proc/{each}/status").read_text()
            peaks[each] = max(peaks.get(each, 0), 1024 * int(status.split("VmHWM:")[1].split()[0]))


def _rss_unit() -> int:
    """Bytes in one unit of `ru_maxrss`: kibibytes on Linux, bytes on macOS."""
    return 1 if sys.platform == "darwin" else 1024
