"""Who holds which label, and since which event: what the permission predicate asks, and what explains a refusal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue


@dataclass
class Rights:
    """Labels by principal. `last` is the event that decided each pair: its number, kind and time."""

    held: dict[str, frozenset[str]] = field(default_factory=dict)
    last: dict[tuple[str, str], tuple[int, str, float]] = field(default_factory=dict)

    def take(self, event: Mapping[str, Any]) -> None:
        """Applies a "grant" or "revoke"."""
        principal, label, kind = str(event["principal"]), str(event["label"]), str(event["kind"])
        now = self.held.get(principal, frozenset())
        self.held[principal] = now | {label} if kind == "grant" else now - {label}
        self.last[principal, label] = (int(event["n"]), kind, float(event["at"]))

    def reason(self, principal: str, label: str) -> str:
        """Why a principal may not read a label, in words."""
        if (principal, label) not in self.last:
            return f"{principal!r} was never granted {label!r}"
        number, kind, at = self.last[principal, label]
        return f"{label!r} of {principal!r}: last decided by event {number} ({kind}) at {at:.3f}"

    def dump(self) -> list[JsonValue]:
        return [
            {"principal": principal, "label": label, "n": n, "kind": kind, "at": at}
            for (principal, label), (n, kind, at) in sorted(self.last.items())
        ]

    @staticmethod
    def load(rows: list[dict[str, Any]]) -> Rights:
        rights = Rights()
        for row in rows:
            rights.take(row)
        return rights
