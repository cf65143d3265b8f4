"""`rebind bench crash`: kills a study (kill -9) at random moments, resumes it, and compares what is left with a run
that nobody killed."""

from __future__ import annotations

import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rebind.banks.files import Progress, silent
from rebind.errors import RebindError
from rebind.eval.bench.small_study import prepare
from rebind.eval.ledger import LEDGER_FILE, MANIFEST_FILE, read_events, verify

_DONE = re.compile(r"(\d+)/(\d+) after")
"""The command's progress lines: cells whose episodes are acknowledged, of all."""
_POLL = 0.002
_PATIENCE = 600.0
"""Seconds a run may take at most."""
_EARLY, _TORN = 0.15, 0.5
"""Shares of kills while the program is still starting, and of those that leave a torn line."""


class CrashFailure(RebindError):
    """The run under test failed by itself."""


@dataclass
class _Tally:
    """What the kills came to."""

    kills: int = 0
    torn: int = 0
    """Kills after which the ledger ended within a line."""
    rounds: int = 0
    """Runs killed, resumed and finished."""
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    """Of the resumes that ended a round."""


def run(kills: int = 20, seed: int = 0, progress: Progress = silent) -> dict[str, Any]:
    """Runs a small simulated study through the real command, over and over, each time killed at random moments until it
    is done, until there were `kills` kills.

    After about half of the kills the ledger is made to end within a line, as a write that was cut short leaves it: a
    kill alone seldom hits one.

    Returns:
        `kills`, `torn`, `rounds`, `lost` (episodes that were in the ledger, or that the command had reported, when it
        was killed, and are not there at the end), `doubled` (cells with two valid episodes), `tables_equal` (every
        table of the report as in the run nobody killed), `details` (a sentence for each failure).

    Raises:
        CrashFailure: a run that was not killed failed.
    """
    rng, tally = random.Random(seed), _Tally()
    with tempfile.TemporaryDirectory(prefix="rebind-crash-") as scratch:
        study = prepare(Path(scratch) / "study")
        whole = Path(scratch) / "whole"
        _finish(study, whole)
        expected, size = tables_of(whole), (whole / LEDGER_FILE).stat().st_size
        while tally.kills < kills:
            folder = Path(scratch) / f"round-{tally.rounds}"
            _round(study, folder, kills, size, rng, tally, progress)
            tally.differing += compare(expected, tables_of(folder))
            tally.rounds += 1
            shutil.rmtree(folder)
    return {
        "kills": tally.kills,
        "torn": tally.torn,
        "rounds": tally.rounds,
        "lost": len(tally.lost),
        "doubled": len(tally.doubled),
        "tables_equal": not tally.differing,
        "resume_seconds": round(sum(tally.seconds) / len(tally.seconds), 2),
        "details": [*tally.lost, *tally.doubled, *tally.differing],
    }


def _round(
    study: Path, folder: Path, kills: int, size: int, rng: random.Random, tally: _Tally, progress: Progress
) -> None:
    """One run: killed several times, then left to end."""
    acknowledged: dict[str, str] = {}
    share = size / rng.randint(4, 8)
    while tally.kills < kills:
        reported = _killed_run(study, folder, rng, share)
        if reported is None:
            break
        tally.kills += 1
        progress("kills", tally.kills, kills)
        episodes = episodes_of(folder)
        if len(episodes) < reported:
            tally.lost.append(f"{reported} cells were reported done, {len(episodes)} episodes are in the ledger")
        acknowledged |= episodes
        tally.torn += _tear(folder, rng)
    began = time.monotonic()
    _finish(study, folder)
    tally.seconds.append(time.monotonic() - began)
    tally.lost += lost(acknowledged, episodes_of(folder))
    tally.doubled += doubled(folder)
    found = verify(folder)
    if not found.ok or found.manifest != "matches":
        tally.differing.append(f"the ledger does not verify: {found.why}")


def _command(study: Path, folder: Path) -> list[str]:
    call = "from rebind.cli import main; main()"
    return [sys.executable, "-c", call, "study", "run", str(study), "--out", str(folder), "--json"]


def _killed_run(study: Path, folder: Path, rng: random.Random, share: float) -> int | None:
    """Starts or resumes the run and kills it: a little after its ledger grew by a random number of bytes, or while it
    starts. Returns how many cells it had reported done, or None where it ended before."""
    ledger = folder / LEDGER_FILE
    before = ledger.stat().st_size if ledger.exists() else 0
    threshold = before + int(rng.uniform(0, 2 * share))
    deadline = time.monotonic() + (rng.uniform(0, 2.5) if rng.random() < _EARLY else _PATIENCE)
    log = folder.with_suffix(".log")
    with log.open("w") as errors:
        process = subprocess.Popen(_command(study, folder), stdout=subprocess.DEVNULL, stderr=errors)
        while process.poll() is None and time.monotonic() < deadline:
            if ledger.exists() and ledger.stat().st_size > threshold:
                time.sleep(rng.uniform(0, 0.05))
                break
            time.sleep(_POLL)
        process.send_signal(signal.SIGKILL)
        process.wait()
    if process.returncode == 0:
        return None
    if process.returncode != -signal.SIGKILL:
        raise CrashFailure(f"the run under test failed by itself: {log.read_text()[-2000:]}")
    return _reported(log.read_text())


def _reported(text: str) -> int:
    """Cells that the command had said were done, by its last progress line about episodes."""
    lines = [found for line in text.splitlines() if (found := _DONE.search(line)) and "selecting" not in line]
    return int(lines[-1].group(1)) if lines else 0


def _tear(folder: Path, rng: random.Random) -> bool:
    """Leaves the beginning of a line at the ledger's end, half of the time, as a write that the kill or the machine cut
    short does; returns whether the file ends within a line now. A finished run is left alone: nothing writes to it any
    more, so that a torn line in it would be an edit."""
    if (folder / MANIFEST_FILE).exists():
        return False
    path = folder / LEDGER_FILE
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    if not lines:
        return False
    if rng.random() < _TORN and lines[-1].endswith(b"\n"):
        line = rng.choice(lines)
        with path.open("ab") as ledger:
            ledger.write(line[: rng.randrange(1, len(line))])
    return not path.read_bytes().endswith(b"\n")


def _finish(study: Path, folder: Path) -> None:
    done = subprocess.run(_command(study, folder), capture_output=True, text=True, timeout=_PATIENCE, check=False)
    if done.returncode != 0:
        raise CrashFailure(f"the run under test failed by itself: {done.stderr[-2000:]}")


def episodes_of(folder: Path) -> dict[str, str]:
    """The episodes in a ledger, as cell and attempt, with the hash of each event."""
    if not (folder / LEDGER_FILE).exists():
        return {}
    return {f"{e.cell}#{e.attempt}": e.hash for e in read_events(folder) if e.kind == "episode"}


def lost(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """Sentences for episodes that were there and are not, or not as they were."""
    return [f"episode {name} is gone or changed" for name, digest in before.items() if after.get(name) != digest]


def doubled(folder: Path) -> list[str]:
    """Sentences for cells with more than one valid episode."""
    valid = Counter(e.cell for e in read_events(folder) if e.kind == "episode" and e.data["outcome"] == "valid")
    return [f"cell {cell} has {count} valid episodes" for cell, count in valid.items() if count > 1]


def tables_of(folder: Path) -> dict[str, Any]:
    """Every table of a run's report, by its id."""
    from rebind.eval.report import build

    return {table.id: table.model_dump(mode="json") for table in build(folder).tables}


def compare(expected: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Sentences for the tables that are not the same."""
    return [
        f"table {name!r} differs" for name in sorted(expected.keys() | found) if expected.get(name) != found.get(name)
    ]
