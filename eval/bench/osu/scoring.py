"""Hit@2 and recall of every method, budget and query, and paired tests of their differences (paper, section 5.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebind.eval.bench.osu.methods import Bench
from rebind.eval.stats import RESAMPLES, bca_interval, sign_flip
from rebind.memory.osu.packing import Memory
from rebind.memory.osu.trajectory import Steps, Trajectory, Vectors

if TYPE_CHECKING:
    import pandas as pd

BUDGETS = (64, 128, 256, 512)
PRIMARY = 256
NEAR = 50
"""Evidence at most so many steps before the query is near (paper, Figure 2)."""

Progress = Callable[[int, int], None]
"""Called with what is done and what there is to do."""
Row = dict[str, float | int | str | None]
Table = tuple[str, list[str], list[list[str]]]
"""Title, columns and rows for the terminal."""


class Ask(NamedTuple):
    """One query against one history."""

    cluster: str
    """What the permutation moves as one: the episode."""
    history: Trajectory
    query: Vectors
    evidence: Steps
    labels: Mapping[str, str] = {}
    """Further columns, such as the cell."""


class Contrast(NamedTuple):
    """A paired difference of two methods over queries, tested with whole episodes changing sign."""

    difference: float
    p: float | None
    p_query: float | None
    """The same test with every query on its own, as the paper has it."""
    low: float | None
    high: float | None
    queries: int
    episodes: int


def score(
    asks: Iterable[Ask], methods: Mapping[str, Callable[[Bench], Memory]], budgets: Sequence[int] = BUDGETS
) -> pd.DataFrame:
    """One row per query, method and budget: `query`, `cluster`, `method`, `budget`, `recall`, `hit2`, `near`, `far`,
    and the labels. `near` and `far` are NaN where a query has no such evidence."""
    import pandas as pd

    rows = []
    for number, ask in enumerate(asks):
        bench = Bench(ask.history, ask.evidence)
        near = len(ask.history) - ask.evidence <= NEAR
        for name, make in methods.items():
            memory = make(bench)
            for budget in budgets:
                found = np.isin(ask.evidence, memory.retrieve(ask.query, budget))
                rows.append(
                    {
                        "query": number,
                        "cluster": ask.cluster,
                        "method": name,
                        "budget": budget,
                        "recall": float(found.mean()),
                        "hit2": float(found.sum() >= 2),
                        "near": float(found[near].mean()) if near.any() else float("nan"),
                        "far": float(found[~near].mean()) if not near.all() else float("nan"),
                        **ask.labels,
                    }
                )
    return pd.DataFrame(rows)


def means(frame: pd.DataFrame) -> list[Row]:
    """Averages over queries, one row per method and budget, in order of appearance."""
    grouped = frame.groupby(["method", "budget"], sort=False)[["hit2", "recall", "near", "far"]].mean()
    return [
        {"method": str(method), "budget": int(budget), **{str(k): _number(v) for k, v in values.items()}}
        for (method, budget), values in zip(grouped.index, grouped.to_dict("records"), strict=True)
    ]


def values(frame: pd.DataFrame, method: str, budget: int, metric: str) -> NDArray[np.float64]:
    """A metric of one method and budget, by query."""
    part = frame[(frame["method"] == method) & (frame["budget"] == budget)].sort_values("query")
    return part[metric].to_numpy(dtype=np.float64)


def clusters(frame: pd.DataFrame) -> list[str]:
    """The cluster of every query, in order."""
    return frame.drop_duplicates("query").sort_values("query")["cluster"].astype(str).tolist()


def contrast(frame: pd.DataFrame, one: str, other: str, budget: int, metric: str, *, interval: bool = True) -> Contrast:
    """`one` minus `other`."""
    difference = values(frame, one, budget, metric) - values(frame, other, budget, metric)
    return effect(difference, clusters(frame), interval=interval)


def effect(difference: NDArray[np.float64], episodes: Sequence[str], *, interval: bool = True) -> Contrast:
    """A mean paired difference with the p-values of both levels and the BCa interval over episodes."""
    data = difference.tolist()
    bounds = bca_interval(data, episodes) if interval else None
    return Contrast(
        difference=float(np.mean(difference)) if len(data) else float("nan"),
        p=sign_flip(data, episodes, resamples=RESAMPLES).p,
        p_query=sign_flip(data, [str(i) for i in range(len(data))], resamples=RESAMPLES).p,
        low=bounds.low if bounds else None,
        high=bounds.high if bounds else None,
        queries=len(data),
        episodes=len(set(episodes)),
    )


def relative_gain(
    one: NDArray[np.float64], other: NDArray[np.float64], episodes: Sequence[str], *, seed: int = 0
) -> tuple[float | None, float | None, float | None]:
    """Ratio of means minus 1, with its 95 % BCa interval over episodes (scipy); None for what cannot be had."""
    import warnings

    from scipy import stats

    if not other.sum():
        return None, None, None
    _, codes = np.unique(np.asarray(episodes), return_inverse=True)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)  # told below: the bounds are then not finite
        interval = stats.bootstrap(
            (np.bincount(codes, weights=one), np.bincount(codes, weights=other)),
            lambda a, b, axis=-1: a.sum(axis=axis) / b.sum(axis=axis) - 1.0,
            paired=True,
            vectorized=True,
            n_resamples=RESAMPLES,
            batch=500,
            method="BCa",
            rng=np.random.default_rng(seed),
        ).confidence_interval
    return float(one.sum() / other.sum() - 1.0), _number(float(interval.low)), _number(float(interval.high))


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
