"""Flat retrieval in closed loop: the record's steps most similar to the goal (OSU-Mem's baseline, Flat Vector)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebind.memory.conditions.retrieved import RetrievedSteps

if TYPE_CHECKING:
    from rebind.memory.osu.packing import Memory
    from rebind.memory.osu.trajectory import Trajectory


class FlatSteps(RetrievedSteps):
    name = "flat"

    def remember(self, history: Trajectory) -> Memory:
        """Cosine alone."""
        from rebind.memory.osu.flat import Flat

        return Flat(history)
