"""Worker processes that end with the process that began them."""

from __future__ import annotations

import multiprocessing
import os
import threading


def end_with_parent() -> None:
    """For the start of a pool's worker: where its parent is killed, a worker would go on with what it was given, for
    nobody."""
    threading.Thread(target=_wait, name="parent", daemon=True).start()


def _wait() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)
