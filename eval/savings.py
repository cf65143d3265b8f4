"""What memory saved where it worked: turns and API calls of a solved task, against the same task solved without."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rebind.eval.contrasts import NO_MEMORY
from rebind.eval.metrics import Mean, means, scored
from rebind.types import Frozen

if TYPE_CHECKING:
    import pandas as pd

_WHAT = ("steps", "api_calls")


class Saving(Frozen):
    """No Memory less a condition, over the pairs of one target and seed that both solved: what a failed run spent says
    nothing of what its task needs."""

    condition: str
    steps: Mean
    """StepRed (ShardMemo, section 4.1): turns; a turn that calls a skill is one, whatever the skill calls."""
    api_calls: Mean
    """API calls, those inside of skills included."""


def savings(episodes: pd.DataFrame, conditions: Sequence[str]) -> list[Saving]:
    """Of every condition with memory; none where No Memory was not run."""
    if NO_MEMORY not in conditions:
        return []
    rows = scored(episodes, "excluded")
    solved = rows[rows["success"] == 1.0]
    without = solved[solved["condition"] == NO_MEMORY][["target", "seed", *_WHAT]]
    found = []
    for condition in conditions:
        if condition != NO_MEMORY:
            own = solved[solved["condition"] == condition]
            pairs = own.merge(without, on=["target", "seed"], suffixes=("", "_without"))
            for name in _WHAT:
                pairs[name] = pairs[f"{name}_without"] - pairs[name]
            found.append(Saving(condition=condition, **means(pairs, _WHAT)))
    return found
