"""Workers that do a list of things, several at once, and can be told to stop, gently or not at all."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue
from typing import Generic, TypeVar

from rebind.errors import LedgerError

T = TypeVar("T")
R = TypeVar("R")
_log = logging.getLogger(__name__)


class Crew(Generic[T, R]):
    """Threads that take items in order. They are daemons: a process that ends does not wait for what hangs in them."""

    def __init__(
        self, workers: int, items: Iterable[T], do: Callable[[T], R], may_begin: Callable[[], bool] = lambda: True
    ) -> None:
        """`may_begin` is asked before each item; once it says no, no other item is begun."""
        self._todo = deque(items)
        self._do, self._may_begin = do, may_begin
        self._done: SimpleQueue[tuple[R | None, BaseException | None] | None] = SimpleQueue()
        """What items came to; None from each worker that has nothing left to do."""
        self._left = workers
        """Workers whose end was not seen yet."""
        self.under_way = 0
        """Items begun and not ended."""
        self._lock = threading.Lock()
        for _ in range(workers):
            threading.Thread(target=self._work, name="episode", daemon=True).start()

    def results(self) -> Iterator[R]:
        """What comes of the items, as they end, until all workers have ended. May be called again after it was left.

        Raises:
            What the first item that failed raised; `stop` is called then.
        """
        while self._left:
            done = self._done.get()
            if done is None:
                self._left -= 1
                continue
            value, error = done
            if error is not None:
                self.stop()
                raise error
            yield value  # type: ignore[misc]  # an R wherever there was no error

    def stop(self) -> None:
        """No other item is begun."""
        with self._lock:
            self._todo.clear()

    def _work(self) -> None:
        try:
            while (item := self._next()) is not None:
                try:
                    result = self._do(item[0])
                finally:
                    with self._lock:
                        self.under_way -= 1
                self._done.put((result, None))
        except BaseException as error:  # handed to the thread that waits, which raises it
            self._done.put((None, error))
        self._done.put(None)

    def _next(self) -> tuple[T] | None:
        with self._lock:
            if not self._todo or not self._may_begin():
                return None
            self.under_way += 1
            return (self._todo.popleft(),)


def to_the_end(
    crew: Crew[T, R], watch: Callable[[], None], what: str, stopping: Callable[[], None] = lambda: None
) -> None:
    """Watches until all is done. What goes wrong is raised once what is under way has ended; at once where that can
    not be recorded, or after another interrupt.

    Args:
        watch: takes in the crew's results; called again after an error.
        what: the items, in the plural, for the person who interrupts.
        stopping: called once no other item is begun.
    """
    try:
        watch()
    except LedgerError:
        raise
    except BaseException as error:
        crew.stop()
        stopping()
        if isinstance(error, KeyboardInterrupt) and crew.under_way:
            _log.warning("stopping: %d %s under way end first; Ctrl-C again stops at once", crew.under_way, what)
        while True:
            try:
                watch()
                break
            except (KeyboardInterrupt, LedgerError):
                raise
            except Exception:  # of another item; the first error is the one to tell
                continue
        raise
