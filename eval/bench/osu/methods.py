"""The methods of the paper's tables, by the names they have there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from rebind.memory.osu.config import DISJOINT, NO_NOVELTY, SIMILARITY_ONLY, OsuConfig
from rebind.memory.osu.flat import Flat, NoMemory, PeriodicSummary, Replay, SlidingWindow
from rebind.memory.osu.greedy import CoverageAware, Mmr
from rebind.memory.osu.grouping import RawUnits, raw_units
from rebind.memory.osu.hierarchy import DisjointHierarchy, TreeAbstraction
from rebind.memory.osu.packing import Memory
from rebind.memory.osu.pool import Pool, build_pool, pruned
from rebind.memory.osu.retrieve import GroundTruthFiltered, OsuMem
from rebind.memory.osu.trajectory import Steps, Trajectory

OSU = "OSU-Mem"
OSU_DISJOINT = "OSU-Mem (disjoint)"
OSU_FLAT_FILL = "OSU-Mem (flat fill)"
FLAT = "Flat Vector"
MMR = "Flat + MMR"
HIERARCHY = "Disjoint Hierarchy"


@dataclass(frozen=True, eq=False)
class Bench:
    """One history with what several methods share."""

    history: Trajectory
    evidence: Steps
    """For the ground-truth filter alone."""

    @cached_property
    def _raw(self) -> RawUnits:
        return raw_units(self.history, OsuConfig())

    @cached_property
    def pool(self) -> Pool:
        return pruned(self.history, OsuConfig(), self._raw)

    @cached_property
    def disjoint(self) -> Pool:
        return pruned(self.history, DISJOINT, self._raw)

    def variant(self, config: OsuConfig) -> OsuMem:
        """OSU-Mem over the shared pool with other retrieval settings; those of the build must be the defaults."""
        return OsuMem(replace(self.pool, config=config))


METHODS: Mapping[str, Callable[[Bench], Memory]] = {
    "No LT Memory": lambda b: NoMemory(b.history),
    "Budget-Trunc Replay": lambda b: Replay(b.history),
    "Sliding Window": lambda b: SlidingWindow(b.history),
    "Periodic Summary": lambda b: PeriodicSummary(b.history),
    FLAT: lambda b: Flat(b.history),
    MMR: lambda b: Mmr(b.history),
    "Coverage-Aware": lambda b: CoverageAware(b.history),
    HIERARCHY: lambda b: DisjointHierarchy(b.history),
    "Tree Abstraction": lambda b: TreeAbstraction(b.history),
    OSU: lambda b: OsuMem(b.pool),
    "OSU-Mem + GF": lambda b: GroundTruthFiltered(b.pool, b.evidence),
    OSU_DISJOINT: lambda b: OsuMem(b.disjoint),
    "OSU-Mem (sim only)": lambda b: OsuMem(build_pool(b.history, SIMILARITY_ONLY)),
    "OSU-Mem (no novelty)": lambda b: b.variant(NO_NOVELTY),
    OSU_FLAT_FILL: lambda b: b.variant(OsuConfig(flat_fill=True)),
}
"""Table 9's rows in its order, and one ablation of ours."""

WITHOUT_UNITS = tuple(name for name in METHODS if not name.startswith("OSU-Mem"))
"""What a generator may be chosen by: nothing of OSU-Mem is in these."""
