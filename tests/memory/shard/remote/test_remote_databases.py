"""What each database needs of its own: graphs, lost connections, races, and errors in plain words."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from support.shards import DIMENSIONS, an_item, embed

from rebind.eval.bench.shardmemo.stores import run_stores
from rebind.memory.shard.log import StoreError
from rebind.memory.shard.remote import pg_open
from rebind.memory.shard.remote.urls import open_store
from rebind.memory.shard.scope import MayRead, Scope, UserIs

pytestmark = pytest.mark.xdist_group("postgres")  # one server for all
APPLE = embed(["apple"])[0]


def test_a_graph_that_ends_too_early_is_followed_by_a_scan(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The planner may do nothing but walk the graph, which gives up after one item; the five admitted are far off."""
    monkeypatch.setattr(pg_open, "_MAX_SCAN", 1)
    monkeypatch.setattr(pg_open, "_EF_SEARCH", 1)
    rng = np.random.default_rng(0)
    items = [an_item(n, "s", "apple", user="rare" if n % 60 == 7 else "usual") for n in range(300)]
    only = quote("-cenable_seqscan=off -cenable_sort=off -cenable_bitmapscan=off")
    store = open_store(f"{database}&options={only}", DIMENSIONS, "hnsw")
    store.ingest(items, rng.standard_normal((300, DIMENSIONS)).astype(np.float32))
    scope = Scope(predicates=(UserIs(names=("rare",)),))
    assert len(store.search(scope, APPLE, 5)) == 5
    assert len(store.search(Scope(), APPLE, 5)) == 5
    store.close()
    import psycopg

    with psycopg.connect(database) as connection:
        scans = "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'rebind_items_graph'"
        assert connection.execute(scans).fetchall() >= [(1,)]


def test_a_lost_connection_is_made_again(database: str) -> None:
    """A read is repeated by itself; a write says that it failed, and the next one goes through."""
    import psycopg

    store = open_store(database, DIMENSIONS)
    store.ingest([an_item(1, "s", "apple")], APPLE[None])

    def cut() -> None:
        with psycopg.connect(database, autocommit=True) as administrator:
            administrator.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )

    cut()
    assert [near.id for near in store.search(Scope(), APPLE, 3)] == ["i0001"]
    cut()
    with pytest.raises(StoreError, match="PostgreSQL at "):
        store.grant("ada", "red")
    store.grant("ada", "red")
    store.close()


def test_a_right_that_is_lost_between_lookup_and_search_does_not_leak_what_came_under_its_label(tmp_path: Path) -> None:
    """The reader looks up its labels; then it loses one, and only then an item gets that label."""
    pytest.importorskip("lancedb", reason="no LanceDB here: pip install 'rebind[lance]'")
    from rebind.memory.shard.remote.lance import LanceShards

    writer, reader = LanceShards(tmp_path, DIMENSIONS), LanceShards(tmp_path, DIMENSIONS)
    writer.ingest([an_item(1, "s", "apple", label="blue"), an_item(2, "s", "apple")], np.stack([APPLE, APPLE]))
    writer.grant("ada", "red")
    looked_up = reader._held
    asked: list[str] = []

    def held(known: dict[str, list[str]], principal: str) -> list[str]:
        labels = looked_up(known, principal)
        if not asked:
            writer.revoke("ada", "red")
            writer.relabel("s", "red", "i0001")
        asked.append(principal)
        return labels

    reader._held = held  # type: ignore[method-assign]  # the moment between is made as long as it can be
    found = reader.search(Scope(predicates=(MayRead(principal="ada"),)), APPLE, 5)
    assert [near.id for near in found] == ["i0002"]
    assert len(asked) == 2


@pytest.mark.parametrize("kind", ["file", "lance", "postgresql"])
def test_a_store_is_not_opened_with_other_dimensions(request: pytest.FixtureRequest, tmp_path: Path, kind: str) -> None:
    if kind == "lance":
        pytest.importorskip("lancedb", reason="no LanceDB here: pip install 'rebind[lance]'")
    url = request.getfixturevalue("database") if kind == "postgresql" else f"{kind}://{tmp_path}/store"
    open_store(url, DIMENSIONS).close()
    with pytest.raises(StoreError, match="vectors of 32 dimensions, not of 16"):
        open_store(url, 16)


def test_a_server_that_is_not_there_is_named_without_its_password(server: str) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(StoreError) as caught:
        open_store(f"postgresql://ada:hunter2@127.0.0.1:{port}/evidence", DIMENSIONS)
    said = str(caught.value)
    assert f"127.0.0.1:{port}, database 'evidence'" in said
    assert "Start it" in said
    assert "hunter2" not in said
    with pytest.raises(StoreError, match=r"cannot be read: .*colour.*; give postgresql://user@host"):
        open_store("postgresql://host/db?colour=red", DIMENSIONS)


def test_a_server_without_the_extension_and_a_user_who_may_not_add_it_are_told_what_to_run(database: str) -> None:
    """One connection looks for extensions in an empty place, the other is of a user without rights."""
    with pytest.raises(StoreError, match=r"PostgreSQL 18 at .* has no pgvector: .*apt install postgresql-18-pgvector"):
        open_store(f"{database}&options=-cextension_control_path%3D/nowhere", DIMENSIONS)
    import psycopg

    with psycopg.connect(database, autocommit=True) as administrator:
        administrator.execute("DROP ROLE IF EXISTS guest")
        administrator.execute("CREATE ROLE guest LOGIN")
    with pytest.raises(StoreError, match="an administrator run CREATE EXTENSION vector"):
        open_store(database.replace("postgres@", "guest@"), DIMENSIONS)


def test_what_postgresql_cannot_hold_or_index_is_said(database: str) -> None:
    store = open_store(database, DIMENSIONS)
    with pytest.raises(StoreError, match=r"item 'i0001' of shard 's': PostgreSQL cannot hold the character NUL"):
        store.ingest([an_item(1, "s", "apple", user="a\x00b")], APPLE[None])
    store.ingest([an_item(1, "s", "an apple\x00")], APPLE[None])
    assert store.search(Scope(), APPLE, 1)[0].text == "an apple\x00"
    store.close()
    with pytest.raises(StoreError, match=r'no graph over 2001 dimensions.*"exact"'):
        open_store(database, 2001, "hnsw")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgressql://host/db", "did you mean 'postgresql'"),
        ("lancedb:///here", "did you mean 'lance'"),
        ("/a/folder", "known: file, lance, postgres, postgresql"),
        ("lance://here", "three slashes, as lance:///data/evidence"),
        ("file:///", "three slashes"),
    ],
)
def test_a_url_that_leads_nowhere_is_told_apart(url: str, said: str) -> None:
    with pytest.raises(StoreError, match=said):
        open_store(url, DIMENSIONS)


def test_a_graph_is_asked_of_postgresql_alone(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="scanned exactly"):
        open_store(f"file://{tmp_path}/x", DIMENSIONS, "hnsw")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("hidden", "url", "extra"),
    [("psycopg", "postgresql://host/db", "pgvector"), ("lancedb", "lance:///nowhere/to/write", "lance")],
)
def test_an_extra_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, hidden: str, url: str, extra: str) -> None:
    monkeypatch.setitem(sys.modules, hidden, None)
    with pytest.raises(StoreError, match=rf"pip install 'rebind\[{extra}\]'"):
        open_store(url, DIMENSIONS)


def test_neither_database_is_imported_before_a_store_of_it_is_opened() -> None:
    code = "import sys, rebind.memory.shard.remote.urls, rebind.memory.shard.remote.pgvector, rebind.cli.bench; "
    code += (
        "import rebind.memory.shard.remote.lance; sys.exit(bool({'psycopg', 'lancedb', 'pyarrow'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_all_stores_find_the_ten_nearest_admissible_items_and_never_another(server: str) -> None:
    """The benchmark at a small size, in a schema of its own that is gone afterwards."""
    pytest.importorskip("lancedb", reason="no LanceDB here: pip install 'rebind[lance]'")
    import psycopg

    result: dict[str, Any] = run_stores(items=400, shards=20, queries=24, postgres=server)
    assert [row["store"] for row in result["rows"]] == ["embedded", "pgvector-exact", "pgvector-hnsw", "lance"]
    for row in result["rows"]:
        assert (row["recall10"], row["same_top10"], row["inadmissible"]) == (1.0, 1.0, 0)
        assert 0 < row["ms_median"] <= row["ms_p95"]
    assert result["queries"] == 24
    assert result["changes"] == 5
    with psycopg.connect(server) as connection:
        left = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname LIKE 'rebind_bench%'").fetchall()
    assert left == []
