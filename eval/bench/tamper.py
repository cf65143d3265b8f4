"""`rebind bench tamper`: edits a finished ledger in every way, one edit a copy, and counts what verification finds."""

from __future__ import annotations

import random
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rebind.banks.files import Progress, silent
from rebind.errors import LedgerError
from rebind.eval.ledger import LEDGER_FILE, MANIFEST_FILE, read_manifest, verify
from rebind.eval.ledger.chain import GENESIS, make_line

Lines = list[bytes]
_NUMBER = re.compile(rb"(?<=[:,\[])\d{1,9}(?=[,\]}])")
_TAIL = re.compile(rb'"hash":"[0-9a-f]{64}","kind":"([a-z]+)",[^{}]*}\n\Z')


def run(edits: int = 1000, seed: int = 0, folder: Path | None = None, progress: Progress = silent) -> dict[str, Any]:
    """Edits copies of the ledger of a finished run, of a small simulated one where none is given.

    Returns:
        `edits`, `detected`, `located` (found at a line), `events` of the ledger, `kinds` (each with `edits` and
        `detected`), and `missed`: a sentence for each edit that was not found.

    Raises:
        LedgerError: the run is not finished, or does not verify to begin with.
    """
    with tempfile.TemporaryDirectory(prefix="rebind-tamper-") as scratch:
        if folder is None:
            from rebind.eval.bench.small_study import finished_run

            folder = finished_run(Path(scratch) / "study")
        manifest = read_manifest(folder)
        if manifest is None or not verify(folder).ok:
            raise LedgerError(f"{folder} is no finished run that verifies: there is nothing to tamper with")
        copy = Path(scratch) / "copy"
        copy.mkdir()
        for name in {MANIFEST_FILE, *manifest.files}:
            shutil.copy(folder / name, copy)
        return {"events": manifest.events, **_tamper(copy, edits, random.Random(seed), progress)}


def _tamper(copy: Path, edits: int, rng: random.Random, progress: Progress) -> dict[str, Any]:
    lines = (copy / LEDGER_FILE).read_bytes().splitlines(keepends=True)
    made: Counter[str] = Counter()
    found: Counter[str] = Counter()
    located = 0
    missed: list[str] = []
    names = sorted(EDITS)
    for number in range(edits):
        name = names[number % len(names)]
        edited, what = EDITS[name](list(lines), rng)
        (copy / LEDGER_FILE).write_bytes(b"".join(edited))
        result = verify(copy)
        made[name] += 1
        found[name] += not result.ok
        located += result.first_bad is not None
        if result.ok:
            missed.append(f"{name}: {what}")
        progress(name, number + 1, edits)
    kinds = {name: {"edits": made[name], "detected": found[name]} for name in names}
    return {
        "edits": edits,
        "detected": found.total(),
        "located": located,
        "kinds": kinds,
        "missed": missed,
    }


def flip_byte(lines: Lines, rng: random.Random) -> tuple[Lines, str]:
    """Any byte becomes any other."""
    at = rng.randrange(len(lines))
    line = bytearray(lines[at])
    place = rng.randrange(len(line))
    line[place] ^= rng.randrange(1, 256)
    lines[at] = bytes(line)
    return lines, f"byte {place} of line {at + 1}"


def delete_lines(lines: Lines, rng: random.Random) -> tuple[Lines, str]:
    """One line, or a few in a row, are gone; the last ones among them, too."""
    at = rng.randrange(len(lines))
    count = rng.choice((1, 1, 1, 2, 5))
    del lines[at : at + count]
    return lines, f"{count} from line {at + 1}"


def swap_lines(lines: Lines, rng: random.Random) -> tuple[Lines, str]:
    """Two lines change places."""
    one, other = rng.sample(range(len(lines)), 2)
    lines[one], lines[other] = lines[other], lines[one]
    return lines, f"lines {one + 1} and {other + 1}"


def duplicate_line(lines: Lines, rng: random.Random) -> tuple[Lines, str]:
    """A line stands in one more place."""
    at, to = rng.randrange(len(lines)), rng.randrange(len(lines) + 1)
    lines.insert(to, lines[at])
    return lines, f"line {at + 1} again as line {to + 1}"


def truncate(lines: Lines, rng: random.Random) -> tuple[Lines, str]:
    """The end is cut off, between two lines or within one."""
    at = rng.randrange(len(lines))
    within = rng.choice((0, rng.randrange(len(lines[at]))))
    return [*lines[:at], lines[at][:within]], f"within line {at + 1}, after {within} bytes"


def forge_number(lines: Lines, rng: random.Random) -> tuple[Lines, str]:
    """A number in an event's data becomes another, and every hash from there on is made anew."""
    while True:
        at = rng.randrange(len(lines))
        numbers = list(_NUMBER.finditer(lines[at], lines[at].index(b'"data":'), _data_end(lines[at])))
        if numbers:
            break
    number = rng.choice(numbers)
    other = str(int(number.group()) + rng.randrange(1, 9)).encode()
    lines[at] = lines[at][: number.start()] + other + lines[at][number.end() :]
    return rechained(lines), f"{number.group().decode()} became {other.decode()} in line {at + 1}"


def forge_deletion(lines: Lines, rng: random.Random) -> tuple[Lines, str]:
    """A line is gone, and every number and hash after it is made anew."""
    at = rng.randrange(len(lines))
    del lines[at]
    return rechained(lines), f"line {at + 1}"


def rechained(lines: Sequence[bytes]) -> Lines:
    """The lines numbered and chained anew, as one who knows the format would."""
    made: Lines = []
    prev = GENESIS
    for n, line in enumerate(lines):
        kind = _tail(line).group(1).decode()
        forged, prev = make_line(line[: _data_end(line)], kind, n, prev)
        made.append(forged)
    return made


def _data_end(line: bytes) -> int:
    return _tail(line).start()


def _tail(line: bytes) -> re.Match[bytes]:
    found = _TAIL.search(line)
    assert found is not None  # the run verified before it was tampered with
    return found


Edit = Callable[[Lines, random.Random], tuple[Lines, str]]
EDITS: dict[str, Edit] = {
    "flipped byte": flip_byte,
    "deleted lines": delete_lines,
    "swapped lines": swap_lines,
    "duplicated line": duplicate_line,
    "truncation": truncate,
    "forged number": forge_number,
    "forged deletion": forge_deletion,
}
"""Each takes the lines and changes them; says what it did. A forgery makes the hashes anew but has only the old
manifest."""
