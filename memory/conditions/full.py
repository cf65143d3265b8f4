"""Full Trajectory: the selected record itself, as text and as turns (QCR, section 5.3)."""

from __future__ import annotations

from rebind.memory.render import render
from rebind.types import Support, SupportAsk


class FullTrajectory:
    name = "full"

    def support(self, ask: SupportAsk) -> Support:
        """Instruction, ordered actions with arguments, and everything that came back."""
        if ask.record is None:
            return Support(condition=self.name, flags=("no-record",))
        return Support(
            condition=self.name,
            text=render(ask.record),
            turns=ask.record.steps,
            turns_goal=ask.record.instruction,
            turns_first_observation=ask.record.first_observation,
        )
