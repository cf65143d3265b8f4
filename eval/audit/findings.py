"""What an audit found: each finding with its event, and the counts of all checks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal

Check = Literal[
    "canaries",
    "sealed_fields",
    "target_leaks",
    "selections",
    "token_identity_violations",
    "missing_cells",
    "doubled_cells",
    "deleted_attempts",
    "decoding_differs",
    "budget_differs",
    "broken_prompts",
]


@dataclass
class Findings:
    """The findings so far."""

    items: list[dict[str, Any]] = field(default_factory=list)
    counts: Counter[Check] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    """Values that could not be checked, by what they are."""
    checked: Counter[str] = field(default_factory=Counter)
    """How much was checked: the denominators of the counts."""

    def add(self, check: Check, what: str, event: int | None = None, kind: str | None = None, times: int = 1) -> None:
        """Counts a finding `times` times and keeps one sentence about it. `event` is its number in the ledger."""
        self.counts[check] += times
        self.items.append({"check": check, "event": event, "kind": kind, "what": what})
