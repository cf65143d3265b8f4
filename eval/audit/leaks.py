"""Target leaks: a value of the target in a support although nothing that its condition may read shows it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from rebind.eval.audit.facts import Facts, gone, whole
from rebind.eval.audit.findings import Findings
from rebind.eval.audit.texts import delivered, words
from rebind.memory.values import leaves, mentions, spellings
from rebind.types import Event, Record

_CACHE = 512
"""Supports whose leaks are remembered: the seeds of a cell often share one."""
_SHORTEST = 3
"""Characters of a value, below which finding it in a text says nothing."""


class Leaks:
    """Compares each support with the target's bindings, the goal, the retrieval query (which holds the first
    observation) and the records it is made of.

    A value counts in any spelling that `memory.values` knows. A record whose content is not in the ledger, or is not
    the one its id names, clears nothing.
    """

    def __init__(self, facts: Facts, findings: Findings) -> None:
        self._facts, self._findings = facts, findings
        self._targets: dict[str | None, str] = {}
        """Target keys of the cells begun."""
        self._record_text = lru_cache(_CACHE)(self._content)
        self._leaked = lru_cache(_CACHE)(self._leaks)

    def take(self, event: Event) -> None:
        data: dict[str, Any] = event.data
        if event.kind == "start":
            self._targets[event.cell] = data["cell"]["target"]
        elif event.kind == "support" and event.cell in self._targets:
            target = self._targets[event.cell]
            if target not in self._facts.targets:
                self._findings.add("target_leaks", "the ledger does not say what the target is", event.n, event.kind)
                return
            if gone(event) or not self._known(target):
                self._findings.skipped["supports"] += 1
                return
            records = {skill["record_id"] for skill in data["skills"]} | {self._facts.chosen(target) or ""}
            leaks, skipped = self._leaked(target, delivered(data), tuple(sorted(records)))
            self._findings.checked["supports"] += 1
            self._findings.skipped["target_values"] += skipped
            for what in leaks:
                self._findings.add("target_leaks", what, event.n, event.kind)

    def _known(self, target: str) -> bool:
        """Whether nothing is redacted of what a support for a target may have been made from."""
        record = self._facts.records.get(self._facts.chosen(target) or "", {})
        seen = (self._facts.targets[target], record, record.get("content"))
        return whole(*seen, *(retrieval.data for retrieval in self._facts.retrievals[target]))

    def _leaks(self, target: str, text: str, records: tuple[str, ...]) -> tuple[list[str], int]:
        """Sentences for what a support leaks, and how many bindings could not be checked."""
        task = self._facts.targets[target]["task"]
        queries = (retrieval.data["query"] for retrieval in self._facts.retrievals[target])
        shown = "\n".join([task["goal"], *map(str, queries), *map(self._record_text, records)])
        found, skipped = [], 0
        for binding in self._facts.target_seals[target].bindings:
            values = [leaf for _, leaf in leaves(binding.value) if len(str(leaf)) >= _SHORTEST]
            skipped += not values
            for value in values:
                forms = [form for form in spellings(value) if len(form) >= _SHORTEST]
                said = next((form for form in forms if mentions(text, form)), None)
                if said and not any(mentions(shown, form) for form in forms):
                    found.append(
                        f"the support says {said!r}, the target's {binding.name}, which nothing shown to it does"
                    )
        return found, skipped

    def _content(self, record: str) -> str:
        """All words of a record."""
        content = self._facts.records.get(record, {}).get("content")
        if content is None or Record.model_validate(content).id != record:
            return ""
        return words(content)
