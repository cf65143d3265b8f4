"""Tier B: scope, then routing, then shard-local search, then one ranking (ShardMemo, Algorithm 1)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from rebind.memory.shard.corpus import Admitted, Part
from rebind.memory.shard.index import EXACT_UP_TO, Exact, Found, Hnsw, ShardIndex, shard_index
from rebind.memory.shard.lexical import Floats, Lexical, lexical
from rebind.memory.shard.query import Query
from rebind.memory.shard.routing import Route, Router, TopP, costs, route
from rebind.memory.shard.scope import Admission, Scope
from rebind.memory.shard.segment import Rows
from rebind.types import Frozen

Mode = Literal["routed", "all-admissible", "global", "post-filter"]


class ReadSettings(Frozen):
    """The read path's settings; every ablation of Table 6 is one of these, or another router."""

    b_probe: int = Field(default=3, ge=1)
    k: int = Field(default=10, ge=1)
    most: int = Field(default=64, ge=1)
    """L: candidates from each probed shard (ours, design)."""
    alpha: float = 0.0
    """Weight of the cost term; the paper's is used with its own router."""
    adaptive: TopP | None = None
    """Adaptive Top-P; always `b_probe` shards where not given."""
    temperature: float = Field(default=1.0, gt=0)
    weights: tuple[float, float, float] = (0.4, 0.4, 0.2)
    """Of BM25, dense and route score in the final ranking (Appendix C)."""
    mode: Mode = "routed"
    """"all-admissible" probes every admissible shard, "global" searches one HNSW graph of everything through a filter,
    "post-filter" routes over all shards and drops inadmissible items afterwards."""
    exact_up_to: int = EXACT_UP_TO


@dataclass(frozen=True, eq=False)
class Hit:
    """An item of the answer."""

    id: str
    text: str
    cites: tuple[str, ...]
    shard: str
    score: float
    bm25: float
    cosine: float
    route: float


@dataclass(frozen=True)
class Scans:
    """What one read looked at."""

    shards: int = 0
    """Admissible shards."""
    items: int = 0
    """Admissible items."""
    probed: tuple[str, ...] = ()
    vectors: int = 0
    """Vectors scanned (VecScan)."""
    postings: int = 0
    inadmissible_shards: int = 0
    """Probed shards without an admissible item: none but in "post-filter"."""
    inadmissible_items: int = 0
    """Candidates dropped because the scope does not admit them."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """At most K items, best first, and what it took to find them."""

    hits: tuple[Hit, ...] = ()
    scans: Scans = Scans()


@dataclass(eq=False)
class _Pool:
    """Candidates: rows of parts, with what ranks them."""

    parts: list[Part]
    places: list[int]
    """Place of each candidate's shard among the admitted."""
    found: list[Found]

    @cached_property
    def cosines(self) -> Floats:
        return np.concatenate([f.cosines for f in self.found])


class TierB:
    """Reads evidence. `admit` says what a scope admits at this moment; it is asked before routing, and `still` again
    before anything is returned."""

    def __init__(
        self,
        admit: Callable[[Scope], Admitted],
        router: Router,
        settings: ReadSettings = ReadSettings(),  # noqa: B008  # frozen
        still: Callable[[Scope], Admission] | None = None,
    ) -> None:
        self._admit, self._router, self.settings, self._still = admit, router, settings, still
        self._graphs: dict[tuple[int, bytes], ShardIndex] = {}

    def read(self, query: Query, scope: Scope) -> Evidence:
        """The K best admissible items. Without an admissible shard, neither router nor index is touched."""
        admitted = self._admit(scope)
        if not len(admitted):
            return Evidence()
        routed = self._admit(Scope()) if self.settings.mode == "post-filter" else admitted
        stats = lexical(query.terms, routed)
        chosen = self._route(query, routed, stats)
        pool = self._search(query, routed, chosen)
        scans = Scans(
            shards=len(admitted),
            items=admitted.items,
            probed=tuple(routed.name(place) for place in pool.places) if self.settings.mode != "global" else (),
            vectors=sum(f.scanned for f in pool.found),
            postings=stats.read,
        )
        pool, scans = self._checked(pool, scans, admitted, scope)
        if routed is not admitted:  # what is scored and normalised is admissible content alone
            stats = lexical(query.terms, admitted)
        return Evidence(self._ranked(pool, stats, chosen), scans)

    def routed(self, query: Query, scope: Scope) -> tuple[Admitted, Route]:
        """The admissible shards and which of them would be probed, without probing them."""
        admitted = self._admit(scope)
        return admitted, self._route(query, admitted, lexical(query.terms, admitted))

    def _route(self, query: Query, admitted: Admitted, stats: Lexical) -> Route:
        settings = self.settings
        if settings.mode in ("all-admissible", "global"):
            everything = np.arange(len(admitted))
            return Route(everything, np.full(len(admitted), 1.0 / len(admitted)))
        scores = self._router.scores(query, admitted, stats)
        if settings.alpha:
            scores = scores - settings.alpha * costs(admitted.size, settings.most)
        return route(scores, settings.b_probe, settings.adaptive, settings.temperature)

    def _search(self, query: Query, admitted: Admitted, chosen: Route) -> _Pool:
        if self.settings.mode == "global":
            return self._search_globally(query, admitted)
        pool = _Pool([], [], [])
        for place in chosen.places:
            part, inner = admitted.locate(int(place))
            pool.parts.append(part)
            pool.places.append(int(place))
            pool.found.append(self._index(part, part.rows(inner)).search(query.vector, self.settings.most))
        return pool

    def _index(self, part: Part, rows: Rows) -> ShardIndex:
        vectors = part.view.segment.vectors
        if len(rows) <= self.settings.exact_up_to:
            return Exact(vectors, rows)
        key = (id(part.view.segment), rows.tobytes())
        if key not in self._graphs:
            self._graphs[key] = shard_index(vectors, rows, self.settings.exact_up_to)
        return self._graphs[key]

    def _search_globally(self, query: Query, admitted: Admitted) -> _Pool:
        """One graph over all items of each segment, asked through a filter for B_probe · L candidates."""
        pool = _Pool([], [], [])
        for part in admitted.parts:
            segment = part.view.segment
            key = (id(segment), b"")
            if key not in self._graphs:
                self._graphs[key] = Hnsw(segment.vectors, np.arange(segment.items))
            graph = self._graphs[key]
            assert isinstance(graph, Hnsw)
            rows = np.concatenate([part.rows(inner) for inner in range(len(part.shards))] or [np.empty(0, np.int64)])
            pool.parts.append(part)
            pool.places.append(0)
            pool.found.append(graph.search(query.vector, self.settings.b_probe * self.settings.most, rows))
        return pool

    def _checked(self, pool: _Pool, scans: Scans, admitted: Admitted, scope: Scope) -> tuple[_Pool, Scans]:
        """Asks again for every item, by the rights of this moment."""
        admission = self._still(scope) if self._still else admitted.admission
        dropped = empty = 0
        kept: list[Found] = []
        for part, found in zip(pool.parts, pool.found, strict=True):
            inside = part.view.admits(admission, found.rows)
            dropped += int((~inside).sum())
            empty += int(len(found.rows) > 0 and not inside.any())
            kept.append(Found(found.rows[inside], found.cosines[inside], found.scanned))
        return (
            _Pool(pool.parts, pool.places, kept),
            replace(scans, inadmissible_items=dropped, inadmissible_shards=empty),
        )

    def _ranked(self, pool: _Pool, stats: Lexical, chosen: Route) -> tuple[Hit, ...]:
        """score = .4 BM25 + .4 dense + .2 route, each min-maxed over the candidates; ties go to the smaller id."""
        if not sum(len(f.rows) for f in pool.found):
            return ()
        bm25 = np.concatenate(
            [stats.item_scores(p.view.segment, f.rows) for p, f in zip(pool.parts, pool.found, strict=True)]
        )
        routed = np.concatenate(
            [np.full(len(f.rows), chosen.probabilities[p]) for p, f in zip(pool.places, pool.found, strict=True)]
        )
        of = self.settings.weights
        total = of[0] * _scaled(bm25) + of[1] * _scaled(pool.cosines) + of[2] * _scaled(routed)
        owner = np.repeat(np.arange(len(pool.found)), [len(f.rows) for f in pool.found])
        rows = np.concatenate([f.rows for f in pool.found])
        bar = np.partition(-total, min(self.settings.k, len(total)) - 1)[: self.settings.k].max()
        hits = [
            self._hit(pool.parts[owner[i]], int(rows[i]), total[i], bm25[i], pool.cosines[i], routed[i])
            for i in np.flatnonzero(-total <= bar)
        ]
        return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.id))[: self.settings.k])

    def _hit(self, part: Part, row: int, *scores: float) -> Hit:
        segment = part.view.segment
        line = json.loads(segment.line(row))
        shard = int(np.searchsorted(segment.shard_starts, row, side="right")) - 1
        score, bm25, cosine, routed = (float(value) for value in scores)
        return Hit(line["id"], line["text"], tuple(line["cites"]), segment.name(shard), score, bm25, cosine, routed)


def _scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Min-max; 0 where all are equal."""
    low, high = values.min(), values.max()
    return (values - low) / (high - low) if high > low else np.zeros_like(values)
