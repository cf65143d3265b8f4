"""The router on held-out tasks of τ-bench: is it as good as the better method in every cell, and better than both in
all?

Cross-validation is nested and grouped by task: a query is routed by a router that saw no episode of its task, and what
that router tuned, it tuned on folds of its own training tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebind.eval.bench.osu.cells import CELLS, FAVOURABLE
from rebind.eval.bench.osu.scoring import BUDGETS, PRIMARY, Row, effect
from rebind.eval.bench.osu.tau_data import Source, concatenate, noisy_mean
from rebind.memory.osu.flat import Flat
from rebind.memory.osu.kernels import Floats
from rebind.memory.osu.pool import build_pool
from rebind.memory.osu.retrieve import OsuMem
from rebind.memory.osu.router import SHARES, Examples, Router, mixed
from rebind.memory.osu.signals import FEATURES, features

FOLDS = 10
CONTEXTS, DRAWS = 4, 4
"""Concatenations that every run is focal in, and noise draws of a query in each: they steady cells of some dozens of
queries. All of a task is in one fold."""
CHOICES = (
    "No feature was selected by a result. The list was extended twice, and shares, penalty, equal weight of cells, the "
    "search for the lean and the number of contexts and draws were settled, on a random half of the tasks "
    "(`development`), by this same cross-validation inside that half; the second list was once evaluated on all tasks "
    "(worst cell -2.0 points). `untouched` are the other tasks."
)


@dataclass(frozen=True, eq=False)
class _Cases:
    """One row per query, concatenation and draw."""

    examples: Examples
    cell: NDArray[np.str_]
    task: NDArray[np.str_]
    query: NDArray[np.str_]

    def part(self, mask: NDArray[np.bool_]) -> _Cases:
        return _Cases(self.examples.part(mask), self.cell[mask], self.task[mask], self.query[mask])


def route(
    sources: Sequence[Source], budgets: Sequence[int] = BUDGETS, contexts: int = CONTEXTS, draws: int = DRAWS
) -> list[dict[str, Any]]:
    """For every budget, the primary one first: Hit@2 of OSU, Flat, the router and the cell oracle by cell, on all
    held-out queries and on those of tasks that no choice was made on."""
    ordered = sorted(budgets, key=lambda budget: budget != PRIMARY)
    return [_routed(budget, cases, contexts, draws) for budget, cases in _cases(sources, ordered, contexts, draws)]


def development(tasks: Sequence[str]) -> set[str]:
    """The half of the tasks that the router's design was settled on."""
    names = sorted(set(tasks))
    return set(np.random.default_rng(7).permutation(names)[: len(names) // 2].tolist())


def _routed(budget: int, cases: _Cases, contexts: int, draws: int) -> dict[str, Any]:
    chosen = np.zeros(len(cases.cell), dtype=np.int64)
    leans = []
    for held_out in cases.examples.folds(FOLDS, seed=0):
        if held_out.any():
            router = Router.fit(cases.examples.part(~held_out))
            leans.append(router.lean)
            chosen[held_out] = router.choose(cases.examples.rows[held_out])
    untouched = ~np.isin(cases.task, list(development(cases.task.tolist())))
    outcomes, tasks = cases.examples.outcomes, cases.task.tolist()
    routed = outcomes[np.arange(len(chosen)), chosen]
    rows = _rows(cases, chosen)
    whole = Router.fit(cases.examples)
    return {
        "budget": budget,
        "contexts": contexts,
        "draws": draws,
        "held_out": f"{len(leans)} folds over {len(set(tasks))} tasks",
        "choices": CHOICES,
        "leans": leans,
        "features": dict(zip(FEATURES, (whole.weights[:, 0] - whole.weights[:, -1]).tolist(), strict=True)),
        "rows": rows,
        "untouched": _rows(cases.part(untouched), chosen[untouched]) if untouched.any() else [],
        "worst_cell": min(float(row["over_better"] or 0.0) for row in rows[:-1]),
        "over_osu": effect(routed - outcomes[:, 0], tasks)._asdict(),
        "over_flat": effect(routed - outcomes[:, -1], tasks)._asdict(),
    }


def _rows(cases: _Cases, chosen: NDArray[np.int64]) -> list[Row]:
    return [_row(name, cases, chosen) for name in (*CELLS, "all") if name == "all" or (cases.cell == name).any()]


def _row(name: str, cases: _Cases, chosen: NDArray[np.int64]) -> Row:
    part = np.ones(len(chosen), dtype=bool) if name == "all" else cases.cell == name
    outcomes, choice = cases.examples.outcomes[part], chosen[part]
    overlap, flat = float(outcomes[:, 0].mean()), float(outcomes[:, -1].mean())
    router = float(outcomes[np.arange(len(choice)), choice].mean())
    oracle = np.where(np.isin(cases.cell[part], FAVOURABLE), outcomes[:, 0], outcomes[:, -1])
    row: Row = {
        "cell": name,
        "n": int(part.sum()),
        "queries": len(np.unique(cases.query[part])),
        "osu": overlap,
        "flat": flat,
        "router": router,
        "oracle": float(oracle.mean()),
        "over_better": router - max(overlap, flat),
        "overlap_share": float(np.array(SHARES)[choice].mean()),
    }
    for place, share in enumerate(SHARES[1:-1], start=1):
        row[f"always_{share:g}"] = float(outcomes[:, place].mean())
    return row


def _cases(sources: Sequence[Source], budgets: Sequence[int], contexts: int, draws: int) -> list[tuple[int, _Cases]]:
    seen: list[tuple[str, str, str]] = []
    rows: Mapping[int, list[Floats]] = {budget: [] for budget in budgets}
    outcomes: Mapping[int, list[list[float]]] = {budget: [] for budget in budgets}
    for context in range(contexts):
        for episode in concatenate(sources, context):
            pool = build_pool(episode.history)
            osu, flat = OsuMem(pool), Flat(episode.history)
            for query in (q for q in episode.queries if q.crosstab):
                for draw in range(draws):
                    vector = noisy_mean(episode, query, context * draws + draw)
                    seen.append((query.cell, episode.task, f"{episode.name}/{query.number}"))
                    for budget in budgets:
                        one, other = osu.expand(vector, budget), flat.retrieve(vector, budget)
                        rows[budget].append(features(pool, vector, one, other))
                        picks = [mixed(one.steps, other, episode.history.costs, budget, share) for share in SHARES]
                        outcomes[budget].append([float(np.isin(query.evidence, p).sum() >= 2) for p in picks])
    cells, tasks, queries = (np.array(column) for column in zip(*seen, strict=True))
    found = []
    for budget in budgets:
        examples = Examples(np.array(rows[budget]), np.array(outcomes[budget]), tasks.tolist(), cells.tolist())
        found.append((budget, _Cases(examples, cells, tasks, queries)))
    return found
