"""The stores that `rebind bench stores` asks: opened, filled with the same, and what there is to know of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from rebind.eval.bench.shardmemo.postgres import running
from rebind.eval.bench.shardmemo.stores_world import DIMENSIONS, World
from rebind.memory.shard.remote.embedded import EmbeddedShards
from rebind.memory.shard.remote.pgvector import PgVectorShards
from rebind.memory.shard.remote.protocol import ShardStore
from rebind.memory.shard.remote.urls import open_store

EMBEDDED, GRAPH = "embedded", "pgvector-hnsw"
_BATCH = 2_000


@contextmanager
def database(url: str | None) -> Iterator[str]:
    """Where to connect: a server started here, or a schema of its own on one that is given."""
    if url is None:
        with running() as own:
            yield own
        return
    import psycopg
    from psycopg.conninfo import make_conninfo
    from psycopg.sql import SQL, Identifier

    schema = Identifier(f"rebind_bench_{uuid4().hex[:8]}")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(SQL("CREATE SCHEMA {}").format(schema))
        try:
            yield make_conninfo(url, options=f"-csearch_path={schema.as_string()},public")
        finally:
            connection.execute(SQL("DROP SCHEMA {} CASCADE").format(schema))


def filled(world: World, folder: Path, url: str) -> tuple[dict[str, ShardStore], dict[str, float]]:
    """Every store with the world in it, and the seconds that took; the graph is built over what is there."""
    made: dict[str, ShardStore] = {
        EMBEDDED: open_store(f"file://{folder}/embedded", DIMENSIONS),
        "pgvector-exact": PgVectorShards(url, DIMENSIONS),
        "lance": open_store(f"lance://{folder}/lance", DIMENSIONS),
    }
    seconds: dict[str, float] = {}
    for name, store in made.items():
        began = time.perf_counter()
        for at in range(0, len(world.items), _BATCH):
            part = slice(at, at + _BATCH)
            store.ingest(world.items[part], world.vectors[part])
        for principal, label in sorted(world.held):
            store.grant(principal, label)
        seconds[name] = time.perf_counter() - began
    began = time.perf_counter()
    graph = PgVectorShards(url, DIMENSIONS, "hnsw")
    seconds[GRAPH] = seconds["pgvector-exact"] + time.perf_counter() - began
    embedded = made[EMBEDDED]
    assert isinstance(embedded, EmbeddedShards)
    embedded.store.compact()
    return {
        EMBEDDED: embedded,
        "pgvector-exact": made["pgvector-exact"],
        GRAPH: graph,
        "lance": made["lance"],
    }, seconds


def versions(url: str) -> dict[str, str]:
    import psycopg

    with psycopg.connect(url) as connection:
        row = connection.execute(
            "SELECT current_setting('server_version'), extversion FROM pg_extension WHERE extname = 'vector'"
        ).fetchone()
    assert row is not None
    return {"postgresql": str(row[0]), "pgvector": str(row[1])}


def graph_scans(url: str) -> int:
    """How many requests the planner answered by the graph; the others it found cheaper to scan."""
    import psycopg

    with psycopg.connect(url) as connection:
        row = connection.execute(
            "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelid = 'rebind_items_graph'::regclass"
        ).fetchone()
    assert row is not None
    return int(row[0])
