"""The information boundary: no canary anywhere, and nothing sealed in what a model or the retriever was shown."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache

from rebind.eval.audit.facts import Facts
from rebind.eval.audit.findings import Findings
from rebind.eval.audit.sealed import CANARY, Sealed, Sealing
from rebind.eval.audit.texts import shown
from rebind.types import Event

_CACHE = 4_096
"""Texts whose matches are remembered: tools and system prompts are the same in every call."""


class Boundary:
    """Searches every text of a ledger.

    A model that coins a sealed word by itself has leaked nothing, and hearing its own word back ("no tool named …") is
    no leak either: a sealed value in an answer is no finding, nor is it in what the same attempt is shown from then on.
    A canary is random: it counts wherever it stands.
    """

    def __init__(self, facts: Facts, findings: Findings) -> None:
        sealing = Sealing(facts)
        self._find = lru_cache(_CACHE)(lambda text: tuple(sealing.find(text)))
        self._findings = findings
        self._coined: dict[tuple[str | None, int | None], set[Sealed]] = defaultdict(set)
        findings.skipped.update({"sealed_values": len(sealing.skipped)})

    def take(self, event: Event) -> None:
        coined = self._coined[event.cell, event.attempt] if event.cell else set()
        for reader, text in shown(event):
            self._findings.checked["texts"] += 1
            for sealed in self._find(text):
                if sealed.field == CANARY:
                    what = (
                        f"a canary, {sealed.value!r}, in what the {reader} saw"
                        if reader != "answer"
                        else (f"a canary, {sealed.value!r}, in an answer")
                    )
                    self._findings.add("canaries", what, event.n, event.kind)
                elif reader == "answer":
                    coined.add(sealed)
                elif sealed not in coined:
                    what = f"a sealed value, {sealed.field} {sealed.value!r}, was shown to the {reader}"
                    self._findings.add("sealed_fields", what, event.n, event.kind)
        if event.kind == "episode":
            self._coined.pop((event.cell, event.attempt), None)
