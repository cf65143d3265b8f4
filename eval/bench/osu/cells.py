"""The cell of a query: whether its evidence shares a tool and an entity (paper, Definition 2), and what follows from
it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rebind.memory.osu.trajectory import Note

CELLS = ("T+E+", "T+E-", "T-E+", "T-E-")
FAVOURABLE = ("T+E+", "T-E+")
"""Where the paper's oracle routes to overlap (section 7)."""


class Shares(NamedTuple):
    """Whether two distinct evidence steps have the same tool, and a common entity."""

    tool: bool
    entity: bool

    @property
    def cell(self) -> str:
        return f"T{'+' if self.tool else '-'}E{'+' if self.entity else '-'}"


def shares(evidence: Sequence[Note]) -> Shares:
    """What the annotations of a query's evidence steps have in common, pairwise."""
    tools = Counter(note.tool for note in evidence if note.tool is not None)
    entities = Counter(entity for note in evidence for entity in set(note.entities))
    return Shares(tool=max(tools.values(), default=0) > 1, entity=max(entities.values(), default=0) > 1)


class Marginals(NamedTuple):
    """Population shares that a deployment can estimate from metadata (paper, Appendix I)."""

    tool: float
    """π_T+"""
    any: float
    """π_any+"""


def marginals(fractions: Mapping[str, float]) -> Marginals:
    """π_T+ and π_any+ of a cell distribution."""
    return Marginals(fractions["T+E+"] + fractions["T+E-"], 1.0 - fractions["T-E-"])


class BreakEven(NamedTuple):
    """Where the aggregate gap changes sign in the one-parameter family of Appendix I: the T+E+ share is p, and the
    other cells keep their proportions."""

    p: float | None
    """None where the aggregate has one sign for all p."""
    always: str | None
    """"positive" or "negative" where it has one sign."""
    tool: float | None
    """π_T+ at p."""
    any: float | None
    """π_any+ at p."""


def break_even(fractions: Mapping[str, float], gaps: Mapping[str, float]) -> BreakEven:
    """Solves p Δ_T+E+ + (1 − p) Σ f_c/(1 − f_T+E+) Δ_c = 0 for p."""
    rest = 1.0 - fractions["T+E+"]
    others = {c: fractions[c] / rest for c in CELLS[1:]}
    favourable, remainder = gaps["T+E+"], sum(others[c] * gaps[c] for c in CELLS[1:])
    if favourable >= 0 and remainder >= 0:
        return BreakEven(0.0, "positive", None, None)
    if favourable <= 0 and remainder <= 0:
        return BreakEven(None, "negative", None, None)
    p = remainder / (remainder - favourable)
    return BreakEven(p, None, p + others["T+E-"] * (1 - p), 1 - others["T-E-"] * (1 - p))


def oracle_ceiling(fractions: Mapping[str, float], gaps: Mapping[str, float]) -> float:
    """Gain over Flat of sending the favourable cells to overlap and the others to Flat (in sample, uses the labels)."""
    return sum(fractions[c] * gaps[c] for c in FAVOURABLE)
