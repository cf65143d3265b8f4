"""Work done in a second process while this one goes on."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
FORKS = sys.platform == "linux"
"""Elsewhere the libraries of the system may not be used in a forked process."""


@contextmanager
def beside(work: Callable[[], T], *, apart: bool) -> Iterator[Callable[[], T]]:
    """Yields what gives the result of `work`: begun in a forked process where `apart` says that it is worth one, else
    done when it is asked for. What the other process cannot do is done here."""
    if not apart or not FORKS or (os.cpu_count() or 1) < 2:
        yield work
        return
    reader, writer = os.pipe()
    gc.freeze()  # a collection would look through all that is there already, and copy every page that both share
    child = os.fork()
    if child == 0:
        _answer(work, writer)
    os.close(writer)
    try:
        with open(reader, "rb") as answer:
            yield lambda: _result(answer.read(), work)
    finally:
        gc.unfreeze()
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _answer(work: Callable[[], object], writer: int) -> None:
    """Writes the result and ends the process: nothing of its parent's is flushed or cleaned up twice."""
    try:
        with open(writer, "wb") as out:
            pickle.dump(work(), out, protocol=pickle.HIGHEST_PROTOCOL)
    finally:
        os._exit(0)


def _result(answer: bytes, work: Callable[[], T]) -> T:
    try:
        made: T = pickle.loads(answer)
    except (EOFError, pickle.UnpicklingError):
        return work()
    return made
