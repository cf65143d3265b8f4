"""Generic Summary: the record's summary, written offline before any target existed (QCR, section 5.3)."""

from __future__ import annotations

from rebind.types import Support, SupportAsk


class GenericSummary:
    name = "summary"

    def support(self, ask: SupportAsk) -> Support:
        """The stored summary; flagged where the bank was frozen without summaries."""
        if ask.record is None:
            return Support(condition=self.name, flags=("no-record",))
        return Support(condition=self.name, text=ask.summary, flags=() if ask.summary else ("no-summary",))
