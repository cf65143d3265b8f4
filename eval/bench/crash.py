"""`rebind bench crash`: kills a study (kill -9) at random moments, resumes it, and compares what is left with a run
that nobody killed."""

from __future__ import annotations

import random
import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rebind.banks.files import silent
from rebind.eval.bench.small_study import prepare
from rebind.eval.bench.victims import POINTS, check, cold_run, finish, output, warm_run
from rebind.eval.ledger import LEDGER_FILE, MANIFEST_FILE, read_events, verify
from rebind.types import Progress

_DONE = re.compile(r"(\d+)/(\d+) after")
"""The command's progress lines: cells whose episodes are acknowledged, of all."""
_TARGETS = 2
_PER_ROUND = (5, 9)
"""Kills of one run, at least and at most."""
_COLD, _TORN = 0.08, 0.5
"""Shares of kills while an interpreter starts, and of those that leave a torn line."""
_AT_LOCK, _AT_SEAL = 0.25, 0.5
"""Shares of rounds that begin with a kill at the lock, and that end with one at the seal."""
_LATEST_COLD = 3.0
"""Seconds."""
_AT_ONCE = 2


@dataclass
class _Tally:
    """What the kills came to."""

    kills: int = 0
    torn: int = 0
    """Kills after which the ledger ended within a line."""
    rounds: int = 0
    """Runs killed, resumed and finished."""
    moments: Counter[str] = field(default_factory=Counter)
    """Kills by where they hit."""
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    """Of the resumes that ended a round."""

    def add(self, other: _Tally) -> None:
        for name in ("kills", "torn", "rounds", "lost", "doubled", "differing", "seconds"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.moments.update(other.moments)


@dataclass(frozen=True)
class _Whole:
    """The study under test, and the run of it that nobody killed."""

    study: Path
    size: int
    """Bytes of its ledger."""
    tables: dict[str, Any]


def run(kills: int = 20, seed: int = 0, progress: Progress = silent) -> dict[str, Any]:
    """Runs a small simulated study through the real command, over and over, each time killed at random moments until it
    is done, until there were `kills` kills.

    Each killed process is a real one that runs the whole command; most are forked from one that has imported
    everything, some begin with an interpreter of their own. Kills are spread over the bytes of the ledger, and some hit
    the calls that write lock and manifest. After about half of the kills the ledger is made to end within a line, as a
    write that was cut short leaves it: a kill alone seldom hits one.

    Returns:
        `kills`, `torn`, `rounds`, `moments` (kills by where they hit), `lost` (episodes that were in the ledger, or
        that the command had reported, when it was killed, and are not there at the end), `doubled` (cells with two
        valid episodes), `tables_equal` (every table of the report as in the run nobody killed), `resume_seconds` (mean
        of the resumes that ended a run), `seconds`, `details` (a sentence for each failure).

    Raises:
        CrashFailure: a run that was not killed failed.
    """
    tally, began = _Tally(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="rebind-crash-") as scratch:
        study = prepare(Path(scratch) / "study", targets=_TARGETS)
        folder = Path(scratch) / "whole"
        finish(study, folder, cold=True)
        whole = _Whole(study, (folder / LEDGER_FILE).stat().st_size, tables_of(folder))
        rounds = Path(scratch) / "rounds"
        rounds.mkdir()
        while tally.kills < kills:
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                shares = enumerate(_shares(kills - tally.kills, random.Random(f"{seed}/{tally.kills}")), tally.rounds)
                futures = [
                    pool.submit(_round, whole, rounds / str(n), k, random.Random(f"{seed}/{n}")) for n, k in shares
                ]
                for future in as_completed(futures):
                    tally.add(future.result())
                    progress("kills", tally.kills, kills)
    return {
        "kills": tally.kills,
        "torn": tally.torn,
        "rounds": tally.rounds,
        "moments": dict(sorted(tally.moments.items())),
        "lost": len(tally.lost),
        "doubled": len(tally.doubled),
        "tables_equal": not tally.differing,
        "resume_seconds": round(sum(tally.seconds) / len(tally.seconds), 2),
        "seconds": round(time.monotonic() - began, 1),
        "details": [*tally.lost, *tally.doubled, *tally.differing],
    }


def _shares(kills: int, rng: random.Random) -> Iterator[int]:
    """Kills of each round, together `kills`."""
    while kills > 0:
        share = min(kills, rng.randint(*_PER_ROUND))
        yield share
        kills -= share


def _round(whole: _Whole, folder: Path, kills: int, rng: random.Random) -> _Tally:
    """One run: killed as often as it lives to be, then left to end, and compared."""
    tally, acknowledged = _Tally(rounds=1), dict[str, str]()
    for n in range(kills):
        moment = _killed_run(whole, folder, rng, kills, first=n == 0, last=n == kills - 1)
        if moment is None:
            break
        tally.kills += 1
        tally.moments[moment] += 1
        episodes, reported = episodes_of(folder), _reported(output(folder))
        if len(episodes) < reported:
            tally.lost.append(f"{reported} cells were reported done, {len(episodes)} episodes are in the ledger")
        acknowledged |= episodes
        tally.torn += _tear(folder, rng)
    began = time.monotonic()
    finish(whole.study, folder)
    tally.seconds.append(time.monotonic() - began)
    tally.lost += lost(acknowledged, episodes_of(folder))
    tally.doubled += doubled(folder)
    found = verify(folder)
    if not found.ok or found.manifest != "matches":
        tally.differing.append(f"the ledger does not verify: {found.why}")
    tally.differing += compare(whole.tables, tables_of(folder))
    shutil.rmtree(folder)
    return tally


def _killed_run(whole: _Whole, folder: Path, rng: random.Random, kills: int, *, first: bool, last: bool) -> str | None:
    """Starts or resumes the run and kills it: at a named point, while its interpreter starts, or a little after its
    ledger grew by a random number of bytes. Returns where it was hit, or None where it ended before."""
    if rng.random() < _COLD:
        code, moment = cold_run(whole.study, folder, rng.uniform(0, _LATEST_COLD)), "interpreter starting"
    elif rng.random() < _AT_LOCK * first + _AT_SEAL * (last and not first):
        moment = rng.choice([name for name in POINTS if name.startswith("lock" if first else "seal")])
        code = warm_run(whole.study, folder, lambda _: False, moment)
    else:
        ledger = folder / LEDGER_FILE
        before = ledger.stat().st_size if ledger.exists() else 0
        threshold = before + int(rng.uniform(0, 1.5 * whole.size / kills))
        code = warm_run(whole.study, folder, _Grown(ledger, threshold, rng.uniform(0, 0.05)))
        size = ledger.stat().st_size if ledger.exists() else 0
        moment = f"ledger at {min(90, 10 * (10 * size // whole.size)):02d} %" if size else "before the first event"
    check(code, folder, killed=True)
    return None if code == 0 else moment


@dataclass
class _Grown:
    """Whether it is time to kill: the ledger is longer than a threshold, since so many seconds."""

    ledger: Path
    threshold: int
    late: float
    since: float | None = None

    def __call__(self, seconds: float) -> bool:
        if self.since is None and self.ledger.exists() and self.ledger.stat().st_size > self.threshold:
            self.since = seconds
        return self.since is not None and seconds >= self.since + self.late


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
