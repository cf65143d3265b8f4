"""Where the episodes of a run happen: in this process, or as tasks of a Ray cluster.

An engine does one attempt at one cell; the runner decides which cell is next, whether a failed one is tried again and
when to stop. So a run has the same ledger, the same limits and the same result whichever engine it has, and may be
resumed with another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from rebind.eval.episode import Bench
from rebind.eval.models import Opener
from rebind.eval.study import Study
from rebind.types import Cell, Episode


class Engine(Protocol):
    """Runs attempts at cells."""

    def begin(self, bench: Bench, opener: Opener) -> None:
        """Called once, when retrieval and selection are done: what the attempts need. `opener` opens the run's models
        where they are to be opened anew."""
        ...

    def attempt(self, cell: Cell, number: int) -> Episode | None:
        """One attempt, to its end: its events are in the bench's ledger and committed. From any thread. An attempt that
        is lost on the way is noted as abandoned and made again, so that the episode's number may be a later one. None
        where it had not begun when `begin_no_more` was called.

        Raises:
            ProviderRefused: after recording it; no other episode would fare better.
            LedgerError: the ledger could not be written.
            InfraError: attempts at this cell are lost again and again.
        """
        ...

    def begin_no_more(self) -> None:
        """The run is to stop: attempts that wait for a place to run are given up, those under way end."""
        ...

    def limited(self) -> dict[str, int]:
        """Requests that may be under way at once, by provider, where that is less than was allowed."""
        ...

    def close(self) -> None:
        """Ends what is under way and lets everything go."""
        ...


@contextmanager
def open_engine(study: Study) -> Iterator[Engine]:
    """The engine that a study names in `run.engine`.

    Raises:
        UserError: it is not installed, no cluster answers, no machine of it has room for an episode of the study, or
            the study's model cannot be reached from another process.
    """
    engine = _ENGINES[study.run.engine](study)
    try:
        yield engine
    finally:
        engine.close()


def _local(_study: Study) -> Engine:
    from rebind.eval.engines.local import LocalEngine

    return LocalEngine()


def _ray(study: Study) -> Engine:
    from rebind.eval.engines.ray import RayEngine

    return RayEngine(study)


_ENGINES: dict[str, Callable[[Study], Engine]] = {"local": _local, "ray": _ray}
