"""The hyperparameters of OSU-Mem (paper, Table 8) and, marked as ours, what its text leaves open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

View = Literal["entity", "tool", "similarity", "subgoal"]
VIEW_PRIORITY: tuple[View, ...] = ("entity", "tool", "similarity", "subgoal")
"""Highest first: where a step is in more units than allowed, it leaves those of later views first (section 3.4)."""


@dataclass(frozen=True)
class OsuConfig:
    """How units are built and retrieved from. Lengths are numbers of steps, budgets are tokens."""

    base_gap: int = 8
    max_size: int = 20
    min_size: int = 2
    max_memberships: int = 5
    """1 makes the units disjoint."""
    views: tuple[View, ...] = VIEW_PRIORITY
    candidates: int = 8
    """C: how many of a unit's best unselected steps price it and are looked at for novelty."""
    novelty: float = 0.3
    """λ_nov; 0 switches the novelty term off."""
    novelty_budget: int = 192
    """B_nov: below this budget the novelty term is off."""
    structural: float = 0.4
    """α: share of structural (entity and tool) against embedding novelty."""
    least_units: int = 8
    """Floor of K, the number of units the coarse stage selects."""
    neighbours: int = 5
    """Ours: k of the similarity view's mutual k-NN graph."""
    edge_percentile: float = 75.0
    """Ours: only edges above this percentile of all k-NN cosines are merged."""
    window: int = 512
    """Ours: the similarity view is built within consecutive windows of so many steps, so that appending a step costs no
    more in a long trajectory than in a short one. No trajectory of the paper's benchmarks is longer."""
    max_units: int | None = None
    """Ours: a ceiling on K for very long trajectories; None is the paper's K."""
    flat_fill: bool = False
    """Ours, an ablation: once all K units are expanded, spend what is left of the budget on the most similar steps."""

    def gap(self, view: View) -> int:
        """Largest distance between two consecutive members of one unit (Δ_ent, Δ_tool, Δ_sg; section 3.3)."""
        thresholds = {
            "entity": max(60, 8 * self.base_gap),
            "tool": max(12, 2 * self.base_gap),
            "subgoal": max(8, self.base_gap),
        }
        return thresholds[view]

    def coarse(self, units: int, budget: int) -> int:
        """K = min(|U|, max(8, ⌈|U|/10⌉, ⌈B/30⌉)), and at most `max_units` (Table 8; rounding up is ours)."""
        wanted = max(self.least_units, -(-units // 10), -(-budget // 30))
        return min(units, wanted if self.max_units is None else min(wanted, self.max_units))


DISJOINT = OsuConfig(max_memberships=1)
SIMILARITY_ONLY = OsuConfig(views=("similarity",))
NO_NOVELTY = OsuConfig(novelty=0.0)
