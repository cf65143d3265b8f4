"""`rebind bench osu tau`: when overlap helps on real trajectories (paper, sections 6.2 and 6.3, Appendices C, D and
I)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rebind.eval.bench.osu import published
from rebind.eval.bench.osu.cells import CELLS
from rebind.eval.bench.osu.interaction import interaction
from rebind.eval.bench.osu.methods import FLAT, METHODS, OSU, OSU_DISJOINT
from rebind.eval.bench.osu.routing import route
from rebind.eval.bench.osu.rule import rule
from rebind.eval.bench.osu.scoring import (
    BUDGETS,
    PRIMARY,
    Ask,
    Progress,
    Row,
    clusters,
    contrast,
    effect,
    means,
    score,
    values,
)
from rebind.eval.bench.osu.tau_data import (
    FAULT_RUNS,
    RUNS,
    Encode,
    TauEpisode,
    TauQuery,
    augment,
    cells_of,
    concatenate,
    load,
    noisy_mean,
    verbatim,
)
from rebind.eval.bench.osu.units_held import held
from rebind.eval.stats import holm
from rebind.memory.encoders import encoder
from rebind.memory.osu.trajectory import Vectors

if TYPE_CHECKING:
    import pandas as pd

_MAIN = {name: METHODS[name] for name in (FLAT, OSU, OSU_DISJOINT)}
CONFIGURATION = {
    "name": "tau-1",
    "runs": "airline gpt-4o and retail tool calling; at least 2 matched gold actions and 8 steps",
    "queries": "one per user turn with at least 2 gold actions before it; cross-tabulation: at most 7",
    "episodes": "every run with a query is focal once, among runs drawn at random to 256 to 311 steps; seed 42",
    "osu": "defaults of Table 8",
}


def run_tau(data: Path, progress: Progress | None = None, encode: Encode | None = None) -> dict[str, Any]:
    """The whole benchmark on the runs under `data`.

    Args:
        data: the folder that holds `runs/`.
        progress: told of each of its stages.
        encode: texts to vectors; all-MiniLM-L6-v2 where not given.

    Raises:
        DataError: the data are not there.
    """
    sources = load(data, encode or encoder("all-minilm-l6-v2").encode)
    episodes = concatenate(sources)
    stages = 6
    _tell(progress, 1, stages)
    frame = score(_asks(episodes, noisy_mean), METHODS)
    _tell(progress, 2, stages)
    own_words = score(_asks(episodes, lambda _, query: verbatim(query)), _MAIN)
    _tell(progress, 3, stages)
    augmented = score(_asks([augment(e) for e in episodes], noisy_mean), METHODS)
    _tell(progress, 4, stages)
    router, *others = route(sources)
    _tell(progress, 5, stages)
    result = {
        "configuration": CONFIGURATION,
        "statistics": _statistics(episodes, len(sources)),
        "cells": _cells(episodes, cells_of(data, (*RUNS, *FAULT_RUNS))),
        "rows": means(frame),
        "crosstab": _crosstab(frame),
        "interaction": [{"budget": b, **interaction(frame, b), "published": published.INTERACTION[b]} for b in BUDGETS],
        "rule": rule(frame),
        "verbatim": {"rows": means(own_words), "crosstab": _crosstab(own_words)},
        "augmented": {"rows": means(augmented), "gaps": _gaps(augmented)},
        "held": held((e.history, q.evidence) for e in episodes for q in e.queries if q.crosstab),
        "router": router,
        "router_other_budgets": others,
    }
    _tell(progress, stages, stages)
    return result


def _tell(progress: Progress | None, done: int, total: int) -> None:
    if progress is not None:
        progress(done, total)


def _asks(episodes: Iterable[TauEpisode], make: Callable[[TauEpisode, TauQuery], Vectors]) -> Iterator[Ask]:
    for episode in episodes:
        for query in episode.queries:
            if query.crosstab:
                yield Ask(episode.name, episode.history, make(episode, query), query.evidence, {"cell": query.cell})


def _statistics(episodes: Sequence[TauEpisode], kept: int) -> list[Row]:
    asked = [(e, q) for e in episodes for q in e.queries if q.crosstab]
    ages = np.concatenate([len(e.history) - q.evidence for e, q in asked])
    lengths = [len(e.history) for e in episodes]
    facts: list[tuple[str, float, float | None]] = [
        ("runs kept", kept, None),
        ("episodes", len(episodes), 125),
        ("queries", len(asked), 328),
        ("shortest", min(lengths), 256),
        ("longest", max(lengths), 311),
        ("evidence", float(np.mean([len(q.evidence) for _, q in asked])), 3.5),
        ("mean distance", float(ages.mean()), 123),
        ("farther than 50", float((ages > 50).mean()), 0.73),
    ]
    return [{"name": name, "measured": measured, "published": paper} for name, measured, paper in facts]


def _cells(episodes: Sequence[TauEpisode], with_faults: Counter[str]) -> list[Row]:
    """Both distributions: of the cross-tabulation (at most 7 evidence steps) and of all queries (section 6.6). The
    former also with the runs that have injected faults, which are counted only."""
    asked = [q for e in episodes for q in e.queries]
    rows: list[Row] = []
    for name, paper, counts in (
        ("crosstab", published.TAU_CELLS, Counter(q.cell for q in asked if q.crosstab)),
        ("crosstab with fault runs", published.TAU_CELLS, with_faults),
        ("selection", published.SELECTION_CELLS, Counter(q.cell for q in asked)),
    ):
        for cell in CELLS:
            n = counts[cell]
            rows.append({"set": name, "cell": cell, "n": n, "fraction": n / counts.total(), "published": paper[cell]})
    return rows


def _crosstab(frame: pd.DataFrame) -> list[Row]:
    """OSU − Flat and overlap − disjoint by cell and budget; p by episode and by query, Holm over the cells of a
    budget."""
    rows: list[Row] = []
    for budget in BUDGETS:
        of_budget = [_crosstab_row(frame, cell, budget) for cell in (*CELLS, "all")]
        for key in ("hit2_p", "recall_p"):
            for row, adjusted in zip(of_budget, holm([_float(row[key]) for row in of_budget[:4]]), strict=False):
                row[f"{key}_holm"] = adjusted
        rows.extend(of_budget)
    return rows


def _crosstab_row(frame: pd.DataFrame, cell: str, budget: int) -> Row:
    part = frame if cell == "all" else frame[frame["cell"] == cell]
    row: Row = {"cell": cell, "budget": budget, "n": part["query"].nunique(), "episodes": part["cluster"].nunique()}
    for metric in ("hit2", "recall"):
        gap = contrast(part, OSU, FLAT, budget, metric)
        row |= {metric: gap.difference, f"{metric}_p": gap.p, f"{metric}_p_query": gap.p_query}
        row |= {f"{metric}_low": gap.low, f"{metric}_high": gap.high}
    hit2 = float(row["hit2"] or 0.0)
    overlap = contrast(part, OSU, OSU_DISJOINT, budget, "hit2", interval=False)
    row |= {"overlap": overlap.difference, "overlap_p": overlap.p, "overlap_p_query": overlap.p_query}
    paper = published.TABLE_5[cell][BUDGETS.index(budget)] if cell in published.TABLE_5 else None
    if paper is None and budget == PRIMARY:
        paper = published.TABLE_4[cell]["hit2"]
    row["published"] = paper
    row["same_sign"] = None if paper is None else bool(np.sign(paper) == np.sign(hit2))
    return row


def _gaps(frame: pd.DataFrame) -> list[Row]:
    """Table 12: OSU − Flat in Hit@2 on the augmented cache, by episode, with the mean gap by query beside it."""
    rows: list[Row] = []
    for budget in BUDGETS:
        difference = values(frame, OSU, budget, "hit2") - values(frame, FLAT, budget, "hit2")
        result = effect(difference, clusters(frame))
        rows.append({"budget": budget, **result._asdict(), "published": published.AUGMENTED_GAP[budget]})
    return rows


def _float(value: float | int | str | None) -> float | None:
    return None if value is None else float(value)
