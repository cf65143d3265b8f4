"""Real stores to hold against one another: a folder, a PostgreSQL with pgvector of the tests' own, LanceDB."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from support.shards import DIMENSIONS

from rebind.eval.bench.shardmemo.postgres import missing, running
from rebind.memory.shard.remote.protocol import ShardStore
from rebind.memory.shard.remote.urls import open_store

Opens = Callable[[], ShardStore]
"""Opens the same store once more."""
_NUMBERS = count()


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    if why := missing():
        pytest.skip(why)
    with running() as url:
        yield url


@pytest.fixture
def database(server: str) -> Iterator[str]:
    """The URL of a database of the test's own."""
    import psycopg

    name = f"test{next(_NUMBERS)}"
    with psycopg.connect(server, autocommit=True) as administrator:
        administrator.execute(f"CREATE DATABASE {name}")
        yield urlsplit(server)._replace(path=f"/{name}").geturl()
        administrator.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["file", "pgvector-exact", "pgvector-hnsw", "lance"])
def opens(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opens]:
    """Each kind of store, empty."""
    kind = str(request.param)
    if kind == "lance" and find_spec("lancedb") is None:
        pytest.skip("no LanceDB here: pip install 'rebind[lance]'")
    url = request.getfixturevalue("database") if kind.startswith("pgvector") else f"{kind}://{tmp_path}/store"
    opened: list[ShardStore] = []

    def make() -> ShardStore:
        opened.append(open_store(url, DIMENSIONS, "hnsw" if kind == "pgvector-hnsw" else "exact"))
        return opened[-1]

    yield make
    for store in opened:
        store.close()
