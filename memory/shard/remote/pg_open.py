"""Opens a PostgreSQL database as a store of shards: connection, extension, tables, and errors in plain words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, LiteralString

from rebind.memory.shard.log import StoreError
from rebind.memory.shard.remote.protocol import Index

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

LOCK = 0x7265_6269_6E64
"""Advisory lock of writers, so that they take turns."""
_ITERATIVE_SINCE = (0, 8)
"""The pgvector that goes on through its graph until enough of what it meets is admitted."""
_EF_SEARCH, _MAX_SCAN = 400, 200_000
_GRAPH: Final = (
    "CREATE INDEX IF NOT EXISTS rebind_items_graph ON rebind_items USING hnsw (vector vector_ip_ops) "
    "WITH (m = 24, ef_construction = 200)"
)
_MOST_GRAPH_DIMENSIONS = 2000
_INLINE_UP_TO = 1500
"""Vectors of so many dimensions fit a page beside the rest of their row, and are read without a second look-up."""
_TABLES: Final[tuple[LiteralString, ...]] = (
    """CREATE TABLE IF NOT EXISTS rebind_items (
         shard text COLLATE "C" NOT NULL,
         id text COLLATE "C" NOT NULL,
         place bigint GENERATED ALWAYS AS IDENTITY,
         family text NOT NULL,
         "user" text COLLATE "C" NOT NULL,
         session text COLLATE "C" NOT NULL,
         speaker text COLLATE "C" NOT NULL,
         namespace text COLLATE "C" NOT NULL,
         label text COLLATE "C" NOT NULL,
         "time" bigint,
         line text NOT NULL,
         digest text NOT NULL,
         vector vector({dimensions}) NOT NULL,
         PRIMARY KEY (shard, id))""",
    """CREATE TABLE IF NOT EXISTS rebind_rights (
         principal text COLLATE "C", label text COLLATE "C", PRIMARY KEY (principal, label))""",
    'CREATE INDEX IF NOT EXISTS rebind_items_user ON rebind_items ("user", "time")',
    "CREATE INDEX IF NOT EXISTS rebind_items_session ON rebind_items (session)",
    "CREATE INDEX IF NOT EXISTS rebind_items_namespace ON rebind_items (namespace)",
)


def open_database(url: str, dimensions: int, index: Index) -> Connection:
    """A connection to a database that has the extension and the tables.

    Raises:
        StoreError: the extra is not installed, the server cannot be reached or has no pgvector, or the tables hold
            vectors of other dimensions.
    """
    if index == "hnsw" and dimensions > _MOST_GRAPH_DIMENSIONS:
        raise StoreError(
            f"pgvector builds no graph over {dimensions} dimensions, at most over {_MOST_GRAPH_DIMENSIONS}: "
            'use the index "exact"'
        )
    connection = _connected(url)
    try:
        with told(url):
            _make(connection, url, dimensions, index)
            _prepare(connection, index)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def told(url: str) -> Iterator[None]:
    """Turns what PostgreSQL says into a `StoreError` that names the server, and never its password."""
    import psycopg

    try:
        yield
    except psycopg.Error as error:
        said = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise StoreError(f"PostgreSQL at {server(url)}: {said}") from error


def server(url: str) -> str:
    """Where a URL leads, without user and password."""
    from psycopg.conninfo import conninfo_to_dict

    parts = conninfo_to_dict(url)
    return (
        f"{parts.get('host', 'localhost')}:{parts.get('port', 5432)}, database {parts.get('dbname', 'of the user')!r}"
    )


def _connected(url: str) -> Connection:
    try:
        import pgvector.psycopg
        import psycopg
    except ImportError as error:
        raise StoreError(f"{error}: stores in PostgreSQL need pip install 'rebind[pgvector]'") from None
    del pgvector
    try:
        return psycopg.connect(url, autocommit=True, prepare_threshold=None)
    except psycopg.ProgrammingError as error:
        raise StoreError(
            f"the URL cannot be read: {str(error).strip()}; give postgresql://user@host:5432/database"
        ) from None
    except psycopg.OperationalError as error:
        said = str(error).strip().splitlines()[0]
        raise StoreError(
            f"no PostgreSQL to be had at {server(url)}: {said}. Start it (docs/shardmemo.md says how), or mend host, "
            "port, user or database in the URL"
        ) from None


def _make(connection: Connection, url: str, dimensions: int, index: Index) -> None:
    """Extension, tables and graph, where they are missing; where they are not, nobody has to wait for a lock."""
    if _there(connection, index):
        _fitting(connection, url, dimensions)
        return
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        _extension(connection, url)
        _tables(connection, dimensions)
        _fitting(connection, url, dimensions)
        if index == "hnsw":
            connection.execute(_GRAPH)


def _fitting(connection: Connection, url: str, dimensions: int) -> None:
    held = connection.execute(
        "SELECT atttypmod FROM pg_attribute WHERE attrelid = 'rebind_items'::regclass AND attname = 'vector'"
    ).fetchone()
    if held != (dimensions,):
        raise StoreError(
            f"the store at {server(url)} holds vectors of {held and held[0]} dimensions, not of {dimensions}: use "
            "the encoder it was made with, or another database or schema"
        )


def _there(connection: Connection, index: Index) -> bool:
    """Whether tables and, where it is asked for, graph are there."""
    wanted = ["rebind_items", "rebind_rights", *(["rebind_items_graph"] if index == "hnsw" else [])]
    row = connection.execute(
        "SELECT bool_and(to_regclass(name) IS NOT NULL) FROM unnest(%s::text[]) AS name", (wanted,)
    )
    return row.fetchone() == (True,)


def _tables(connection: Connection, dimensions: int) -> None:
    from psycopg.sql import SQL, Literal

    known = _there(connection, "exact")
    for statement in _TABLES:
        connection.execute(SQL(statement).format(dimensions=Literal(dimensions)))
    if not known and dimensions <= _INLINE_UP_TO:
        connection.execute("ALTER TABLE rebind_items ALTER COLUMN vector SET STORAGE PLAIN")


def _extension(connection: Connection, url: str) -> None:
    import psycopg

    if connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'").fetchone():
        return
    try:
        connection.execute("CREATE EXTENSION vector")
    except psycopg.errors.InsufficientPrivilege:
        raise StoreError(
            f"the database at {server(url)} lacks pgvector, and this user may not add it: have an administrator run "
            "CREATE EXTENSION vector in it"
        ) from None
    except (psycopg.errors.FeatureNotSupported, psycopg.errors.UndefinedFile):
        major = connection.info.server_version // 10_000
        raise StoreError(
            f"the PostgreSQL {major} at {server(url)} has no pgvector: install it on the server (Debian trixie and "
            f"later, or PostgreSQL's own packages: apt install postgresql-{major}-pgvector), or run an image that has "
            "it (docs/shardmemo.md)"
        ) from None


def _prepare(connection: Connection, index: Index) -> None:
    """What holds for the connection: vectors as numpy arrays, and how far a graph is searched."""
    from pgvector.psycopg import register_vector

    register_vector(connection)
    if index == "hnsw":
        connection.execute("SELECT '[1]'::vector")  # loads the library, which knows its settings from here on
        connection.execute("SELECT set_config('hnsw.ef_search', %s, false)", (str(_EF_SEARCH),))
        row = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
        assert row is not None
        if tuple(int(part) for part in row[0].split(".")[:2]) >= _ITERATIVE_SINCE:
            connection.execute("SELECT set_config('hnsw.iterative_scan', 'strict_order', false)")
            connection.execute("SELECT set_config('hnsw.max_scan_tuples', %s, false)", (str(_MAX_SCAN),))
