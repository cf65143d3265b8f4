"""One budget for all: no episode went on past the plan's, and none was ended by a smaller one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rebind.eval.audit.facts import Facts, gone
from rebind.eval.audit.findings import Findings
from rebind.types import Event

_COUNTED = ("steps", "calls", "tokens")
"""Limits that events can prove; time and dollars are floating sums, checked where they ended an episode."""


@dataclass
class _Spent:
    """What an attempt had used up, and had used up before its last turn."""

    steps: int = 0
    calls: int = 0
    tokens: int = 0
    before: tuple[int, int, int] = (0, 0, 0)

    @property
    def now(self) -> tuple[int, int, int]:
        return self.steps, self.calls, self.tokens


class Budgets:
    """Follows what every attempt used up, and compares how it ended with the plan's budget."""

    def __init__(self, facts: Facts, findings: Findings) -> None:
        self._budget: Mapping[str, Any] = facts.plan.get("budget") or {}
        self._findings = findings
        self._open: dict[tuple[str | None, int | None], _Spent] = {}

    def take(self, event: Event) -> None:
        data: dict[str, Any] = event.data
        key = event.cell, event.attempt
        if gone(event, "usage", "calls", "ending") and self._open.pop(key, None) is not None:
            self._findings.skipped["budgets"] += 1
        match event.kind:
            case "start":
                self._open[key] = _Spent()
            case "call" if key in self._open:
                spent = self._open[key]
                spent.before = spent.now
                spent.tokens += (data["usage"]["prompt"] or 0) + (data["usage"]["completion"] or 0)
            case "step" if key in self._open:
                self._open[key].steps += 1
                self._open[key].calls += len(data["calls"])
            case "episode" if key in self._open:
                self._end(event, data["ending"], self._open.pop(key))
            case _:
                pass

    def _end(self, event: Event, ending: str, spent: _Spent) -> None:
        """Before its last turn nothing may have been used up; where a limit ended it, that one must have been."""
        for name, before, used in zip(_COUNTED, spent.before, spent.now, strict=True):
            limit = self._budget.get(name)
            if limit is not None and before >= limit:
                self._add(f"went on after {before} {name} of {limit}", event)
            if ending == f"over-{name}" and (limit is None or used < limit):
                self._add(f"ended over its {name} at {used} of {limit}", event)
        for name, limit in (("time", self._budget.get("seconds")), ("cost", self._budget.get("cost"))):
            if ending == f"over-{name}" and limit is None:
                self._add(f"ended over its {name}, which the plan does not limit", event)

    def _add(self, what: str, event: Event) -> None:
        self._findings.add("budget_differs", f"the episode {what}", event.n, event.kind)
