"""The engine of one machine: episodes are threads of this process; environments that need it have processes of their
own."""

from __future__ import annotations

from rebind.eval.episode import Bench, attempt_cell
from rebind.eval.models import Opener
from rebind.types import Cell, Episode


class LocalEngine:
    """`rebind.eval.engines.Engine` in this process, with the models that are open already."""

    def __init__(self) -> None:
        self._bench: Bench | None = None

    def begin(self, bench: Bench, opener: Opener) -> None:
        self._bench = bench

    def attempt(self, cell: Cell, number: int) -> Episode:
        return attempt_cell(self._ready, cell, number)

    def begin_no_more(self) -> None:
        """Nothing waits here: an attempt begins when it is asked for."""

    def limited(self) -> dict[str, int]:
        return self._ready.models.door.limited

    def close(self) -> None:
        if self._bench is not None:
            self._bench.close()

    @property
    def _ready(self) -> Bench:
        assert self._bench is not None  # `begin` comes first
        return self._bench
