"""A request as the read path takes it: vector, terms and the dates it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time

import numpy as np
from numpy.typing import NDArray

from rebind.memory.shard.segment import Grid, on_grid
from rebind.memory.shard.terms import Terms, term, words

_DAY = 86_400
Span = tuple[int, int]
"""From and to, Unix seconds, both included."""


@dataclass(frozen=True, eq=False)
class Query:
    """What is asked for. `vector` (d,) is on the grid, `terms` ascending and distinct."""

    text: str
    vector: Grid
    terms: Terms
    spans: tuple[Span, ...] = ()
    """When what is asked for happened, as far as the request says."""


def make_query(text: str, embedding: NDArray[np.float32], dates: Sequence[tuple[date, date]] = ()) -> Query:
    """A query from its text, its embedding (d,) and the spans of days it names, both ends included."""
    return Query(text, on_grid(embedding), query_terms(text), tuple(_span(*days) for days in dates))


def query_terms(text: str) -> Terms:
    """The distinct terms of a text, ascending."""
    return np.array(sorted({term(word) for word in words(text)}), dtype=np.uint64)


def _span(start: date, end: date) -> Span:
    begin = int(datetime.combine(start, time(), UTC).timestamp())
    return begin, int(datetime.combine(end, time(), UTC).timestamp()) + _DAY - 1
