"""Shards in PostgreSQL with the pgvector extension.

Vectors are the grid's whole numbers in 32-bit floats, so PostgreSQL's inner products are exact too, and an exact scan
finds what the embedded store finds, ties included. Scope, rights and search are one statement, which sees one state.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, LiteralString

import numpy as np

from rebind.memory.shard.log import StoreError
from rebind.memory.shard.remote.batch import Key, Row, asked, names, near, rows_of, unwritten
from rebind.memory.shard.remote.pg_open import LOCK, open_database, told
from rebind.memory.shard.remote.protocol import Embedding, Index, Near
from rebind.memory.shard.scope import FIELDS, MayRead, NamespaceIs, Predicate, Scope, TimeWithin, seconds
from rebind.memory.shard.segment import Item

if TYPE_CHECKING:
    from psycopg.sql import Composable

    from rebind.memory.shard.remote.pg_open import Connection

_COLUMNS = ("shard", "id", "family", *FIELDS, "time", "line", "digest", "vector")
_TYPES = (*["text"] * (3 + len(FIELDS)), "int8", "text", "text", "vector")
_ANALYZED_FROM = 1000
"""A batch of so many items changes what the planner has to know."""
_EXACT: Final[LiteralString] = """
    SELECT shard, line, less FROM
      (SELECT shard, place, line, 0 + (vector <#> %s) AS less FROM rebind_items WHERE {where}) admitted
    ORDER BY less, shard, place LIMIT %s"""
"""A sum is not the order of a graph, so that the planner has to look at every admitted item."""
_BY_GRAPH: Final[LiteralString] = """
    SELECT shard, line, less FROM
      (SELECT shard, place, line, vector <#> %s AS less FROM rebind_items WHERE {where} ORDER BY less LIMIT %s) near
    ORDER BY less, shard, place LIMIT %s"""


class PgVectorShards:
    """A `ShardStore` in one database, in the tables `rebind_items` and `rebind_rights` of its search path."""

    def __init__(self, url: str, dimensions: int, index: Index = "exact") -> None:
        """Connects, and makes extension, tables and graph where they are missing.

        Raises:
            StoreError: see `open_store`.
        """
        self._url, self._dimensions = url, dimensions
        self._index: Index = index
        self._connection = open_database(url, dimensions, index)

    @property
    def dimensions(self) -> int:
        return self._dimensions

    # --- writing ---

    def ingest(self, items: Sequence[Item], embeddings: Embedding) -> int:
        batch = rows_of(items, embeddings, self._dimensions)
        for (shard, item), text in names(batch):
            if "\x00" in text:
                raise StoreError(f"item {item!r} of shard {shard!r}: PostgreSQL cannot hold the character NUL")
        connection = self._live()
        with told(self._url):
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
                fresh = unwritten(batch, _known(connection, batch), _families(connection, batch))
                _copy(connection, [batch[place] for place in fresh])
            if len(fresh) >= _ANALYZED_FROM:
                connection.execute("ANALYZE rebind_items")
        return len(fresh)

    def grant(self, principal: str, label: str) -> None:
        self._write("INSERT INTO rebind_rights VALUES (%s, %s) ON CONFLICT DO NOTHING", (principal, label))

    def revoke(self, principal: str, label: str) -> None:
        self._write("DELETE FROM rebind_rights WHERE principal = %s AND label = %s", (principal, label))

    def relabel(self, shard: str, label: str, item: str | None = None) -> None:
        statement = "UPDATE rebind_items SET label = %s WHERE shard = %s AND id = coalesce(%s, id)"
        _some(self._write(statement, (label, shard, item)), shard, item)

    def delete(self, shard: str, item: str | None = None) -> None:
        statement = "DELETE FROM rebind_items WHERE shard = %s AND id = coalesce(%s, id)"
        _some(self._write(statement, (shard, item)), shard, item)

    # --- reading ---

    def admissible(self, scope: Scope) -> dict[str, int]:
        statement = "SELECT shard, count(*) FROM rebind_items WHERE {where} GROUP BY shard ORDER BY shard"
        where, values = _where(scope, None)
        return dict(self._read(statement, where, values))

    def search(self, scope: Scope, vector: Embedding, k: int, shards: Sequence[str] | None = None) -> tuple[Near, ...]:
        query = asked(vector, self._dimensions, k).astype(np.float32)
        where, values = _where(scope, shards)
        found: list[tuple[Any, ...]] = []
        if self._index == "hnsw":
            found = self._read(_BY_GRAPH, where, (query, *values, 2 * k, k))
        if len(found) < k:  # a graph's scan may end before k admitted items were met; an exact one tells
            found = self._read(_EXACT, where, (query, *values, k))
        return tuple(near(shard, line, -less) for shard, line, less in found)

    def close(self) -> None:
        self._connection.close()

    # --- inside ---

    def _live(self) -> Connection:
        """The connection, made again where it was lost."""
        if self._connection.closed:
            self._connection = open_database(self._url, self._dimensions, self._index)
        return self._connection

    def _read(self, statement: LiteralString, where: Composable, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Rows of a query, which is asked once more where its connection is lost."""
        import psycopg
        from psycopg.sql import SQL

        query = SQL(statement).format(where=where)
        with told(self._url):
            try:
                return self._live().execute(query, values).fetchall()
            except psycopg.OperationalError:
                if not self._connection.closed:
                    raise
            return self._live().execute(query, values).fetchall()

    def _write(self, statement: LiteralString, values: Sequence[Any]) -> int:
        """Changes rows, on the disk when it returns; how many."""
        connection = self._live()
        with told(self._url):
            return connection.execute(statement, values).rowcount


def _known(connection: Connection, batch: Sequence[Row]) -> dict[Key, str]:
    """Digests of those items of a batch that are there."""
    rows = connection.execute(
        "SELECT shard, id, digest FROM rebind_items JOIN unnest(%s::text[], %s::text[]) AS asked (shard, id) "
        "USING (shard, id)",
        ([one.item.shard for one in batch], [one.item.id for one in batch]),
    )
    return {(shard, item): digest for shard, item, digest in rows}


def _families(connection: Connection, batch: Sequence[Row]) -> dict[str, str]:
    shards = list({one.item.shard for one in batch})
    statement = "SELECT DISTINCT shard, family FROM rebind_items WHERE shard = ANY(%s)"
    return dict(connection.execute(statement, (shards,)).fetchall())


def _copy(connection: Connection, rows: Sequence[Row]) -> None:
    from psycopg.sql import SQL, Identifier

    columns = SQL(", ").join([Identifier(name) for name in _COLUMNS])
    statement = SQL("COPY rebind_items ({}) FROM STDIN WITH (FORMAT BINARY)").format(columns)
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types(_TYPES)
        for one in rows:
            meta = [getattr(one.item.meta, field) for field in FIELDS]
            vector = one.vector.astype(np.float32)
            copy.write_row((*one.key, one.item.family, *meta, one.time, one.line, one.digest, vector))


def _some(changed: int, shard: str, item: str | None) -> None:
    if not changed:
        raise StoreError(f"there is no shard {shard!r}" if item is None else f"shard {shard!r} has no item {item!r}")


def _where(scope: Scope, shards: Sequence[str] | None) -> tuple[Composable, list[Any]]:
    """A scope and the probed shards as a condition, and the values of its parameters."""
    from psycopg.sql import SQL

    conditions: list[Composable] = [SQL("true")]
    values: list[Any] = []
    for one in scope.predicates:
        condition, own = _condition(one)
        conditions.append(condition)
        values += own
    if shards is not None:
        conditions.append(SQL("shard = ANY(%s)"))
        values.append(_plain(shards))
    return SQL(" AND ").join(conditions), values


def _condition(one: Predicate) -> tuple[Composable, list[Any]]:
    from psycopg.sql import SQL, Identifier

    if isinstance(one, TimeWithin):
        low, high = seconds(one.start), seconds(one.end)
        bounds = [(SQL('"time" >= %s'), low), (SQL('"time" <= %s'), high)]
        given = [(bound, value) for bound, value in bounds if value is not None]
        return SQL(" AND ").join([SQL("true"), *(bound for bound, _ in given)]), [value for _, value in given]
    if isinstance(one, MayRead):
        held = SQL("(label = '' OR label IN (SELECT label FROM rebind_rights WHERE principal = ANY(%s)))")
        return held, [_plain([one.principal])]
    wanted = _plain(one.names)
    if isinstance(one, NamespaceIs):
        return SQL("(namespace = ANY(%s) OR namespace ^@ ANY(%s))"), [wanted, [f"{name}." for name in wanted]]
    return SQL("{} = ANY(%s)").format(Identifier(one.kind)), [wanted]


def _plain(names: Sequence[str]) -> list[str]:
    """Names that an item can have here; one with NUL, which PostgreSQL does not know, is nobody's."""
    return [name for name in names if "\x00" not in name]
