"""Whether the gap between two methods differs by cell (paper, section 6.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rebind.eval.bench.osu.cells import CELLS
from rebind.eval.bench.osu.methods import FLAT, OSU
from rebind.eval.bench.osu.scoring import clusters, values
from rebind.eval.stats import RESAMPLES
from rebind.eval.stats import interaction as wald

if TYPE_CHECKING:
    import pandas as pd


def interaction(frame: pd.DataFrame, budget: int, metric: str = "hit2") -> dict[str, float | None]:
    """The method × cell test of OSU − Flat.

    `p` flips the signs of whole episodes and `p_query` (the paper's) of single queries, both after centring within
    cells, against the variance between cell means (scipy `monte_carlo_test`); `p_wald` is an F test with cluster
    covariance.
    """
    difference = values(frame, OSU, budget, metric) - values(frame, FLAT, budget, metric)
    queries = frame.drop_duplicates("query").sort_values("query")
    cell = np.array([CELLS.index(c) for c in queries["cell"]])
    _, episode = np.unique(np.array(clusters(frame)), return_inverse=True)
    return {
        "p": _flips(difference, cell, episode),
        "p_query": _flips(difference, cell, np.arange(len(cell))),
        "p_wald": wald(difference.tolist(), clusters(frame), queries["cell"].tolist()).p,
    }


def _flips(difference: NDArray[np.float64], cell: NDArray[np.int64], block: NDArray[np.int64]) -> float:
    from scipy import stats

    present = np.unique(cell)
    average = (cell[:, None] == present) / np.bincount(cell)[present]
    centred = difference - (difference @ average)[np.searchsorted(present, cell)]
    rng = np.random.default_rng(0)

    def null(size: tuple[int, ...]) -> NDArray[np.float64]:
        signs = rng.choice([-1.0, 1.0], size=(*size[:-1], int(block.max()) + 1))
        flipped: NDArray[np.float64] = signs[..., block] * centred
        return flipped

    def between(sample: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
        spread: NDArray[np.float64] = np.var(np.moveaxis(sample, axis, -1) @ average, axis=-1)
        return spread

    result = stats.monte_carlo_test(
        difference, null, between, vectorized=True, n_resamples=RESAMPLES, batch=1_000, alternative="greater"
    )
    return float(result.pvalue)
