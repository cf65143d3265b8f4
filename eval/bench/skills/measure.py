"""What is measured of a way to find skills, the same for every method and every set of tasks.

valid(s, t)   the skill, called with what a perfect reader would give it, solves the task: executed in the task's own
              world and accepted by what judges it.
P@3           of the at most three skills that a method hands on, the share that is valid; mean over queries. A query
              for which it hands on nothing counts 0 if a skill that it may see is valid, and is left out if none is: to
              hand on nothing is then right, and the query goes to Tier B.
P@3 of three  the same with 3 as the denominator, whatever was handed on (ShardMemo, appendix D, read to the letter).
StepRed       tool-use steps of the task's solution less those with the skill, where one call of a skill is one step and
              what must be looked up before is counted; 0 where no reuse was executed and validated. Mean over all
              queries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

R = 3
SEEDS = (1, 2, 3)


@dataclass(frozen=True)
class Measured:
    """One method on one query."""

    handed: int
    valid: int
    missed: bool
    """Nothing was handed on although something it might see is valid."""
    reduction: int
    reused: bool


def summary(rows: Sequence[Sequence[Measured]]) -> dict[str, Any]:
    """Means over queries, then over runs (one sequence each), with the standard deviation over runs."""
    runs = [_one(run) for run in rows]
    found: dict[str, Any] = {"queries": sum(map(len, rows))}
    for name in runs[0]:
        values = _known(runs, name)
        found[name] = round(float(np.mean(values)), 4) if values else None
    for name in ("p_at_3", "step_red"):
        values = _known(runs, name)
        found[f"{name}_sd"] = round(float(np.std(values, ddof=1)), 4) if len(values) > 1 else None
    return found


def _known(runs: Sequence[Mapping[str, float | None]], name: str) -> list[float]:
    return [value for run in runs if (value := run[name]) is not None]


def _one(run: Sequence[Measured]) -> dict[str, float | None]:
    counted = [m for m in run if m.handed or m.missed]
    shares = [m.valid / m.handed if m.handed else 0.0 for m in counted]
    return {
        "p_at_3": float(np.mean(shares)) if shares else None,
        "p_at_3_of_three": float(np.mean([m.valid / R for m in run])),
        "step_red": float(np.mean([m.reduction for m in run])),
        "reused": float(np.mean([m.reused for m in run])),
        "handed_on": float(np.mean([m.handed for m in run])),
        "counted": float(np.mean([bool(m.handed or m.missed) for m in run])),
    }


COLUMNS = ("method", "split", "p_at_3", "step_red", "p_at_3_of_three", "reused", "handed_on", "counted", "queries")


def table(title: str, rows: Sequence[Mapping[str, Any]]) -> tuple[str, list[str], list[list[str]]]:
    """Rows for the terminal."""
    return title, list(COLUMNS), [[_shown(row[name]) for name in COLUMNS] for row in rows]


def _shown(value: Any) -> str:
    return "–" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)
