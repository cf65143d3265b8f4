"""`rebind bench shardmemo scope`: scope before search against a filtered graph and a filter afterwards, and look-alike
tenants.

Search: the ten nearest admissible vectors, exact search as truth. `ms` is the median thread CPU time of one search with
the scope resolved to rows (or to a faiss selector, built beforehand, in the graph's favour); `resolve_ms` is what
resolving a scope over the shards' metadata costs, `selector_ms` what building the selector costs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebind.eval.bench.shardmemo.twins import run_twins
from rebind.memory.shard import kernels
from rebind.memory.shard.corpus import View, admit
from rebind.memory.shard.index import faiss_alone
from rebind.memory.shard.scope import FIELDS, Scope, UserIs, Vocabulary
from rebind.memory.shard.segment import GRID, assemble

SIZES = (20_000, 100_000, 1_000_000)
SELECTIVITIES = (0.5, 0.1, 0.02, 0.005)
LIMITS = {"ms_at_2_percent_of_20k": 0.02, "recall": 1.0, "twins_difference": 0.08}
_DIMENSIONS, _K, _QUERIES, _USERS = 384, 10, 200, 200
_M, _EF = 32, 64
_OVERFETCH = 3
"""A post-filter asks for K / selectivity · 3 vectors, at most all."""
_CHUNK = 50_000
_RESOLVED = 20
"""A scope is resolved so often for its mean time."""
Progress = Callable[[str, int, int], None]
Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class _Case:
    vectors: NDArray[np.int16]
    floats: NDArray[np.float32]
    queries: NDArray[np.int16]
    owner: NDArray[np.int64]
    """User of each vector."""


def run_scope(sizes: Sequence[int] = SIZES, progress: Progress | None = None) -> dict[str, Any]:
    """All sizes and selectivities, then the twins."""
    rows: list[Row] = []
    for done, size in enumerate(sizes):
        if progress is not None:
            progress(f"{size} vectors", done, len(sizes) + 1)
        rows.extend(_size(size))
    if progress is not None:
        progress("look-alike tenants", len(sizes), len(sizes) + 1)
    twins = run_twins()
    if progress is not None:
        progress("done", len(sizes) + 1, len(sizes) + 1)
    return {"rows": rows, "twins": twins, "k": _K, "dimensions": _DIMENSIONS, "limits": LIMITS}


def _size(size: int) -> Iterator[Row]:
    faiss = faiss_alone()
    case = _case(size)
    graph = faiss.IndexHNSWFlat(_DIMENSIONS, _M, faiss.METRIC_INNER_PRODUCT)
    graph.hnsw.efConstruction = 40
    began = time.thread_time()
    graph.add(case.floats)
    built = time.thread_time() - began
    segment, names = _segment(case)
    for selectivity in SELECTIVITIES:
        users = tuple(f"user{u}" for u in range(max(1, round(_USERS * selectivity))))
        scope = Scope(predicates=(UserIs(names=users),))
        began = time.thread_time()
        for _ in range(_RESOLVED - 1):
            admit([View.of(segment)], scope, names, {})
        admitted = admit([View.of(segment)], scope, names, {})
        resolve = (time.thread_time() - began) / _RESOLVED * 1e3
        rows = np.concatenate([admitted.parts[0].rows(p) for p in range(len(admitted))])
        common = {"vectors": size, "selectivity": len(rows) / size, "resolve_ms": resolve, "graph_s": built}
        for name, (found, ms, extra) in _methods(case, graph, rows).items():
            yield {"method": name, **common, "recall": _recall(case, rows, found), "ms": ms, **extra}


def _methods(
    case: _Case, graph: Any, rows: NDArray[np.int64]
) -> dict[str, tuple[list[NDArray[np.int64]], float, dict[str, float]]]:
    """What each method finds for every query, its median time, and what it scanned or built."""
    faiss = faiss_alone()
    flags = np.zeros(len(case.vectors), dtype=bool)
    flags[rows] = True
    queries = case.queries.astype(np.float32) / GRID
    began = time.thread_time()
    packed = np.packbits(flags, bitorder="little")
    selector = faiss.IDSelectorBitmap(packed)
    built = (time.thread_time() - began) * 1e3
    filtered = faiss.SearchParametersHNSW(efSearch=_EF, sel=selector)
    fetch = min(len(flags), int(_K / max(rows.size / flags.size, 1e-9)) * _OVERFETCH)
    wide = faiss.SearchParametersHNSW(efSearch=max(_EF, min(fetch, 512)))

    def first(place: int) -> NDArray[np.int64]:
        return kernels.nearest(case.vectors, rows, case.queries[place], _K)[0]

    def selected(place: int) -> NDArray[np.int64]:
        return graph.search(queries[place : place + 1], _K, params=filtered)[1][0]  # type: ignore[no-any-return]  # faiss has no types

    def after(place: int) -> NDArray[np.int64]:
        found = graph.search(queries[place : place + 1], min(fetch, 512), params=wide)[1][0]
        return found[flags[found]][:_K]  # type: ignore[no-any-return]  # faiss has no types

    def narrow(place: int) -> NDArray[np.int64]:
        found = graph.search(queries[place : place + 1], _K)[1][0]
        return found[flags[found]]  # type: ignore[no-any-return]  # faiss has no types

    return {
        "scope-first": (*_timed(first), {"scanned": float(len(rows))}),
        "hnsw-selector": (*_timed(selected), {"selector_ms": built}),
        "post-filter": (*_timed(narrow), {}),
        "post-filter-overfetch": (*_timed(after), {"fetched": float(min(fetch, 512))}),
    }


def _timed(search: Callable[[int], NDArray[np.int64]]) -> tuple[list[NDArray[np.int64]], float]:
    search(0)
    found, times = [], []
    for place in range(_QUERIES):
        began = time.thread_time()
        found.append(search(place))
        times.append(time.thread_time() - began)
    return found, float(np.median(times)) * 1e3


def _recall(case: _Case, rows: NDArray[np.int64], found: Sequence[NDArray[np.int64]]) -> float:
    """Share of the K nearest admissible vectors that were found; ties count either way."""
    shares = []
    inside = case.vectors[rows].astype(np.float32)  # whole numbers, and so are their sums: exact
    for place, own in enumerate(found):
        products = inside @ case.queries[place].astype(np.float32)
        bar = np.partition(products, -_K)[-_K]
        got = np.unique(own[own >= 0])
        got = got[np.isin(got, rows)]
        shares.append(min(_K, int((products[np.searchsorted(rows, got)] >= bar).sum())) / _K)
    return float(np.mean(shares))


def _case(size: int) -> _Case:
    """Vectors in clusters, which have nothing to do with their users; queries near vectors."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((max(size // 200, 20), _DIMENSIONS), dtype=np.float32)
    vectors = np.empty((size, _DIMENSIONS), dtype=np.int16)
    for begin in range(0, size, _CHUNK):
        part = slice(begin, min(begin + _CHUNK, size))
        near = centres[rng.integers(len(centres), size=part.stop - begin)]
        vectors[part] = _grid(near + rng.standard_normal(near.shape, dtype=np.float32))
    chosen = vectors[rng.integers(size, size=_QUERIES)].astype(np.float32) / GRID
    queries = _grid(chosen + 0.5 / _DIMENSIONS**0.5 * rng.standard_normal(chosen.shape, dtype=np.float32))
    owner = np.arange(size) * _USERS // size
    return _Case(vectors, vectors.astype(np.float32) / np.float32(GRID), queries, owner)


def _grid(raw: NDArray[np.float32]) -> NDArray[np.int16]:
    grid: NDArray[np.int16] = np.rint(raw * (GRID / np.linalg.norm(raw, axis=1, keepdims=True))).astype(np.int16)
    return grid


def _segment(case: _Case) -> tuple[Any, list[Vocabulary]]:
    """One shard a user, without words."""
    names = [Vocabulary() for _ in FIELDS]
    count = len(case.owner)
    codes = np.zeros((len(FIELDS), count), dtype=np.int32)
    codes[0] = case.owner
    for user in range(_USERS):
        names[0].add(f"user{user}")
    for field in range(1, len(FIELDS)):
        names[field].add("")
    starts = np.searchsorted(case.owner, np.arange(_USERS + 1))
    segment = assemble(
        shard_starts=starts.astype(np.int64),
        family=np.ones(_USERS, dtype=np.int8),
        codes=codes,
        times=np.zeros(count, dtype=np.int64),
        vectors=case.vectors,
        bags=(np.zeros(count, np.int64), np.empty(0, np.uint64), np.empty(0, np.uint16)),
        lines=(b"{}" for _ in range(count)),
        shard_names=(f"user{u}" for u in range(_USERS)),
    )
    return segment, names


def tables(result: dict[str, Any]) -> list[tuple[str, list[str], list[list[str]]]]:
    """For the terminal."""
    rows = [
        [str(r["vectors"]), f"{r['selectivity']:.1%}", r["method"], f"{r['recall']:.3f}", f"{r['ms']:.4f}"]
        for r in result["rows"]
    ]
    twins = result["twins"]
    return [
        ("Scope and search: the 10 nearest admissible", ["vectors", "admissible", "method", "recall", "CPU ms"], rows),
        (
            f"{twins['tenants']} look-alike tenants, {twins['queries']} requests, B_probe {twins['b_probe']}",
            ["router and mode", "ShardHit", "inadmissible probes", "inadmissible items"],
            [
                [name, f"{r['shard_hit']:.3f}", f"{r['inadmissible_probes']:.2f}", f"{r['inadmissible_items']:.2f}"]
                for name, r in twins["by_router"].items()
            ],
        ),
    ]
