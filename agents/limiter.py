"""How many requests may be under way at once: fewer after a provider's 429, more again while it answers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Limiter:
    """A semaphore whose size adapts (additive increase, multiplicative decrease, as TCP does). Thread-safe."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._limit = float(most)
        self._under_way = 0
        self._changed = threading.Condition()

    @property
    def limit(self) -> int:
        """Requests that may be under way now; at least 1."""
        return max(1, int(self._limit))

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Waits for a slot and holds it for the length of the context."""
        with self._changed:
            self._changed.wait_for(lambda: self._under_way < self.limit)
            self._under_way += 1
        try:
            yield
        finally:
            with self._changed:
                self._under_way -= 1
                self._changed.notify_all()

    def cut(self) -> None:
        """Halves the limit: the provider said that there were too many."""
        with self._changed:
            self._limit = max(1.0, self._limit / 2)

    def grow(self) -> None:
        """Raises the limit by one for each full round of answers."""
        with self._changed:
            self._limit = min(float(self._most), self._limit + 1 / self.limit)
            self._changed.notify_all()
