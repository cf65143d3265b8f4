"""Shards in a LanceDB folder on this machine or a file system that many share.

Vectors are the grid's whole numbers in 32-bit floats, whose inner products are exact. There is no graph: LanceDB scans
what the filter admits. Each change is one version of a table, so a reader sees all of it or nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from filelock import FileLock

from rebind.memory.shard.log import StoreError
from rebind.memory.shard.remote.batch import Key, Row, asked, near, rows_of, unwritten
from rebind.memory.shard.remote.lance_filter import condition
from rebind.memory.shard.remote.protocol import Embedding, Near
from rebind.memory.shard.scope import FIELDS, Scope
from rebind.memory.shard.segment import Grid, Item

if TYPE_CHECKING:
    import pyarrow as pa
    from lancedb.expr import Expr

_ITEMS, _RIGHTS = "rebind_items", "rebind_rights"
_PLACE_BITS = 32
"""The place of an item is the version it was written in, then its place in the batch."""


class LanceShards:
    """A `ShardStore` in a folder of LanceDB. Writers take turns under a file lock, readers never wait."""

    def __init__(self, folder: Path, dimensions: int) -> None:
        """Opens the folder's tables, or makes them.

        Raises:
            StoreError: the extra is not installed, or the folder holds vectors of other dimensions.
        """
        try:
            import lancedb
        except ImportError as error:
            raise StoreError(f"{error}: stores in LanceDB need pip install 'rebind[lance]'") from None
        self._dimensions = dimensions
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"{folder} is no folder to write to: {error.strerror}") from None
        self._lock = FileLock(folder / "rebind.lock")
        database = lancedb.connect(str(folder), read_consistency_interval=timedelta(0))
        with self._lock:
            self._items = _opened(database, _ITEMS, _schema(dimensions))
            self._rights = _opened(database, _RIGHTS, _rights_schema())
        self._labels: tuple[int, dict[str, list[str]]] = (-1, {})
        """A version of the rights, and what principals were found to hold while it was the last; see `_steadily`."""
        held = self._items.schema.field("vector").type.list_size
        if held != dimensions:
            raise StoreError(f"{folder} holds vectors of {held} dimensions, not of {dimensions}")

    @property
    def dimensions(self) -> int:
        return self._dimensions

    # --- writing ---

    def ingest(self, items: Sequence[Item], embeddings: Embedding) -> int:
        batch = rows_of(items, embeddings, self._dimensions)
        with self._lock:
            fresh = unwritten(batch, *self._known(batch))
            if fresh:
                rows = [batch[place] for place in fresh]
                self._items.add(_table(rows, self._items.version, self._dimensions))
        return len(fresh)

    def grant(self, principal: str, label: str) -> None:
        import pyarrow as pa

        pair = pa.table({"principal": [principal], "label": [label]}, schema=_rights_schema())
        with self._lock:
            self._rights.merge_insert(["principal", "label"]).when_not_matched_insert_all().execute(pair)

    def revoke(self, principal: str, label: str) -> None:
        from lancedb.expr import col, lit

        with self._lock:
            self._rights.delete((col("principal") == lit(principal)) & (col("label") == lit(label)))

    def relabel(self, shard: str, label: str, item: str | None = None) -> None:
        with self._lock:
            self._items.update(where=self._one(shard, item), values={"label": label})

    def delete(self, shard: str, item: str | None = None) -> None:
        with self._lock:
            self._items.delete(self._one(shard, item))

    # --- reading ---

    def admissible(self, scope: Scope) -> dict[str, int]:
        rows = self._steadily(scope, None, lambda where: _rows(self._items.search(), where, ["shard"]))
        shards, counts = np.unique([row["shard"] for row in rows], return_counts=True)
        return dict(zip(shards.tolist(), counts.tolist(), strict=True))

    def search(self, scope: Scope, vector: Embedding, k: int, shards: Sequence[str] | None = None) -> tuple[Near, ...]:
        query = asked(vector, self._dimensions, k)
        rows = self._steadily(scope, shards, lambda where: self._nearest(query, where, k))
        rows.sort(key=lambda row: (row["_distance"], row["shard"], row["place"]))
        return tuple(near(row["shard"], row["line"], 1 - row["_distance"]) for row in rows[:k])

    def close(self) -> None:
        """Nothing to let go of: a table holds no lock between calls."""

    # --- inside ---

    def _nearest(self, query: Grid, where: Any, k: int) -> list[dict[str, Any]]:
        """At least the `k` nearest and all that are as near as the last of them."""
        wanted, fetch = query.astype(np.float32), k + 1
        while True:
            search = self._items.search(wanted, vector_column_name="vector").distance_type("dot").limit(fetch)
            rows = _rows(search, where, ["shard", "place", "line", "_distance"])
            if len(rows) < fetch or rows[-1]["_distance"] > rows[k - 1]["_distance"]:
                return rows
            fetch *= 2

    def _steadily(
        self, scope: Scope, shards: Sequence[str] | None, look: Callable[[Expr], list[dict[str, Any]]]
    ) -> list[dict[str, Any]]:
        """Looks with the rights of one moment: where they changed meanwhile, it looks again. Rights and items are two
        tables, and an item may have got a label that its reader lost before."""
        version: int = self._rights.version
        while True:
            known = self._labels
            if known[0] != version:
                known = self._labels = (version, {})
            found = look(condition(scope, shards, partial(self._held, known[1])))
            before, version = version, self._rights.version
            if version == before:
                return found

    def _held(self, known: dict[str, list[str]], principal: str) -> list[str]:
        """Labels that a principal holds; looked up once a version of the rights."""
        from lancedb.expr import col, lit

        if principal not in known:
            rows = _rows(self._rights.search(), col("principal") == lit(principal), ["label"])
            known[principal] = [row["label"] for row in rows]
        return known[principal]

    def _known(self, batch: Sequence[Row]) -> tuple[dict[Key, str], dict[str, str]]:
        """Digests of the items in a batch's shards, and the families of these."""
        from lancedb.expr import col

        shards = sorted({one.item.shard for one in batch})
        rows = _rows(self._items.search(), col("shard").isin(shards), ["shard", "id", "digest", "family"])
        return {(r["shard"], r["id"]): r["digest"] for r in rows}, {r["shard"]: r["family"] for r in rows}

    def _one(self, shard: str, item: str | None) -> Expr:
        """Which rows are a shard's, or one item's. Raises `StoreError` where there is none such."""
        from lancedb.expr import col, lit

        where = col("shard") == lit(shard)
        if item is not None:
            where = where & (col("id") == lit(item))
        if not _rows(self._items.search().limit(1), where, ["id"]):
            raise StoreError(
                f"there is no shard {shard!r}" if item is None else f"shard {shard!r} has no item {item!r}"
            )
        return where


def _opened(database: Any, name: str, schema: pa.Schema) -> Any:
    """A table, made where there is none."""
    known = database.list_tables().tables
    return database.open_table(name) if name in known else database.create_table(name, schema=schema)


def _rows(search: Any, where: Expr, columns: list[str]) -> list[dict[str, Any]]:
    """What a search finds among the rows of a condition, which is applied before it."""
    found: list[dict[str, Any]] = search.where(where, prefilter=True).select(columns).to_arrow().to_pylist()
    return found


def _table(rows: Sequence[Row], version: int, dimensions: int) -> pa.Table:
    """Rows as a table of Arrow."""
    import pyarrow as pa

    metas = [one.item.meta for one in rows]
    vectors = np.concatenate([one.vector for one in rows]).astype(np.float32)
    columns = {
        "shard": [one.item.shard for one in rows],
        "id": [one.item.id for one in rows],
        "place": [(version << _PLACE_BITS) + place for place in range(len(rows))],
        "family": [one.item.family for one in rows],
        **{field: [getattr(meta, field) for meta in metas] for field in FIELDS},
        "time": [one.time for one in rows],
        "line": [one.line for one in rows],
        "digest": [one.digest for one in rows],
        "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors), dimensions),
    }
    return pa.table(columns, schema=_schema(dimensions))


def _schema(dimensions: int) -> pa.Schema:
    import pyarrow as pa

    texts = [(name, pa.string()) for name in ("family", *FIELDS)]
    return pa.schema([
        ("shard", pa.string()), ("id", pa.string()), ("place", pa.int64()), *texts, ("time", pa.int64()),
        ("line", pa.string()), ("digest", pa.string()), ("vector", pa.list_(pa.float32(), dimensions)),
    ])  # fmt: skip


def _rights_schema() -> pa.Schema:
    import pyarrow as pa

    return pa.schema([("principal", pa.string()), ("label", pa.string())])
