"""No Memory: nothing from the past."""

from __future__ import annotations

from rebind.types import Support, SupportAsk


class NoMemory:
    name = "none"

    def support(self, ask: SupportAsk) -> Support:
        """An empty support, whatever was selected."""
        return Support(condition=self.name)
