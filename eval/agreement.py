"""How far annotators agree on labels of retrieved records: Cohen's kappa (statsmodels), Krippendorff's alpha
(krippendorff)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Literal, cast

from rebind.types import Frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LABELS = ("irrelevant", "surface", "workflow", "actionable")
"""From useless to best, so that they can be compared as ranks."""
USABLE = frozenset(LABELS[2:])
Level = Literal["nominal", "ordinal"]
Row = tuple[str, str]
"""Target key and record id."""


class PairAgreement(Frozen):
    """Cohen's kappa of two annotators; None where it is undefined (both gave one and the same label throughout)."""

    first: str
    second: str
    rows: int
    """Labelled by both."""
    same: float | None
    """Share of equal labels."""
    kappa: float | None
    kappa_weighted: float | None
    """Quadratic weights: the four labels as ranks."""
    kappa_usable: float | None
    """Of usable or not."""


class Agreement(Frozen):
    annotators: int
    alpha_ordinal: float | None
    """Krippendorff's alpha of the four labels as ranks, over rows that two or more annotators labelled."""
    alpha_usable: float | None
    pairs: tuple[PairAgreement, ...]


def agreement(labels: Mapping[str, Mapping[Row, str]]) -> Agreement:
    """Agreement of two or more annotators, by name."""
    rows = list(dict.fromkeys(row for own in labels.values() for row in own))
    return Agreement(
        annotators=len(labels),
        alpha_ordinal=_alpha(labels, rows, LABELS.index, "ordinal"),
        alpha_usable=_alpha(labels, rows, lambda label: int(label in USABLE), "nominal"),
        pairs=tuple(_pair(a, b, labels[a], labels[b]) for a, b in combinations(labels, 2)),
    )


def _alpha(
    labels: Mapping[str, Mapping[Row, str]], rows: Sequence[Row], code: Callable[[str], int], level: Level
) -> float | None:
    """Krippendorff's alpha; None where all labels are one and the same, or no row has two."""
    import krippendorff
    import numpy as np

    data = np.array(
        [[code(own[row]) if row in own else np.nan for row in rows] for own in labels.values()], dtype=float
    )
    known = data[:, np.isfinite(data).sum(axis=0) > 1]
    if known.size == 0 or len(np.unique(known[np.isfinite(known)])) < 2:
        return None
    return float(krippendorff.alpha(reliability_data=data, level_of_measurement=level))


def _pair(first: str, second: str, a: Mapping[Row, str], b: Mapping[Row, str]) -> PairAgreement:
    both = [(a[row], b[row]) for row in a if row in b]
    codes = [(LABELS.index(x), LABELS.index(y)) for x, y in both]
    usable = [(int(x in USABLE), int(y in USABLE)) for x, y in both]
    return PairAgreement(
        first=first,
        second=second,
        rows=len(both),
        same=sum(x == y for x, y in both) / len(both) if both else None,
        kappa=_kappa(_counts(codes, len(LABELS)), None),
        kappa_weighted=_kappa(_counts(codes, len(LABELS)), "fc"),
        kappa_usable=_kappa(_counts(usable, 2), None),
    )


def _counts(codes: Sequence[tuple[int, int]], size: int) -> NDArray[np.float64]:
    """How often each pair of labels was given."""
    import numpy as np

    counts = np.zeros((size, size))
    for x, y in codes:
        counts[x, y] += 1
    return counts


def _kappa(counts: NDArray[np.float64], weights: str | None) -> float | None:
    """Cohen's kappa of a table of counts; `fc` are quadratic weights (Fleiss and Cohen)."""
    from statsmodels.stats.inter_rater import cohens_kappa

    if (
        max(counts.sum(axis=0).max(), counts.sum(axis=1).max()) >= counts.sum()
        and ((counts.sum(axis=0) > 0) == (counts.sum(axis=1) > 0)).all()
    ):
        return None  # one label throughout, or no row: nothing to agree on
    found = float(cast("float", cohens_kappa(counts, wt=weights, return_results=False)))
    return found if math.isfinite(found) else None
