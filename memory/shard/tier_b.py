"""Tier B: scope, then routing, then shard-local search, then one ranking (ShardMemo, Algorithm 1)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal

import numpy as np
from pydantic import Field
from pydantic_core import from_json

from rebind.memory.shard import router_kernels
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
class _Probed:
    """One probed shard: its part, its place among the admitted, and what its index found."""

    part: Part
    place: int
    found: Found


@dataclass(frozen=True, eq=False)
class _Candidates:
    """Rows of one part that are still admitted, with what ranks them; `owner` is the place of each row's shard."""

    part: Part
    rows: Rows
    cosines: Floats
    owner: Rows


class TierB:
    """Reads evidence. `admit` says what a scope admits at this moment; it is asked before routing, and `still` again
    before anything is returned."""

    def __init__(
        self,
        admit: Callable[[Scope], Admitted],
        router: Router,
        settings: ReadSettings = ReadSettings(),  # noqa: B008  # frozen
        still: Callable[[Scope, Admission], Admission] | None = None,
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
        probed = self._search(query, routed, chosen)
        admission = self._still(scope, routed.admission) if self._still else admitted.admission
        kept, dropped, empty = self._checked(probed, admission)
        scans = Scans(
            shards=len(admitted),
            items=admitted.items,
            probed=tuple(routed.name(one.place) for one in probed) if self.settings.mode != "global" else (),
            vectors=sum(one.found.scanned for one in probed),
            postings=stats.read,
            inadmissible_shards=empty,
            inadmissible_items=dropped,
        )
        if routed is not admitted:  # what is scored and normalised is admissible content alone
            stats = lexical(query.terms, admitted)
        return Evidence(self._ranked(kept, stats, chosen), scans)

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

    def _search(self, query: Query, admitted: Admitted, chosen: Route) -> list[_Probed]:
        if self.settings.mode == "global":
            return self._search_globally(query, admitted)
        probed: list[_Probed] = []
        for place in chosen.places.tolist():
            part, inner = admitted.locate(place)
            found = self._index(part, part.rows(inner)).search(query.vector, self.settings.most)
            probed.append(_Probed(part, place, found))
        return probed

    def _index(self, part: Part, rows: Rows) -> ShardIndex:
        vectors = part.view.segment.vectors
        if len(rows) <= self.settings.exact_up_to:
            return Exact(vectors, rows)
        key = (id(part.view.segment), rows.tobytes())
        if key not in self._graphs:
            self._graphs[key] = shard_index(vectors, rows, self.settings.exact_up_to)
        return self._graphs[key]

    def _search_globally(self, query: Query, admitted: Admitted) -> list[_Probed]:
        """One graph over all items of each segment, asked through a filter for B_probe · L candidates."""
        probed: list[_Probed] = []
        for part in admitted.parts:
            segment = part.view.segment
            key = (id(segment), b"")
            if key not in self._graphs:
                self._graphs[key] = Hnsw(segment.vectors, np.arange(segment.items))
            graph = self._graphs[key]
            assert isinstance(graph, Hnsw)
            rows = np.concatenate([part.rows(inner) for inner in range(len(part.shards))] or [np.empty(0, np.int64)])
            found = graph.search(query.vector, self.settings.b_probe * self.settings.most, rows)
            probed.append(_Probed(part, 0, found))
        return probed

    def _checked(self, probed: list[_Probed], admission: Admission) -> tuple[list[_Candidates], int, int]:
        """Asks again for every item, by the rights of this moment. What is left, how many items were dropped, and how
        many probed shards held none but these."""
        kept: list[_Candidates] = []
        dropped = empty = 0
        for part in dict.fromkeys(one.part for one in probed):
            own = [one for one in probed if one.part is part]
            counts = [len(one.found.rows) for one in own]
            rows = np.concatenate([one.found.rows for one in own])
            cosines = np.concatenate([one.found.cosines for one in own])
            owner = np.repeat([one.place for one in own], counts)
            inside = part.view.admits(admission, rows)
            if not inside.all():
                dropped += int((~inside).sum())
                held = np.split(inside, np.cumsum(counts)[:-1])
                empty += sum(len(flags) > 0 and not flags.any() for flags in held)
                rows, cosines, owner = rows[inside], cosines[inside], owner[inside]
            kept.append(_Candidates(part, rows, cosines, owner))
        return kept, dropped, empty

    def _ranked(self, kept: list[_Candidates], stats: Lexical, chosen: Route) -> tuple[Hit, ...]:
        """score = .4 BM25 + .4 dense + .2 route, each min-maxed over the candidates; ties go to the smaller id."""
        kept = [own for own in kept if len(own.rows)]
        if not kept:
            return ()
        bm25 = np.concatenate([stats.item_scores(own.part.view.segment, own.rows) for own in kept])
        cosines = np.concatenate([own.cosines for own in kept])
        routed = chosen.probabilities[np.concatenate([own.owner for own in kept])]
        weights, k = np.array(self.settings.weights), self.settings.k
        total, best = router_kernels.ranked(bm25, cosines, routed, weights, k)
        ends = list(accumulate(len(own.rows) for own in kept))
        hits: list[Hit] = []
        for at in best.tolist():
            which = bisect_right(ends, at)
            part, row = kept[which].part, int(kept[which].rows[at - ends[which]])
            segment = part.view.segment
            line: dict[str, Any] = from_json(segment.line(row))
            hits.append(
                Hit(
                    line["id"], line["text"], tuple(line["cites"]), segment.name(segment.shard_of(row)),
                    float(total[at]), float(bm25[at]), float(cosines[at]), float(routed[at]),
                )
            )  # fmt: skip
        return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.id))[:k])
