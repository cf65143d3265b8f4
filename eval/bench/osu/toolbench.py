"""`rebind bench osu toolbench`: overlap against disjoint construction on planted evidence (paper, sections 6.1 and 6.5,
Appendix G)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rebind.eval.bench.osu import published
from rebind.eval.bench.osu.cells import CELLS
from rebind.eval.bench.osu.methods import FLAT, HIERARCHY, METHODS, MMR, OSU, OSU_DISJOINT, Bench
from rebind.eval.bench.osu.scoring import Ask, Progress, Row, means, score, values
from rebind.eval.bench.osu.tau_data import Encode
from rebind.eval.bench.osu.toolbench_data import Library, Planted, load, plant
from rebind.eval.bench.osu.units_held import held
from rebind.eval.stats import RESAMPLES, sign_flip
from rebind.memory.encoders import encoder
from rebind.memory.osu.greedy import CohesionGreedy, CoverageGuided
from rebind.memory.osu.packing import Memory

if TYPE_CHECKING:
    import pandas as pd

SEEDS = (42, 123, 456)
BUDGETS = (200, 400, 800, 1600)
BETAS = (0.04, 0.08, 0.12, 0.16, 0.20)
ALPHAS = (0.0, 0.005, 0.01, 0.02, 0.04)
EVIDENCE = (2, 3, 4)
_MAIN_BETA, _MAIN_EVIDENCE = 0.12, 3
CONFIGURATION = {
    "name": "toolbench-1",
    "runs": "G1 and G2: full answers and gpt-3.5-turbo CoT traces, without the closing call",
    "episodes": "200 a seed; 500 background steps, three quarters from the 30 runs nearest by query, with replacement",
    "osu": "defaults of Table 8; coverage-guided greedy over all steps",
}

Makers = Mapping[str, Callable[[Bench], Memory]]


def run_toolbench(
    data: Path,
    progress: Progress | None = None,
    encode: Encode | None = None,
    seeds: Sequence[int] = SEEDS,
    episodes: int = 200,
) -> dict[str, Any]:
    """The whole benchmark on the trajectories under `data`.

    Args:
        data: the folder that holds `data_example/` and `toolbench/tooleval/`.
        progress: told of each seed of each evidence size.
        encode: texts to vectors; all-MiniLM-L6-v2 where not given.
        seeds: 42, 123 and 456 are the paper's.
        episodes: per seed.

    Raises:
        DataError: the data are not there.
    """
    import pandas as pd

    library = load(data, encode or encoder("all-minilm-l6-v2").encode)
    planted = {(n, seed): list(plant(library, seed, n, episodes)) for n in EVIDENCE for seed in seeds}
    frames: dict[int, list[pd.DataFrame]] = {n: [] for n in EVIDENCE}
    for done, ((n, seed), made) in enumerate(planted.items()):
        methods = {**_contrasts(), **_baselines()} if n == _MAIN_EVIDENCE else _beta_pair(_MAIN_BETA)
        frame = score(_asks(made), methods, BUDGETS).assign(seed=seed)
        frames[n].append(frame.assign(query=frame["query"] + seed * 10_000))
        if progress is not None:
            progress(done + 1, len(planted))
    main = pd.concat(frames[_MAIN_EVIDENCE], ignore_index=True)
    primary = [e for (n, _), made in planted.items() if n == _MAIN_EVIDENCE for e in made]
    return {
        "configuration": CONFIGURATION,
        "seeds": list(seeds),
        "statistics": _statistics(library),
        "cells": _cells(planted),
        "held": [
            {**row, **_published_held(str(row["construction"]))}
            for row in held((e.history, e.evidence) for e in primary)
        ],
        "rows": means(main),
        "beta": [
            {**_gap(main, "beta", beta, budget), "published": published.TABLE_6[beta][place]}
            for beta in BETAS
            for place, budget in enumerate(BUDGETS)
        ],
        "alpha": [_gap(main, "alpha", alpha, budget) for alpha in ALPHAS for budget in BUDGETS],
        "sizes": [
            {"evidence": n, **_gap(pd.concat(frames[n], ignore_index=True), "beta", _MAIN_BETA, budget)}
            for n in EVIDENCE
            for budget in BUDGETS
        ],
    }


def _asks(made: Sequence[Planted]) -> Iterator[Ask]:
    for episode in made:
        yield Ask(episode.name, episode.history, episode.query, episode.evidence)


def _name(kind: str, strength: float, construction: str) -> str:
    return f"{kind}={strength:g} {construction}"


def _beta_pair(beta: float) -> dict[str, Callable[[Bench], Memory]]:
    return {
        _name("beta", beta, "overlap"): lambda b: CoverageGuided(b.pool, beta),
        _name("beta", beta, "disjoint"): lambda b: CoverageGuided(b.disjoint, beta),
    }


def _alpha_pair(alpha: float) -> dict[str, Callable[[Bench], Memory]]:
    return {
        _name("alpha", alpha, "overlap"): lambda b: CohesionGreedy(b.pool, alpha),
        _name("alpha", alpha, "disjoint"): lambda b: CohesionGreedy(b.disjoint, alpha),
    }


def _contrasts() -> Makers:
    pairs = [_beta_pair(beta) for beta in BETAS] + [_alpha_pair(alpha) for alpha in ALPHAS]
    return {name: make for pair in pairs for name, make in pair.items()}


def _baselines() -> Makers:
    return {name: METHODS[name] for name in (FLAT, MMR, HIERARCHY, OSU, OSU_DISJOINT)}


def _gap(frame: pd.DataFrame, kind: str, strength: float, budget: int) -> Row:
    """Overlap − disjoint, averaged over seeds; each seed's sign-flip p, and Fisher's combination (scipy)."""
    from scipy import stats

    row: Row = {kind: strength, "budget": budget}
    for metric in ("recall", "hit2"):
        gaps, p_values = [], []
        for seed, part in frame.groupby("seed"):
            difference = values(part, _name(kind, strength, "overlap"), budget, metric) - values(
                part, _name(kind, strength, "disjoint"), budget, metric
            )
            p = sign_flip(difference.tolist(), [str(i) for i in range(len(difference))], resamples=RESAMPLES).p
            gaps.append(float(difference.mean()))
            p_values.append(1.0 if p is None else p)
            row[f"{metric}_{seed}"] = gaps[-1]
        row[metric] = float(np.mean(gaps))
        row[f"{metric}_p"] = float(stats.combine_pvalues(p_values, method="fisher").pvalue)
    return row


def _statistics(library: Library) -> list[Row]:
    lengths = [len(run.steps) for run in library.runs]
    by_split = {split: sum(run.split == split for run in library.runs) for split in ("G1", "G2")}
    return [
        {"name": "runs with a call", "measured": len(library.runs)},
        {"name": "of G1", "measured": by_split["G1"]},
        {"name": "of G2", "measured": by_split["G2"]},
        {"name": "cut at 100 characters upstream", "measured": sum(run.truncated for run in library.runs)},
        {"name": "calls a run", "measured": float(np.mean(lengths))},
        {"name": "calls with an entity", "measured": _with_entity(library)},
    ]


def _with_entity(library: Library) -> float:
    return float(np.mean([bool(step.note.entities) for run in library.runs for step in run.steps]))


def _cells(planted: Mapping[tuple[int, int], Sequence[Planted]]) -> list[Row]:
    """Cell fractions found, by evidence size; the paper says about 100 % T+E+ by construction."""
    rows: list[Row] = []
    for n in EVIDENCE:
        cells = [episode.cell for (size, _), made in planted.items() if size == n for episode in made]
        rows.extend({"evidence": n, "cell": cell, "fraction": cells.count(cell) / len(cells)} for cell in CELLS)
    return rows


def _published_held(construction: str) -> Row:
    return {
        "published_memberships": published.MEMBERSHIPS[construction],
        "published_evicted": 0.0 if construction == "overlap" else published.MEMBERSHIPS["evicted"],
    }
