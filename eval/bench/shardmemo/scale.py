"""`rebind bench shardmemo scale`: the whole read path on 10,000 shards and 1,000,000 items, from a mapped store.

Times are the thread's CPU time from scope to ranking; encoding the query is not in them. `cut_everywhere_p95_ms` is of
the scopes that cost most: a span of weeks over all users at once, which cuts a shard or two of every user, and has the
read path sum up the admitted part of each. Vectors and texts are made up: a shard has a direction and words of its own,
its items share them.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import numpy as np

from rebind.eval.bench.shardmemo.scale_store import PRINCIPALS, START, USERS, WEEKS, build, words_of
from rebind.memory.shard.feature_router import Example, FeatureRouter, train_feature_router
from rebind.memory.shard.features import features
from rebind.memory.shard.lexical import lexical
from rebind.memory.shard.query import Query, make_query
from rebind.memory.shard.scope import MayRead, NamespaceIs, Predicate, Scope, TimeWithin, UserIs
from rebind.memory.shard.segment import GRID
from rebind.memory.shard.store import Store
from rebind.memory.shard.tier_b import ReadSettings, TierB

SHARDS, ITEMS, QUERIES, PROCESSES = 10_000, 1_000_000, 1_000, 8
LIMITS = {"p95_ms": 3.0, "recall": 0.99}
_TRAINED_ON = 150
Progress = Callable[[str, int, int], None]
Asked = tuple[Query, Scope, int]
"""A query, its scope, and the row of the item it asks for."""


def run_scale(
    shards: int = SHARDS,
    items: int = ITEMS,
    queries: int = QUERIES,
    processes: int = PROCESSES,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Builds a store, reads it under random scopes, and opens it in several processes at once.

    `folder`: where the store is made and kept; a temporary one where not given.
    """
    say = progress or (lambda _word, _done, _total: None)
    home = folder or Path(tempfile.mkdtemp(prefix="rebind-scale-"))
    try:
        say("building", 0, 4)
        if not (home / "manifest.json").exists():
            build(home, shards, items)
        store = Store(home)
        rng = np.random.default_rng(1)
        say("training", 1, 4)
        router = _router(store, [_asked(store, rng) for _ in range(_TRAINED_ON)])
        asked = [_asked(store, rng) for _ in range(queries)]
        say("reading", 2, 4)
        result = _read(store, router, asked)
        cut = [_asked(store, rng, lambda own: Scope(predicates=(_span(own),))) for _ in range(max(10, queries // 10))]
        result["cut_everywhere_p95_ms"] = _read(store, router, cut)["p95_ms"]
        router_file = home / "router.npz"
        np.savez(router_file, **cast("dict[str, Any]", router.weights))
        say("processes", 3, 4)
        opened = _together(home, router_file, processes)
        say("done", 4, 4)
    finally:
        if folder is None:
            shutil.rmtree(home, ignore_errors=True)
    found = store.items
    return {"shards": shards, "items": found, "queries": queries, **result, **opened, "limits": LIMITS}


def _router(store: Store, asked: Sequence[Asked]) -> FeatureRouter:
    """Trained on requests whose shard is known, none of which is measured."""
    examples: list[Example] = []
    for query, scope, row in asked:
        admitted = store.admit(scope)
        seen, places = features(query, admitted, lexical(query.terms, admitted))
        shard = int(np.searchsorted(store.base.shard_starts, row, side="right")) - 1
        gold = np.flatnonzero(admitted.parts[0].shards[places] == shard)
        if len(gold):
            examples.append(Example(seen, gold))
    return train_feature_router(examples, 0)


def _asked(store: Store, rng: np.random.Generator, draw: Callable[[np.random.Generator], Scope] | None = None) -> Asked:
    """A random scope, and words and a noisy vector of an item that it admits."""
    while True:
        scope = (draw or _scope)(rng)
        admitted = store.admit(scope)
        if len(admitted):
            break
    rows = admitted.parts[0].rows(int(rng.integers(len(admitted))))
    row = int(rng.choice(rows))
    text = " ".join(rng.choice(words_of(json.loads(store.base.line(row))["text"]), size=6, replace=False))
    vector = store.base.vectors[row].astype(np.float32) / GRID
    noisy = vector + rng.normal(size=len(vector)).astype(np.float32) * (0.6 / len(vector) ** 0.5)
    return make_query(text, noisy), scope, row


def _scope(rng: np.random.Generator) -> Scope:
    """Each kind of predicate with probability one half: 1 to 40 users, a namespace, a principal, and, where users are
    named, a span of weeks of their memory."""
    chosen: list[Predicate] = []
    if rng.random() < 0.5:
        users = rng.choice(USERS, size=int(2 ** rng.uniform(0, 5.3)), replace=False)
        chosen.append(UserIs(names=tuple(f"user{user}" for user in users)))
    if rng.random() < 0.5:
        chosen.append(NamespaceIs(names=(f"area{rng.integers(5)}",)))
    if chosen and isinstance(chosen[0], UserIs) and rng.random() < 0.5:
        chosen.append(_span(rng))
    if rng.random() < 0.5:
        chosen.append(MayRead(principal=f"agent{rng.integers(PRINCIPALS)}"))
    return Scope(predicates=tuple(chosen))


def _span(rng: np.random.Generator) -> TimeWithin:
    begin = datetime.fromtimestamp(START, UTC) + timedelta(weeks=float(rng.uniform(0, WEEKS * 0.8)))
    return TimeWithin(start=begin, end=begin + timedelta(weeks=float(rng.uniform(2, WEEKS))))


def _read(store: Store, router: FeatureRouter, asked: Sequence[Asked]) -> dict[str, Any]:
    tier = TierB(store.admit, router, ReadSettings(), store.admission)
    dense = TierB(store.admit, router, ReadSettings(weights=(0.0, 1.0, 0.0)), store.admission)
    tier.read(*asked[0][:2])
    ms: list[float] = []
    admissible: list[int] = []
    hits: list[bool] = []
    for query, scope, row in asked:
        began = time.thread_time()
        evidence = tier.read(query, scope)
        ms.append((time.thread_time() - began) * 1e3)
        admissible.append(evidence.scans.shards)
        hits.append(store.base.name(_shard_of(store, row)) in evidence.scans.probed)
    recalls = [_recall(store, dense, query, scope) for query, scope, _ in asked[:: max(1, len(asked) // 200)]]
    return {
        "p50_ms": float(np.percentile(ms, 50)),
        "p95_ms": float(np.percentile(ms, 95)),
        "p99_ms": float(np.percentile(ms, 99)),
        "recall": float(np.mean(recalls)),
        "shard_hit": float(np.mean(hits)),
        "admissible_shards": {str(q): float(np.percentile(admissible, q)) for q in (5, 50, 95, 100)},
    }


def _shard_of(store: Store, row: int) -> int:
    return int(np.searchsorted(store.base.shard_starts, row, side="right")) - 1


def _recall(store: Store, dense: TierB, query: Query, scope: Scope) -> float:
    """Share of the ten nearest admissible items of the probed shards, by a plain product, that a read returns."""
    evidence = dense.read(query, scope)
    admitted = store.admit(scope)
    probed = set(evidence.scans.probed)
    rows = np.concatenate([admitted.parts[0].rows(p) for p in range(len(admitted)) if admitted.name(p) in probed])
    products = store.base.vectors[rows].astype(np.int64) @ query.vector.astype(np.int64)
    bar = np.sort(products)[::-1][: min(10, len(rows))][-1]
    truth = {json.loads(store.base.line(int(row)))["id"] for row in rows[products >= bar]}
    found = {hit.id for hit in evidence.hits}
    return len(found & truth) / min(10, len(rows))


# --- several processes ------------------------------------------------------------------------------------------------


def _together(home: Path, router_file: Path, processes: int) -> dict[str, Any]:
    """Opens the store in several processes, which wait for one another while they hold it, and adds up their memory."""
    code = "import sys; from rebind.eval.bench.shardmemo.scale import reader; reader(sys.argv[1], sys.argv[2])"
    command = [sys.executable, "-c", code, str(home), str(router_file)]
    readers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(processes)
    ]
    for one in readers:  # every process has read before any is measured
        assert one.stdout is not None
        one.stdout.readline()
    found: list[dict[str, float]] = []
    for one in readers:
        assert one.stdin is not None
        assert one.stdout is not None
        one.stdin.write("measure\n")
        one.stdin.flush()
        found.append(json.loads(one.stdout.readline()))
    for one in readers:
        one.communicate("end\n")
    size = sum(path.stat().st_size for path in home.rglob("*.npy")) / 2**20
    return {
        "rss_mb": float(np.mean([f["rss"] for f in found])),
        "private_mb": float(np.mean([f["private"] for f in found])),
        "pss_total_mb": float(sum(f["pss"] for f in found)),
        "store_mb": size,
        "processes": processes,
        "shared": bool(sum(f["private"] for f in found) < processes * size / 2),
    }


def reader(home: str, router_file: str) -> None:
    """A process that opens a store, reads it, and says how much memory it holds (MB): `rss` with shared pages,
    `private` its own alone, `pss` with shared pages divided among their users."""
    store = Store(Path(home))
    with np.load(router_file) as weights:
        router = FeatureRouter(dict(weights))
    tier = TierB(store.admit, router, ReadSettings(), store.admission)
    rng = np.random.default_rng(2)
    for _ in range(30):
        query, scope, _row = _asked(store, rng)
        tier.read(query, scope)
    print("read", flush=True)
    sys.stdin.readline()
    lines = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()[1:]
    kb = {line.split(":")[0]: int(line.split()[1]) for line in lines}
    mb = {
        "rss": kb["Rss"] / 1024,
        "pss": kb["Pss"] / 1024,
        "private": (kb["Private_Clean"] + kb["Private_Dirty"]) / 1024,
    }
    print(json.dumps(mb), flush=True)
    sys.stdin.readline()


def tables(result: dict[str, Any]) -> list[tuple[str, list[str], list[list[str]]]]:
    """For the terminal."""
    timed = ("p50_ms", "p95_ms", "p99_ms", "cut_everywhere_p95_ms")
    keys = (*timed, "recall", "shard_hit", "rss_mb", "private_mb", "pss_total_mb", "store_mb")
    rows = [[key, f"{result[key]:.3f}", str(result["limits"].get(key, ""))] for key in keys]
    title = f"{result['shards']} shards, {result['items']} items, {result['queries']} random scopes, one thread"
    return [(title, ["measure", "value", "limit"], rows)]
