"""What the feature router sees of each admissible shard."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rebind.memory.shard import kernels
from rebind.memory.shard.corpus import Admitted
from rebind.memory.shard.lexical import Floats, Lexical
from rebind.memory.shard.query import Query
from rebind.memory.shard.scope import NO_TIME
from rebind.memory.shard.segment import FAMILIES, Rows

NAMES = ("cosine", "sub-cosine", "bm25", "date", "size", *FAMILIES)
SHORTLIST = 256
"""Shards whose sub-centroids are compared; the others have too low a centroid and BM25 to be probed."""
_TOLD_WITHIN = 14 * 86_400
"""Seconds: things are told after they happen, so a shard may begin this long after the span that is asked for."""


def features(query: Query, admitted: Admitted, lexical: Lexical) -> tuple[NDArray[np.float32], Rows]:
    """Features of the shortlisted shards, (n, len(NAMES)), and their places among the A, ascending.

    Cosine, sub-cosine and BM25 are standardised within each family over the shards at hand.
    """
    cosine = _standardised(admitted.centroid_dots(query.vector).astype(np.float64), admitted.family)
    bm25 = _standardised(lexical.shard_scores(), admitted.family)
    places = np.arange(len(admitted))
    if len(places) > SHORTLIST:
        places = np.sort(np.argpartition(-(cosine + bm25), SHORTLIST)[:SHORTLIST])
    family = admitted.family[places]
    sub = admitted.sub_dots(query.vector, places).max(axis=1).astype(np.float64) if len(places) else cosine
    columns = [
        cosine[places],
        _standardised(sub, family),
        bm25[places],
        _date_match(query, admitted, places),
        np.log(admitted.size[places].astype(np.float64)),
        *(family == number for number in range(len(FAMILIES))),
    ]
    return np.column_stack(columns).astype(np.float32), places


def _standardised(values: Floats, family: NDArray[np.int8]) -> Floats:
    """Values less their family's mean, over its standard deviation; 0 where all are equal."""
    return kernels.standardised(values, family, len(FAMILIES))


def _date_match(query: Query, admitted: Admitted, places: Rows) -> NDArray[np.bool_]:
    """Whether a shard's time meets a span that the query names."""
    first, last = admitted.first[places], admitted.last[places]
    matches = np.zeros(len(places), dtype=bool)
    for begin, end in query.spans:
        matches |= (first != NO_TIME) & (first <= end + _TOLD_WITHIN) & (last >= begin)
    return matches
