"""The state of one episode: a SQLite database restored from a world's snapshot, and what changed in it.

A snapshot is the serialised image of a populated world. Images are kept in memory (least recently used go first) and,
unless switched off, in a cache folder of the user whose files may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from rebind.caches import worlds_cache

_HERE = Path(__file__).parent
_DIGEST_BYTES = 32
HIDDEN_TABLES = ("internals",)
"""Bookkeeping of the engine, never part of a difference."""

Row = dict[str, Any]
Key = tuple[Any, ...]
"""Values of a row's primary key, in the order of the table's columns."""


_WRITES = frozenset({sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE})


class _State(sqlite3.Connection):
    """A database that knows what it began as, and which tables a statement was ever prepared to write since: the rest
    need not be compared. (Python's sqlite3 lets go of the interpreter's lock for each row it fetches, and threads that
    read whole databases at once wait for each other more than they work.)"""

    image: bytes
    written: set[str]

    def begin(self, image: bytes) -> None:
        self.deserialize(image)
        self.image, self.written = image, set()
        note = self.written.add

        def allowed(action: int, table: str | None, *_: str | None) -> int:
            if action in _WRITES and table:
                note(table)
            return sqlite3.SQLITE_OK

        self.set_authorizer(allowed)


def connect(image: bytes) -> sqlite3.Connection:
    """A private in-memory database that starts as the image; autocommit, usable from any one thread at a time."""
    db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False, factory=_State)
    db.begin(image)
    return db


class Images:
    """Database images by key, in memory; the least recently used go first. For many threads."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._images: OrderedDict[object, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: object, make: Callable[[], bytes]) -> bytes:
        """The image of that key, made where it is not there (perhaps twice, if two threads want it at once)."""
        with self._lock:
            if key in self._images:
                self._images.move_to_end(key)
                return self._images[key]
        image = make()
        with self._lock:
            self._images[key] = image
            if len(self._images) > self._limit:
                self._images.popitem(last=False)
        return image


class Snapshots:
    """World images by seed: memory first, then the cache folder, then built."""

    def __init__(self, *, limit: int = 64, folder: Path | None = None) -> None:
        """`limit`: images held in memory (about 1 MB each). `folder`: where images are kept on disk; None: nowhere."""
        self._images = Images(limit)
        self._folder = folder

    def restore(self, seed: int) -> sqlite3.Connection:
        """A fresh database of the world with that seed."""
        return connect(self.image(seed))

    def image(self, seed: int) -> bytes:
        """The serialised world of that seed; the same bytes in every process."""
        return self._images.get(seed, lambda: self._stored(seed) or self._built(seed))

    def _path(self, seed: int) -> Path | None:
        return self._folder and self._folder / generator_digest()[:16] / f"{seed}.world"

    def _stored(self, seed: int) -> bytes | None:
        """The image on disk, or None where there is none or its digest is wrong (a torn file is as good as none)."""
        path = self._path(seed)
        if path is None or not path.is_file():
            return None
        content = path.read_bytes()
        digest, image = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        return image if hashlib.sha256(image).digest() == digest else None

    def _built(self, seed: int) -> bytes:
        from rebind.envs.apps.populate.build import build

        image = build(seed)
        path = self._path(seed)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=path.parent)
            with os.fdopen(handle, "wb") as stream:
                stream.write(hashlib.sha256(image).digest() + image)
            os.replace(temporary, path)
        return image


@cache
def generator_digest() -> str:
    """SHA-256 over all that determines a world besides its seed: the schema, the populators, SQLite's version."""
    content = hashlib.sha256(sqlite3.sqlite_version.encode())
    for path in [_HERE / "schema.sql", _HERE / "iban.py", *sorted((_HERE / "populate").glob("*.py"))]:
        content.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return content.hexdigest()


def cache_folder() -> Path:
    """`$REBIND_CACHE/apps`, else `$XDG_CACHE_HOME/rebind/apps`, else `~/.cache/rebind/apps`."""
    return worlds_cache() / "apps"


@cache
def snapshots() -> Snapshots:
    """The process's snapshots, cached on disk in `cache_folder()`."""
    return Snapshots(folder=cache_folder())


@cache
def task_images() -> Images:
    """Initial states of tasks (a world after its task's set-up): what an episode's reset restores."""
    return Images(48)


@dataclass(frozen=True)
class Change:
    """One row whose columns changed; `before` and `after` are whole rows."""

    before: Row
    after: Row

    @property
    def columns(self) -> frozenset[str]:
        """Names of the columns that differ."""
        return frozenset(name for name, value in self.after.items() if self.before[name] != value)


@dataclass(frozen=True)
class TableDiff:
    """What happened to one table, by primary key."""

    added: dict[Key, Row] = field(default_factory=dict)
    removed: dict[Key, Row] = field(default_factory=dict)
    changed: dict[Key, Change] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


def dump(db: sqlite3.Connection) -> dict[str, dict[Key, Row]]:
    """All rows of all tables by primary key, hidden tables left out."""
    return {table: _rows(db, table) for table in _tables(db)}


def diff(before: sqlite3.Connection, after: sqlite3.Connection) -> dict[str, TableDiff]:
    """Differences by table name; tables without any are left out. Both databases must have the same schema, and neither
    may be in a transaction."""
    tables = _perhaps(before, after)
    after.execute("ATTACH ':memory:' AS was")
    try:
        after.deserialize(before.serialize(), name="was")
        found = {table: _table_diff(after, table) for table in tables}
    finally:
        after.execute("DETACH was")
    return {table: difference for table, difference in found.items() if difference}


def _table_diff(db: sqlite3.Connection, table: str) -> TableDiff:
    """What happened to a table of `main` since it was as it is in `was`."""
    names, keys = _columns(db, table)
    old = _by_key(_unlike(db, table, names, "was", "main"), names, keys)
    new = _by_key(_unlike(db, table, names, "main", "was"), names, keys)
    return TableDiff(
        added={key: row for key, row in new.items() if key not in old},
        removed={key: row for key, row in old.items() if key not in new},
        changed={key: Change(old[key], row) for key, row in new.items() if old.get(key, row) != row},
    )


def _unlike(db: sqlite3.Connection, table: str, names: Sequence[str], here: str, there: str) -> list[tuple[Any, ...]]:
    """A table's rows in one schema that the other does not have, or not at that row id. SQLite compares them: of
    hundreds of rows a handful become Python's."""
    differs = " OR ".join(f"here.{name} IS NOT there.{name}" for name in names)
    return db.execute(
        f"SELECT here.* FROM {here}.{table} here LEFT JOIN {there}.{table} there ON there.rowid = here.rowid "
        f"WHERE there.rowid IS NULL OR {differs}"
    ).fetchall()


def _tables(db: sqlite3.Connection) -> list[str]:
    names = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]
    return [name for name in names if name not in HIDDEN_TABLES]


def _perhaps(before: sqlite3.Connection, after: sqlite3.Connection) -> list[str]:
    """Tables that may differ: of two states of one image, those that a statement was made to write."""
    tables = _tables(after)
    if isinstance(before, _State) and isinstance(after, _State) and before.image == after.image:
        written = before.written | after.written
        return [table for table in tables if table in written]
    return tables


def _rows(db: sqlite3.Connection, table: str) -> dict[Key, Row]:
    return _by_key(db.execute(f"SELECT * FROM {table}").fetchall(), *_columns(db, table))


def _columns(db: sqlite3.Connection, table: str) -> tuple[list[str], list[int]]:
    """Names of a table's columns, and which of them are its primary key."""
    columns = db.execute("SELECT name, pk FROM pragma_table_info(?) ORDER BY cid", (table,)).fetchall()
    return [name for name, _ in columns], [index for index, (_, pk) in enumerate(columns) if pk]


def _by_key(rows: Iterable[tuple[Any, ...]], names: Sequence[str], keys: Sequence[int]) -> dict[Key, Row]:
    """Rows of a table by primary key."""
    return {tuple(row[i] for i in keys): dict(zip(names, row, strict=True)) for row in rows}
