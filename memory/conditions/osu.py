"""OSU-Mem in closed loop: the record's steps that overlapping semantic units retrieve (OSU-Mem, section 3.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebind.memory.conditions.retrieved import RetrievedSteps

if TYPE_CHECKING:
    from rebind.memory.osu.packing import Memory
    from rebind.memory.osu.trajectory import Trajectory


class OsuSteps(RetrievedSteps):
    name = "osu"

    def remember(self, history: Trajectory) -> Memory:
        """Overlapping units with the paper's defaults."""
        from rebind.memory.osu.retrieve import OsuMem

        return OsuMem.of(history)
