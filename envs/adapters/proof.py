"""What came of playing an adapter's tasks in ways of which the first alone should solve them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

KINDS = ("oracle", "noop", "stale")
"""By its own solution, by doing nothing, by another task's solution."""


class Proof:
    """Takes plays in, and tells the shares that passed: 1 for the first kind and 0 for others where tasks are sound."""

    def __init__(self, kinds: Sequence[str] = KINDS) -> None:
        self._kinds = kinds
        self.failures: list[dict[str, Any]] = []
        """Plays that did not come out so."""
        self._runs: dict[tuple[str, str], list[bool]] = {}

    def add(self, family: str, task: str, kind: str, passed: bool, part: str = "") -> None:
        """Notes a play of one of the kinds. `part`: of the benchmark, for shares of its own."""
        self._runs.setdefault((part, kind), []).append(passed)
        if passed != (kind == self._kinds[0]):
            self.failures.append({"family": family, "task": task, "what": f"{kind} {'passes' if passed else 'fails'}"})

    def parts(self) -> list[str]:
        return sorted({part for part, _ in self._runs})

    def plays(self, kind: str, parts: Iterable[str] | None = None) -> list[bool]:
        """Whether each play of a kind passed; of all parts where None."""
        return [p for part in (self.parts() if parts is None else parts) for p in self._runs.get((part, kind), [])]

    def shares(self, parts: Iterable[str] | None = None) -> dict[str, float | None]:
        """A kind's name and `_pass`: the share that passed; None where nothing was played so."""
        found = {kind: self.plays(kind, parts) for kind in self._kinds}
        return {f"{kind}_pass": sum(plays) / len(plays) if plays else None for kind, plays in found.items()}
