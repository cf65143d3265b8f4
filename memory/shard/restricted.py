"""A router confined to shards of some families."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from rebind.memory.shard.corpus import Admitted
from rebind.memory.shard.lexical import Floats, Lexical
from rebind.memory.shard.query import Query
from rebind.memory.shard.routing import Router
from rebind.memory.shard.segment import FAMILIES, Family


class WithinFamilies:
    """Another router's scores; shards of other families get -inf, unless no shard is of these families."""

    def __init__(self, router: Router, families: Collection[Family]) -> None:
        self.name = f"{router.name}-{'-'.join(families)}"
        self._router, self._families = router, [FAMILIES.index(family) for family in families]

    def scores(self, query: Query, admitted: Admitted, lexical: Lexical) -> Floats:
        scores = self._router.scores(query, admitted, lexical)
        inside = np.isin(admitted.family, self._families)
        return np.where(inside, scores, -np.inf) if inside.any() else scores
