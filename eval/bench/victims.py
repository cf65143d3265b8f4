"""Processes that run `rebind study run` and are killed with SIGKILL: at a moment chosen from outside, or at a named
system call."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any, NamedTuple

from rebind.errors import RebindError
from rebind.eval.ledger import MANIFEST_FILE
from rebind.eval.lock import LOCK_FILE

_POLL = 0.002
PATIENCE = 600.0
"""Seconds a run may take at most."""


class CrashFailure(RebindError):
    """The run under test failed by itself."""


class Point(NamedTuple):
    """A system call before which a process kills itself: Python's audit event, and the name of the file, without its
    last suffix. `after`: not this one, but the next call on a file."""

    event: str
    stem: str
    after: bool = False


POINTS = {
    "lock: before it is written": Point("open", LOCK_FILE),
    "lock: before it appears": Point("os.rename", LOCK_FILE),
    "seal: before the manifest is written": Point("open", MANIFEST_FILE),
    "seal: before the manifest appears": Point("os.rename", MANIFEST_FILE),
    "seal: after the manifest appeared": Point("os.rename", MANIFEST_FILE, after=True),
}
"""Moments that a random kill would seldom hit."""


@cache
def _context() -> ForkServerContext:
    """Processes forked from one that has imported everything (which takes half a minute of processor time)."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["rebind.eval.bench.preloaded"])
    return context


def command(study: Path, folder: Path) -> list[str]:
    """The command under test, without its interpreter."""
    return ["rebind", "study", "run", str(study), "--out", str(folder), "--json"]


def warm_run(study: Path, folder: Path, kill: Callable[[float], bool], point: str | None = None) -> int:
    """Runs the command in a forked process until it ends, or `kill` (asked with the seconds since the start) says so,
    or it comes to that point. Returns its exit code, -9 where it was killed; its output is in `folder` + `.log`."""
    process = _context().Process(target=_victim, args=(command(study, folder), str(_log(folder)), point), daemon=True)
    process.start()
    began = time.monotonic()
    while process.exitcode is None:
        seconds = time.monotonic() - began
        if kill(seconds) or seconds > PATIENCE:
            process.kill()
        process.join(_POLL)
    return process.exitcode


def cold_run(study: Path, folder: Path, kill_after: float | None = None) -> int:
    """The same with an interpreter of its own."""
    call = f"import sys; sys.argv = {command(study, folder)!r}; from rebind.cli import main; main()"
    with _log(folder).open("w") as log:
        process = subprocess.Popen([sys.executable, "-c", call], stdout=log, stderr=log)
        try:
            return process.wait(PATIENCE if kill_after is None else kill_after)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()


def finish(study: Path, folder: Path, *, cold: bool = False) -> None:
    """Runs the command to its end.

    Raises:
        CrashFailure: it fails.
    """
    check(cold_run(study, folder) if cold else warm_run(study, folder, lambda _: False), folder)


def check(code: int, folder: Path, *, killed: bool = False) -> None:
    """Raises `CrashFailure` unless the command ended well, or (`killed`) by a kill."""
    if code != 0 and not (killed and code == -signal.SIGKILL):
        raise CrashFailure(f"the run under test failed by itself (exit code {code}): {output(folder)[-2000:]}")


def output(folder: Path) -> str:
    """What the last command on a run folder said."""
    log = _log(folder)
    return log.read_text(errors="replace") if log.exists() else ""


def _log(folder: Path) -> Path:
    return folder.with_suffix(".log")


def _victim(words: list[str], log: str, point: str | None) -> None:
    """What the forked process does: the whole command, as the console script does it."""
    from rebind.eval.bench.preloaded import console_script

    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(file, 1)
    os.dup2(file, 2)
    if point is not None:
        sys.addaudithook(_killer(POINTS[point]))
    sys.argv = words
    console_script()


def _killer(point: Point) -> Callable[[str, tuple[Any, ...]], None]:
    """An audit hook that kills the process, as `kill -9` does, when it comes to a point."""
    passed = False

    def hook(event: str, details: tuple[Any, ...]) -> None:
        nonlocal passed
        if event not in ("open", "os.rename"):
            return
        here = event == point.event and Path(os.fsdecode(details[0])).stem == point.stem if _is_path(details) else False
        if (here and not point.after) or passed:
            os.kill(os.getpid(), signal.SIGKILL)
        passed = here and point.after

    return hook


def _is_path(details: tuple[Any, ...]) -> bool:
    return bool(details) and isinstance(details[0], str | bytes | os.PathLike)
