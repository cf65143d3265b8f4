"""How many requests may be under way at once at one provider: fewer after it said "too many" or timed out, slowly more
again while it answers, none while it asked to be left alone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

_CAUTION = 0.1
"""How much slower the limit grows from where the provider last had too many."""


_ROUNDING = 1e-9
"""Three thirds are a whole."""


class Slots(Protocol):
    """What keeps the requests to one provider few enough; `Limiter` is the one of a process."""

    most: int

    @property
    def limit(self) -> int: ...

    def slot(self) -> AbstractContextManager[int]: ...

    def pause(self, seconds: float) -> None: ...

    def cut(self, epoch: int, why: str) -> None: ...

    def grow(self) -> None: ...


Told = Callable[[int, str], None]
"""Told of each change of a limit as a whole number, and why."""


class Limiter:
    """A semaphore whose size adapts (additive increase, multiplicative decrease, as TCP does). Thread-safe."""

    def __init__(self, most: int, on_change: Told | None = None) -> None:
        """No lock is held while `on_change` is told."""
        self.most = most
        self._limit = float(most)
        self._failed_at = float(most + 1)
        """The limit that was too many, last."""
        self._epoch = 0
        """Counts the cuts, so that the requests of one burst cut once."""
        self._under_way = 0
        self._resumes = 0.0
        """Monotonic time before which no request is let through."""
        self._changed = threading.Condition()
        self._on_change = on_change

    @property
    def limit(self) -> int:
        """Requests that may be under way now; at least 1."""
        return max(1, int(self._limit + _ROUNDING))

    @contextmanager
    def slot(self) -> Iterator[int]:
        """Waits for a slot and holds it for the length of the context; gives what `cut` wants to be told."""
        with self._changed:
            while (pause := self._resumes - time.monotonic()) > 0 or self._under_way >= self.limit:
                self._changed.wait(pause if pause > 0 else None)
            self._under_way += 1
            epoch = self._epoch
        try:
            yield epoch
        finally:
            with self._changed:
                self._under_way -= 1
                self._changed.notify_all()

    def pause(self, seconds: float) -> None:
        """Lets no request through for so long: the provider said when to come back, and means everyone."""
        with self._changed:
            self._resumes = max(self._resumes, time.monotonic() + seconds)

    def cut(self, epoch: int, why: str) -> None:
        """Halves the limit: there were too many. Of the requests that were under way at one cut only the first counts,
        or a burst of refusals would bring any limit down to 1."""
        with self._changed:
            if epoch != self._epoch:
                return
            self._epoch += 1
            self._failed_at, before = float(self.limit), self.limit
            self._limit = max(1.0, self._limit / 2)
        self._tell(before, why)

    def grow(self) -> None:
        """Raises the limit by one for each full round of answers; from where it was last too many, for ten rounds."""
        with self._changed:
            before = self.limit
            pace = 1.0 if self._limit + 1 < self._failed_at else _CAUTION
            self._limit = min(float(self.most), self._limit + pace / self.limit)
            self._changed.notify_all()
        self._tell(before, "answers")

    def _tell(self, before: int, why: str) -> None:
        if self._on_change is not None and self.limit != before:
            self._on_change(self.limit, why)
