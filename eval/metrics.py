"""What was measured, per condition, each number with its denominator. An empty group has the value None, never 0."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from rebind.eval.rows import COMPONENTS
from rebind.eval.stats import SHARE, Interval, robust_interval
from rebind.types import LENGTH_GROUPS, SHIFT_LEVELS, Frozen

if TYPE_CHECKING:
    import pandas as pd

Treatment = Literal["excluded", "failed"]
TREATMENTS: tuple[Treatment, ...] = ("excluded", "failed")
"""Of invalid runs: left out, or counted as failures."""
Dimension = Literal["all", "macro", "environment", "level", "length_group"]
OUTCOME_METRICS = ("success", "milestone")
STALE = "stale_binding"
"""1 for a run that used a stale value, 0 for one that did not; known where the target has a changed, checkable binding
and the agent acted to an end of its own (valid or invalid-agent)."""
SHARES = (*OUTCOME_METRICS, STALE)
"""Metrics in [0, 1]; the others are counts per episode."""
METRICS = (*OUTCOME_METRICS, "api_calls", "online", STALE)
"""What every contrast is made on."""
AMOUNTS = ("api_calls", "online", "once", *COMPONENTS, "cached", "wasted", "cost", "steps", "seconds")
MICRO, MACRO = "micro", "macro"
ALL = "all"


class Mean(Frozen):
    """A mean over targets of each target's mean over its seeds."""

    value: float | None
    targets: int
    episodes: int
    interval: Interval | None = None


class Summary(Frozen):
    """The means of one condition in one scope: an environment's id, `micro` (all targets alike) or `macro` (mean over
    environments; None where the condition has no value in one of them)."""

    condition: str
    scope: str
    treatment: Treatment
    means: dict[str, Mean]


class Share(Frozen):
    """A share of n; None of none."""

    value: float | None
    hits: int
    n: int


class Retrieval(Frozen):
    """Retrieval and selection against the seals (QCR, Figure 3). A record is usable where it is of the target's family;
    paired where the target was made from it. Reciprocal ranks are 0 where no candidate fits."""

    k: int
    paired_at_1: Share
    paired_at_k: Share
    usable_at_1: Share
    usable_at_k: Share
    chosen_paired: Share
    chosen_usable: Share
    mrr_paired: Mean
    mrr_usable: Mean
    precision_at_k: Mean
    """Precision@R with R = k (ShardMemo, appendix D): the share of the k places that usable records take."""


class Staleness(Frozen):
    """Stale bindings and correct rebinding of one condition at one shift level (or all)."""

    condition: str
    level: str
    stale: Mean
    """Share of runs that used a stale value, over targets with a changed, checkable binding."""
    rebound: Mean
    """Share of runs that bound every changed target value and used no stale one; a lower bound."""
    bound: Mean
    """Share of the changed target values that a run bound."""


class Ended(Frozen):
    """How many cells of a condition ended in one way."""

    condition: str
    outcome: str
    """`valid`, `invalid-agent`, `invalid-infra`, or `missing` for a planned cell that has not ended."""
    ending: str
    cells: int


_BELONGS = ("target", "source", "environment", "family", "level", "length_group", "condition", "seed")


def scored(episodes: pd.DataFrame, treatment: Treatment) -> pd.DataFrame:
    """The episodes a treatment looks at: what they belong to, and float columns, NaN where nothing is known.

    `excluded` keeps valid episodes. `failed` keeps all: an invalid one has success 0 and its judged milestone share, or
    0 where it was never judged; what it spent stands.
    """
    import numpy as np

    rows = episodes[(episodes["outcome"] == "valid").fillna(False)] if treatment == "excluded" else episodes
    found = {c: rows[c].to_numpy(dtype=float, na_value=np.nan) for c in (*OUTCOME_METRICS, *AMOUNTS, "stale")}
    outcome = rows["outcome"].to_numpy(dtype=object)
    if treatment == "failed":
        invalid = outcome != "valid"
        found["success"] = np.where(invalid, 0.0, found["success"])
        found["milestone"] = np.where(invalid & np.isnan(found["milestone"]), 0.0, found["milestone"])
    acted = (outcome != "invalid-infra") & rows["checkable"].to_numpy(dtype=bool, na_value=False)
    stale = found.pop("stale")
    found[STALE] = np.where(acted & ~np.isnan(stale), (stale > 0).astype(float), np.nan)
    return rows[list(_BELONGS)].assign(**found).copy()  # one block of numbers, of which parts are quickly taken


def mean(rows: pd.DataFrame, column: str) -> Mean:
    """Mean over targets of a column of `scored` rows of one condition; rows that do not know it are left out."""
    return means(rows, (column,))[column]


def means(rows: pd.DataFrame, columns: Sequence[str], *, interval_of: str | None = None) -> dict[str, Mean]:
    """As `mean`, of several columns at once; with the interval of one of them."""
    grouped = rows.groupby("target", sort=True)
    by_target, known = grouped[list(columns)].mean(), rows[list(columns)].notna().sum()
    found = {}
    for column in columns:
        values = by_target[column].dropna()
        spread = None
        if column == interval_of:
            spread = robust_interval(
                values.tolist(), grouped["source"].first().loc[values.index].tolist(), bounds=SHARE
            )
        found[column] = Mean(
            value=float(values.mean()) if len(values) else None,
            targets=len(values),
            episodes=int(known[column]),
            interval=spread,
        )
    return found


def summaries(episodes: pd.DataFrame, conditions: Sequence[str], environments: Sequence[str]) -> list[Summary]:
    """Every condition in every scope, under both treatments. Intervals stand at the micro success."""
    found: list[Summary] = []
    for treatment in TREATMENTS:
        rows = scored(episodes, treatment)
        for condition in conditions:
            own = rows[rows["condition"] == condition]
            parts = [_summary(own[own["environment"] == e], condition, e, treatment) for e in environments]
            found += parts
            found.append(_macro(parts, condition, treatment))
            found.append(_summary(own, condition, MICRO, treatment))
    return found


def _summary(rows: pd.DataFrame, condition: str, scope: str, treatment: Treatment) -> Summary:
    found = means(rows, (*OUTCOME_METRICS, *AMOUNTS), interval_of="success" if scope == MICRO else None)
    return Summary(condition=condition, scope=scope, treatment=treatment, means=found)


def _macro(parts: Sequence[Summary], condition: str, treatment: Treatment) -> Summary:
    found = {}
    for name in (*OUTCOME_METRICS, *AMOUNTS):
        each = [p.means[name] for p in parts]
        values = [m.value for m in each if m.value is not None]
        found[name] = Mean(
            value=sum(values) / len(values) if values and len(values) == len(each) else None,
            targets=sum(m.targets for m in each),
            episodes=sum(m.episodes for m in each),
        )
    return Summary(condition=condition, scope=MACRO, treatment=treatment, means=found)


def staleness(episodes: pd.DataFrame, conditions: Sequence[str]) -> list[Staleness]:
    """Stale-binding and rebinding rates over the runs in which the agent acted to an end of its own (valid and
    invalid-agent), for all targets and by shift level."""
    acted = episodes[(episodes["outcome"].isin(["valid", "invalid-agent"]) & episodes["checkable"]).fillna(False)]
    levels = (ALL, *present(acted["level"], SHIFT_LEVELS))
    acted = acted[["target", "condition", "level"]].assign(
        any_stale=(acted["stale"] > 0).astype("float64"),
        rebound=acted["rebound"].astype("Float64").astype("float64"),
        bound_share=acted["bound_share"].astype("float64"),
    )
    found = []
    for condition in conditions:
        own = acted[acted["condition"] == condition]
        for level in levels:
            rows = own if level == ALL else own[own["level"] == level]
            m = means(rows, ("any_stale", "rebound", "bound_share"))
            rates = {"stale": m["any_stale"], "rebound": m["rebound"], "bound": m["bound_share"]}
            found.append(Staleness(condition=condition, level=level, **rates))
    return found


def cached_shares(episodes: pd.DataFrame, conditions: Sequence[str]) -> dict[str, Share]:
    """Of each condition's prompt tokens, the writer's included, those that came from a provider's prefix cache; over
    the episodes of which all counts are known. `hits` and `n` are tokens."""
    found = {}
    for condition in conditions:
        own = episodes[episodes["condition"] == condition][["cached", "i_base", "i_mem", "i_syn"]].dropna()
        hits, prompt = int(own["cached"].sum()), int(own[["i_base", "i_mem", "i_syn"]].to_numpy().sum())
        found[condition] = Share(value=hits / prompt if prompt else None, hits=hits, n=prompt)
    return found


def retrieval(targets: pd.DataFrame) -> Retrieval:
    """Diagnostics over the targets that have candidates."""
    seen = targets[targets["candidates"] > 0] if len(targets) else targets
    ranks = {name: _ranks(seen, f"{name}_rank") for name in ("paired", "usable")}
    k = int(seen["candidates"].max()) if len(seen) else 0
    return Retrieval(
        k=k,
        paired_at_1=_share(r == 1 for r in ranks["paired"]),
        paired_at_k=_share(r is not None for r in ranks["paired"]),
        usable_at_1=_share(r == 1 for r in ranks["usable"]),
        usable_at_k=_share(r is not None for r in ranks["usable"]),
        chosen_paired=_share(seen["chosen_paired"] if len(seen) else ()),
        chosen_usable=_share(seen["chosen_usable"] if len(seen) else ()),
        mrr_paired=_reciprocal(ranks["paired"]),
        mrr_usable=_reciprocal(ranks["usable"]),
        precision_at_k=_average([n / k for n in seen["usable"]] if k else []),
    )


def _ranks(targets: pd.DataFrame, column: str) -> list[int | None]:
    if not len(targets):
        return []
    return [
        None if missing else int(rank) for rank, missing in zip(targets[column], targets[column].isna(), strict=True)
    ]


def _share(hits: Iterable[bool]) -> Share:
    found = [bool(h) for h in hits]
    return Share(value=sum(found) / len(found) if found else None, hits=sum(found), n=len(found))


def _reciprocal(ranks: Sequence[int | None]) -> Mean:
    return _average([1 / r if r else 0.0 for r in ranks])


def _average(values: Sequence[float]) -> Mean:
    return Mean(value=sum(values) / len(values) if values else None, targets=len(values), episodes=len(values))


def endings(episodes: pd.DataFrame, conditions: Sequence[str], planned: int) -> list[Ended]:
    """Cells by how they ended; `planned` is the number of cells a condition has in the plan."""
    found = []
    for condition in conditions:
        own = episodes[episodes["condition"] == condition]
        ending = own["ending"].where(own["outcome"] != "valid", own["success"].map({True: "success", False: "failure"}))
        counts = Counter(zip(own["outcome"], ending, strict=True))
        found += [
            Ended(condition=condition, outcome=outcome, ending=how, cells=cells)
            for (outcome, how), cells in sorted(counts.items())
        ]
        if planned > len(own):
            found.append(Ended(condition=condition, outcome="missing", ending="not run", cells=planned - len(own)))
    return found


def groups_of(rows: pd.DataFrame, dimension: Dimension) -> list[str]:
    """The groups of a dimension that a run has, in their own order."""
    if dimension == "level":
        return present(rows["level"], SHIFT_LEVELS)
    if dimension == "length_group":
        return present(rows["length_group"], LENGTH_GROUPS)
    return sorted(rows["environment"].unique()) if dimension == "environment" else [ALL]


def present(values: pd.Series[str], order: Sequence[str]) -> list[str]:
    """The distinct values in a given order, unknown ones (not null) last."""
    seen = set(values.dropna().unique())
    return [v for v in order if v in seen] + sorted(seen - set(order))
