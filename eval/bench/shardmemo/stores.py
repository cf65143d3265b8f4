"""`rebind bench stores`: the embedded store, PostgreSQL with pgvector, and LanceDB, asked the same of the same items.

Truth is a plain scan of what the world admits at that moment (`stores_world`). `recall10` is the share of the ten
nearest admissible items that a store returns; `same_top10` the share of requests for which it returns the embedded
store's items in its order; `ms` are wall-clock times of one search with its vector, each request asked of all stores in
turn. `graph_share` is the share of them (and of those that warm up) that PostgreSQL's planner answers by the graph,
where it may; the others it finds cheaper to scan. Between requests rights and items change, in every store; what was
changed through one connection to PostgreSQL is read through two.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebind.errors import UserError
from rebind.eval.bench.shardmemo.stores_open import EMBEDDED, GRAPH, database, filled, graph_scans, versions
from rebind.eval.bench.shardmemo.stores_world import DIMENSIONS, World, change, make_world, on_the_grid, random_scope
from rebind.memory.shard.remote.protocol import Near, ShardStore
from rebind.memory.shard.scope import Scope
from rebind.memory.shard.segment import on_grid
from rebind.types import Progress

ITEMS, SHARDS, QUERIES = 20_000, 200, 400
BANDS = (0.01, 0.05, 0.2, 1.0)
"""Upper ends of the bands of selectivity (share of all items that is admitted and probed); as many requests in each."""
LIMITS = {"recall10": 0.99, "inadmissible": 0}
_K, _PROBED, _CHANGED_EVERY, _WARM = 10, 3, 5, 20


@dataclass(eq=False)
class _Case:
    """A request: what is asked, within which scope, probing which shards (all where not given)."""

    scope: Scope
    shards: list[str] | None
    vector: NDArray[np.float32]
    band: float


@dataclass
class _Seen:
    """What one store did."""

    ms: list[float] = field(default_factory=list)
    recall: list[float] = field(default_factory=list)
    same: list[bool] = field(default_factory=list)
    inadmissible: int = 0


def run_stores(
    items: int = ITEMS,
    shards: int = SHARDS,
    queries: int = QUERIES,
    postgres: str | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Fills every store, asks all of them the same, and holds the answers against the world.

    `postgres`: URL of a server with pgvector, in which a schema is made and dropped; one is started where not given.

    Raises:
        UserError: fewer items than shards, no server to be had, or an extra is missing.
    """
    if items < shards:
        raise UserError(f"{items} items in {shards} shards: give at least one item a shard")
    say = progress or (lambda _word, _done, _total: None)
    rng = np.random.default_rng(seed)
    world = make_world(shards, items, rng)
    with tempfile.TemporaryDirectory(prefix="rebind-stores-") as folder, database(postgres) as url:
        say("filling", 0, queries)
        stores, spent = filled(world, Path(folder), url)
        try:
            cases = _cases(world, queries, rng)
            seen, changes = _ask(world, stores, cases, rng, say)
        finally:
            for store in stores.values():
                store.close()
        known = {**versions(url), "lancedb": version("lancedb")}
        share = graph_scans(url) / (len(cases) + len(cases[:_WARM]))
    return {
        "items": len(world.items),
        "shards": shards,
        "queries": len(cases),
        "changes": changes,
        "k": _K,
        "rows": [{"store": name, **_row(own, seen[EMBEDDED]), "ingest_s": spent[name]} for name, own in seen.items()],
        "by_selectivity": list(_by_band(seen, cases)),
        "graph_share": share,
        "versions": known,
        "limits": LIMITS,
    }


# --- requests ---------------------------------------------------------------------------------------------------------


def _cases(world: World, queries: int, rng: np.random.Generator) -> list[_Case]:
    """As many requests in each band of selectivity, in random order; every third names shards to probe."""
    wanted = max(1, queries // len(BANDS))
    found: dict[float, list[_Case]] = {band: [] for band in BANDS}
    while any(len(cases) < wanted for cases in found.values()):
        scope = random_scope(rng)
        flags = world.admits(scope)
        if not flags.any():
            continue
        shards = None
        if rng.random() < 1 / 3:
            inside = np.unique(world.columns["shard"][flags])
            anywhere = str(rng.choice(world.columns["shard"]))
            shards = [*rng.choice(inside, size=min(_PROBED, len(inside)), replace=False).tolist(), anywhere]
            flags = world.admits(scope, shards)
        band = next(high for high in BANDS if flags.mean() <= high)
        if len(found[band]) < wanted:
            noise = rng.normal(size=DIMENSIONS).astype(np.float32)
            near = world.vectors[int(rng.choice(np.flatnonzero(flags)))]
            found[band].append(_Case(scope, shards, near + 0.6 * noise, band))
    cases = [case for own in found.values() for case in own]
    return [cases[place] for place in rng.permutation(len(cases))]


def _ask(
    world: World, stores: Mapping[str, ShardStore], cases: Sequence[_Case], rng: np.random.Generator, say: Progress
) -> tuple[dict[str, _Seen], int]:
    """Asks every store every request, the first of them another each time; changes all of them in between."""
    seen = {name: _Seen() for name in stores}
    vectors = on_the_grid(world)
    place = {(item.shard, item.id): row for row, item in enumerate(world.items)}
    changed = [store for name, store in stores.items() if name != GRAPH]
    order, changes = list(stores), 0
    for case in cases[:_WARM]:
        for store in stores.values():
            store.search(case.scope, case.vector, _K, case.shards)
    for done, case in enumerate(cases):
        if done % _CHANGED_EVERY == 0:
            change(world, changed, rng)
            changes += 1
        answers: dict[str, tuple[Near, ...]] = {}
        for name in order:
            began = time.perf_counter()
            answers[name] = stores[name].search(case.scope, case.vector, _K, case.shards)
            seen[name].ms.append((time.perf_counter() - began) * 1e3)
        order = [*order[1:], order[0]]
        flags = world.admits(case.scope, case.shards)
        products = vectors[flags] @ on_grid(case.vector).astype(np.int64)
        for name, answer in answers.items():
            rows = [place[near.shard, near.id] for near in answer]
            seen[name].inadmissible += int((~flags[rows]).sum())
            seen[name].recall.append(_recall(vectors, flags, products, rows, case.vector))
            seen[name].same.append([(n.shard, n.id) for n in answer] == [(n.shard, n.id) for n in answers[EMBEDDED]])
        say("requests", done + 1, len(cases))
    return seen, changes


def _recall(
    vectors: NDArray[np.int64],
    flags: NDArray[np.bool_],
    products: NDArray[np.int64],
    rows: Sequence[int],
    asked: NDArray[np.float32],
) -> float:
    """Share of the K nearest admissible items that were found; equally near ones count either way."""
    most = min(_K, len(products))
    if not most:
        return float(not rows)
    bar = np.partition(products, -most)[-most]
    own = [row for row in dict.fromkeys(rows) if flags[row]]
    return min(most, int((vectors[own] @ on_grid(asked).astype(np.int64) >= bar).sum())) / most


# --- what comes out ---------------------------------------------------------------------------------------------------


def _row(own: _Seen, embedded: _Seen) -> dict[str, Any]:
    return {
        "recall10": float(np.mean(own.recall)),
        "same_top10": float(np.mean(own.same)),
        "ms_median": float(np.median(own.ms)),
        "ms_p95": float(np.percentile(own.ms, 95)),
        "embedded_ms_median": float(np.median(embedded.ms)),
        "embedded_ms_p95": float(np.percentile(embedded.ms, 95)),
        "inadmissible": own.inadmissible,
    }


def _by_band(seen: Mapping[str, _Seen], cases: Sequence[_Case]) -> Iterator[dict[str, Any]]:
    for band in BANDS:
        places = [place for place, case in enumerate(cases) if case.band == band]
        part = {
            name: _Seen([own.ms[p] for p in places], [own.recall[p] for p in places], [own.same[p] for p in places])
            for name, own in seen.items()
        }
        for name, own in part.items():
            row = _row(own, part[EMBEDDED])
            del row["inadmissible"]
            yield {"admitted_up_to": band, "store": name, **row}


def tables(result: dict[str, Any]) -> list[tuple[str, list[str], list[list[str]]]]:
    """For the terminal."""
    said = ", ".join(f"{name} {number}" for name, number in result["versions"].items())
    head = ["store", "recall@10", "same ten", "ms median", "ms p95"]
    numbers = ("recall10", "same_top10", "ms_median", "ms_p95")
    rows = [
        [r["store"], *(f"{r[key]:.4f}" for key in numbers), str(r["inadmissible"]), f"{r['ingest_s']:.1f}"]
        for r in result["rows"]
    ]
    banded = [
        [f"{r['admitted_up_to']:.0%}", r["store"], *(f"{r[key]:.4f}" for key in numbers)]
        for r in result["by_selectivity"]
    ]
    title = (
        f"{result['items']} items, {result['shards']} shards, {result['queries']} requests, "
        f"{result['changes']} changes ({said}; by the graph: {result['graph_share']:.0%})"
    )
    return [
        (title, [*head, "inadmissible", "ingest s"], rows),
        ("By share of the items that is admitted", ["up to", *head], banded),
    ]
