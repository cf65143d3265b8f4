"""What every API shares: reading rows, paging, looking up an id, new ids, the world's clock, checks of arguments."""

from __future__ import annotations

import datetime
import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from pydantic import JsonValue

from rebind.envs.apps.api.registry import ApiError, Db
from rebind.errors import did_you_mean

Row = dict[str, Any]
"""One database row as JSON: column name to text, integer, float or None."""

MAX_PAGE_SIZE = 20
PREFIXES = {
    "contacts": "con",
    "contact_groups": "grp",
    "mails": "mail",
    "events": "evt",
    "notes": "note",
    "files": "file",
    "chats": "chat",
    "chat_messages": "msg",
    "bank_accounts": "acc",
    "payees": "payee",
    "transactions": "txn",
    "standing_orders": "so",
    "payment_requests": "req",
    "products": "prod",
    "addresses": "addr",
    "orders": "ord",
    "reviews": "rev",
    "todo_lists": "list",
    "todos": "todo",
    "songs": "song",
    "playlists": "pl",
}
"""Id prefix of every table with ids: the populators and `new_id` use the same."""

_EMAIL = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+")


def select(db: Db, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
    """All rows of a query as dicts, whatever the connection's row factory."""
    cursor = db.execute(sql, parameters)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def booleans(row: Row, *names: str) -> Row:
    """The row with the named 0/1 columns as true/false."""
    return {key: bool(value) if key in names else value for key, value in row.items()}


def page(rows: Sequence[JsonValue] | Sequence[Row], page: int, page_size: int) -> dict[str, JsonValue]:
    """One page of a listing, `{"items", "page", "pages", "total"}`; a page past the end has no items.

    Raises 422 unless `page` ≥ 1 and 1 ≤ `page_size` ≤ 20.
    """
    if page < 1:
        raise ApiError(422, f"page starts at 1, not {page}")
    if not 1 <= page_size <= MAX_PAGE_SIZE:
        raise ApiError(422, f"page_size must be between 1 and {MAX_PAGE_SIZE}, not {page_size}")
    start = (page - 1) * page_size
    items: list[JsonValue] = list(rows[start : start + page_size])
    return {"items": items, "page": page, "pages": -(-len(rows) // page_size), "total": len(rows)}


def one_or_404(db: Db, table: str, key: str, noun: str, *, column: str = "id") -> Row:
    """The row of that key; 404 says what an id of this kind looks like. `table` and `column` are ours, never input."""
    found = select(db, f"SELECT * FROM {table} WHERE {column} = ?", (key,))
    if not found:
        prefix = PREFIXES.get(table) if column == "id" else None
        shape = f"; such an id starts with {prefix}_" if prefix and not key.startswith(f"{prefix}_") else ""
        raise ApiError(404, f"no {noun} with {column} {key!r}{shape}")
    return found[0]


def new_id(db: Db, table: str, prefix: str) -> str:
    """A fresh id: a function of the world's seed and of how many ids with this prefix were issued before.

    Numbers are never reused, not even after a delete, and differ between world seeds.
    """
    (seed,) = db.execute("SELECT value FROM internals WHERE key = 'seed'").fetchone()
    counter = f"issued:{prefix}"
    row = db.execute("SELECT value FROM internals WHERE key = ?", (counter,)).fetchone()
    issued = row[0] if row else 0
    while True:
        issued += 1
        seal = hashlib.sha256(f"{seed}/{prefix}/{issued}".encode()).digest()
        fresh = f"{prefix}_{10_000 + int.from_bytes(seal[:8], 'big') % 90_000}"
        if db.execute(f"SELECT 1 FROM {table} WHERE id = ?", (fresh,)).fetchone() is None:
            db.execute("INSERT OR REPLACE INTO internals VALUES (?, ?)", (counter, issued))
            return fresh


def today(db: Db) -> str:
    """The world's date, ISO 8601."""
    return str(db.execute("SELECT value FROM profile WHERE key = 'today'").fetchone()[0])


def now(db: Db) -> str:
    """The world's clock, which stands at noon: nothing in the populated past is later than this."""
    return f"{today(db)}T12:00"


def matches(query: str, *fields: str | None) -> bool:
    """True if every word of the query occurs in the fields, case-insensitively; an empty query matches all."""
    words = _words(query)
    if not words:
        return True
    text = "\n".join(filter(None, fields)).casefold()
    return all(word in text for word in words)


@lru_cache(64)
def _words(query: str) -> tuple[str, ...]:
    return (*query.casefold().split(),)


def date_or_422(value: str, name: str) -> str:
    """An ISO date (2026-03-14), as given."""
    try:
        valid = datetime.date.fromisoformat(value).isoformat() == value
    except ValueError:
        valid = False
    if not valid:
        raise ApiError(422, f"{name} must be a date like 2026-03-14, not {value!r}")
    return value


def moment_or_422(value: str, name: str) -> str:
    """An ISO date and time to the minute (2026-03-14T09:30), as given."""
    try:
        valid = datetime.datetime.fromisoformat(value).isoformat(timespec="minutes") == value
    except ValueError:
        valid = False
    if not valid:
        raise ApiError(422, f"{name} must be a date and time like 2026-03-14T09:30, not {value!r}")
    return value


def email_or_422(value: str, name: str) -> str:
    """An e-mail address, as given."""
    if not _EMAIL.fullmatch(value):
        raise ApiError(422, f"{name} must be an e-mail address like anna@example.com, not {value!r}")
    return value


def text_or_422(value: str, name: str) -> str:
    """A text that is not blank, as given."""
    if not value.strip():
        raise ApiError(422, f"{name} must not be empty")
    return value


def choice_or_422(value: str, name: str, known: Iterable[str]) -> str:
    """One of the known words (those that are data, not fixed choices: labels, folders, lists …)."""
    words = sorted(set(known))
    if value not in words:
        raise ApiError(422, f"{name} {value!r} is not known{did_you_mean(value, words)}")
    return value
