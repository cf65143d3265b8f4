"""Reads a big ledger in two processes: the first half here, the second in a child. A small one is read here alone."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

from rebind.errors import LedgerError
from rebind.eval.ledger import LEDGER_FILE
from rebind.eval.reading import Reader

BIG = 150_000_000
"""Bytes from which on a second process is worth its start."""
_OWN = 0.48
"""Share of a ledger that is read here: after it, this process has something else to do."""


def read_ledger(folder: Path, big: int = BIG) -> Reader:
    """What a run's ledger says.

    Raises:
        LedgerError: there is none, or it cannot be read.
    """
    path = folder / LEDGER_FILE
    collected = gc.isenabled()
    gc.disable()  # a ledger makes millions of objects and no cycles: looking for some would take a tenth of the time
    try:
        halves = _in_two(path) if path.stat().st_size >= big and (os.cpu_count() or 1) > 1 else None
        return halves or _whole(path)
    except OSError as error:
        hint = "name the folder of a run, such as runs/demo"
        raise LedgerError(f"{path} cannot be read ({error.strerror}); {hint}") from None
    finally:
        if collected:
            gc.enable()


def _whole(path: Path) -> Reader:
    reader = Reader()
    reader.read(path)
    return reader


def _in_two(path: Path) -> Reader | None:
    """Both halves; None where either cannot be read on its own. Then reading it whole says why, or does it."""
    middle = _line_after(path, int(path.stat().st_size * _OWN))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    words = [sys.executable, "-m", "rebind.eval.halves", str(path), str(middle)]
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    reader = Reader()
    try:
        reader.read(path, 0, middle)
        reader.read_ends(path, middle)
        _import_what_follows()
        answer, errors = child.communicate()
    except LedgerError:
        return None
    finally:
        child.kill()
        child.wait()
    if child.returncode:
        *_, why = errors.decode(errors="replace").splitlines() or [f"status {child.returncode}"]
        warnings.warn(f"the process that reads half of {path} failed ({why}): reading it alone", stacklevel=2)
        return None
    later: Reader | None = pickle.loads(answer)
    if later is None:
        return None
    reader.take(later)
    return reader


def _import_what_follows() -> None:
    """What is made of a ledger takes these, and seconds to import them: while the other process still reads."""
    import pandas as pd  # noqa: F401
    import scipy.special  # noqa: F401


def _line_after(path: Path, byte: int) -> int:
    """Where the first line begins at or after a byte."""
    with path.open("rb") as lines:
        lines.seek(byte)
        return byte + len(lines.readline())


def _second_half(path: Path, middle: int) -> Reader | None:
    """What attempts that begin in the second half did; None where a line is no event, or the study goes on there, so
    that the first half's attempts do not know it all."""
    gc.disable()
    reader = Reader()
    try:
        reader.read_header(path)
        known = reader.studied
        reader.redacted = 0
        reader.read(path, middle, strays=True)
    except LedgerError:
        return None
    if reader.studied > known:
        return None
    for name in ("targets", "records", "plan", "_open", "_watches"):
        getattr(reader, name).clear()  # the first half has the study, and what never ended is told by its row
    reader.first = None
    return reader


if __name__ == "__main__":
    found = _second_half(Path(sys.argv[1]), int(sys.argv[2]))
    sys.stdout.buffer.write(pickle.dumps(found, protocol=pickle.HIGHEST_PROTOCOL))
