"""pass^k: the chance that k runs of one target all succeed (Yao et al. 2025, τ-bench)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rebind.eval.metrics import ALL, TREATMENTS, Dimension, Treatment, groups_of, scored
from rebind.eval.stats import SHARE, Interval, robust_interval
from rebind.types import Frozen

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

_GROUPED: tuple[Dimension, ...] = ("environment", "level", "length_group")


class Passed(Frozen):
    """pass^k: the chance that k runs of one target all succeed, averaged over targets with at least k runs."""

    k: int
    value: float | None
    targets: int
    interval: Interval | None = None
    """None for a macro mean."""


class PassRate(Frozen):
    """pass^k of one condition in one group of targets; `macro` is the mean over environments."""

    condition: str
    treatment: Treatment
    dimension: Dimension
    group: str
    passed: Passed


def pass_hat_k(hits: Any, runs: Any, k: int, sources: Sequence[str] | NDArray[np.intp]) -> Passed:
    """pass^k: mean over targets with at least k runs of C(hits, k) / C(runs, k) (Yao et al. 2025, τ-bench).

    Args:
        hits: successes per target.
        runs: runs per target.
        sources: the source trajectory of each target, for the interval.
    """
    import numpy as np
    from scipy.special import comb

    kept = np.asarray(runs) >= k
    shares = comb(np.asarray(hits)[kept], k) / comb(np.asarray(runs)[kept], k)
    return Passed(
        k=k,
        value=float(shares.mean()) if shares.size else None,
        targets=int(shares.size),
        interval=robust_interval(shares, np.asarray(sources)[kept], bounds=SHARE),
    )


def passes(episodes: pd.DataFrame, conditions: Sequence[str], seeds: int) -> dict[str, list[Passed]]:
    """pass^k of each condition for k from 1 to the number of seeds, over valid episodes."""
    rows = scored(episodes, "excluded")
    return {c: _passed(_by_target(rows, c), seeds) for c in conditions}


def pass_rates(
    episodes: pd.DataFrame, conditions: Sequence[str], seeds: int, environments: Sequence[str]
) -> list[PassRate]:
    """pass^k of each condition for every k: over all targets, by environment and their mean (macro), by shift level and
    by length group; under both treatments."""
    found = []
    for treatment in TREATMENTS:
        rows = scored(episodes, treatment)
        for condition in conditions:
            own = _by_target(rows, condition)
            by: dict[Dimension, dict[str, list[Passed]]] = {"all": {ALL: _passed(own, seeds)}}
            for dimension in _GROUPED:
                groups = groups_of(rows, dimension)
                by[dimension] = {g: _passed(own[own[dimension] == g], seeds) for g in groups}
            by["macro"] = {ALL: _macro_passed([by["environment"].get(e, []) for e in environments], seeds)}
            found += [
                PassRate(condition=condition, treatment=treatment, dimension=dimension, group=group, passed=passed)
                for dimension, each in by.items()
                for group, members in each.items()
                for passed in members
            ]
    return found


def _by_target(rows: pd.DataFrame, condition: str) -> pd.DataFrame:
    """Hits and runs of each target under a condition, with what the target belongs to (the source as a code)."""
    own = rows[rows["condition"] == condition]
    grouped = own.groupby("target", sort=True)
    made = grouped[["source", *_GROUPED]].first()
    return made.assign(
        hits=grouped["success"].sum(),
        runs=grouped["success"].count(),
        source=made["source"].astype("category").cat.codes,
    )


def _passed(targets: pd.DataFrame, seeds: int) -> list[Passed]:
    """pass^k for k from 1 to the number of seeds."""
    hits, runs, sources = (targets[c].to_numpy() for c in ("hits", "runs", "source"))
    return [pass_hat_k(hits, runs, k, sources) for k in range(1, seeds + 1)]


def _macro_passed(parts: Sequence[Sequence[Passed]], seeds: int) -> list[Passed]:
    """The mean over environments; None where one of them has no value."""
    found = []
    for n in range(seeds):
        values = [p[n].value if p else None for p in parts]
        known = [v for v in values if v is not None]
        found.append(
            Passed(
                k=n + 1,
                value=sum(known) / len(known) if known and len(known) == len(values) else None,
                targets=sum(p[n].targets for p in parts if p),
            )
        )
    return found
