"""What the feature router sees of each admissible shard."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rebind.memory.shard import router_kernels
from rebind.memory.shard.corpus import Admitted
from rebind.memory.shard.lexical import Lexical
from rebind.memory.shard.query import Query
from rebind.memory.shard.scope import NO_TIME
from rebind.memory.shard.segment import FAMILIES, Rows

NAMES = ("cosine", "sub-cosine", "bm25", "date", "size", *FAMILIES)
SHORTLIST = 128
"""Shards whose sub-centroids are compared; the others have too low a centroid and BM25 to be probed."""
_TOLD_WITHIN = 14 * 86_400
"""Seconds: things are told after they happen, so a shard may begin this long after the span that is asked for."""


def features(query: Query, admitted: Admitted, lexical: Lexical) -> tuple[NDArray[np.float32], Rows]:
    """Features of the shortlisted shards, (n, len(NAMES)), and their places among the A, ascending.

    Cosine, sub-cosine and BM25 are standardised within each family over the shards at hand.
    """
    families = len(FAMILIES)
    places, cosine, bm25 = router_kernels.shortlist(
        admitted.centroid_dots(query.vector), lexical.shard_scores(), admitted.family, families, SHORTLIST
    )
    best = admitted.sub_dots(query.vector, places)
    dated = _date_match(query, admitted, places)
    size, family = admitted.size[places], admitted.family[places]
    return router_kernels.feature_rows(cosine, best, bm25, dated, size, family, families), places


def _date_match(query: Query, admitted: Admitted, places: Rows) -> NDArray[np.bool_]:
    """Whether a shard's time meets a span that the query names."""
    matches = np.zeros(len(places), dtype=bool)
    if not query.spans:
        return matches
    first, last = admitted.spans(places)
    for begin, end in query.spans:
        matches |= (first != NO_TIME) & (first <= end + _TOLD_WITHIN) & (last >= begin)
    return matches
