"""Planting: writing the records a task needs, and its wrong-but-plausible distractors, into a restored world."""

from __future__ import annotations

import hashlib
import random
import sqlite3
from datetime import date, timedelta
from typing import Any

from rebind.envs.apps.api.common import PREFIXES
from rebind.envs.apps.families.view import View

_ABOUT: dict[str, tuple[str, ...]] = {
    "contacts": ("first_name", "last_name"),
    "contact_groups": ("name",),
    "mails": ("sender", "recipients"),
    "events": ("title",),
    "notes": ("title",),
    "files": ("path",),
    "chats": ("title", "kind"),
    "chat_messages": ("chat_id", "sender"),
    "bank_accounts": ("name",),
    "payees": ("name",),
    "transactions": ("counterparty",),
    "standing_orders": ("payee_id",),
    "payment_requests": ("contact_id",),
    "products": ("name",),
    "addresses": ("label",),
    "orders": (),
    "reviews": ("product_id",),
    "todo_lists": ("name",),
    "todos": ("title",),
    "songs": ("title", "artist"),
    "playlists": ("name",),
}
"""Columns that say what a record is about. A planted record's id follows from them: another sender's invoice has
another id, the same sender's invoice keeps its id when only its amount changes."""

_DEFAULTS: dict[str, dict[str, Any]] = {
    "contacts": {**dict.fromkeys(("company", "job_title", "street", "city", "birthday"), ""), "relation": "friend"},
    "mails": {
        "folder": "inbox",
        "recipients": lambda p: p.me,
        "body": "",
        "sent_at": lambda p: p.moment(-1),
        "read": 1,
    },
    "events": {"location": "", "calendar": "work"},
    "notes": {
        "body": "",
        "notebook": "personal",
        **dict.fromkeys(("created_at", "updated_at"), lambda p: p.moment(-2)),
    },
    "files": {"content": "", "modified_at": lambda p: p.moment(-2)},
    "chats": {"title": "", "kind": "direct"},
    "chat_messages": {"sent_at": lambda p: p.moment(-1)},
    "transactions": {"booked_on": lambda p: p.day(-1), "reference": ""},
    "payment_requests": {"direction": "incoming", "status": "open", "created_on": lambda p: p.day(-1)},
    "products": {"category": "home", "stock": 25, "rating": 4.2, "description": ""},
    "reviews": {"written_on": lambda p: p.day(-9)},
    "orders": {"status": "delivered", "placed_on": lambda p: p.day(-9)},
}
"""Columns that need not be given; a function is asked with the plant."""


class Plant(View):
    """A world being prepared for one task. Reads like a View; `add` and `run` write. Deterministic: `rng` and all ids
    follow from the world's recipe, never from the bindings (see `_ABOUT`)."""

    def __init__(self, db: sqlite3.Connection, recipe: str) -> None:
        """`recipe`: text that names the initial state: world seed, planting seed and family."""
        super().__init__(db)
        self._recipe = recipe
        self.rng = random.Random(f"plant {recipe}")
        self.log: list[tuple[str, tuple[Any, ...]]] = []
        """Every statement run, with its values: with the world's own digest it identifies the state."""

    def run(self, sql: str, *values: Any) -> None:
        """Any other write, e.g. an UPDATE that moves a distractor out of the way."""
        self.db.execute(sql, values)
        self.log.append((sql, values))

    def add(self, table: str, **columns: Any) -> str:
        """Adds a record, what is missing filled from defaults, and returns its id ("" for a table without ids)."""
        defaults: dict[str, Any] = {
            name: value(self) if callable(value) else value
            for name, value in _DEFAULTS.get(table, {}).items()
            if name not in columns
        }
        row = defaults | columns
        if table == "files":
            row |= {"size": len(row["content"].encode())}
        if table in PREFIXES and "id" not in row:
            row = {"id": self._id(table, tuple(str(row[name]) for name in _ABOUT[table])), **row}
        marks = ", ".join("?" * len(row))
        self.run(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", *row.values())
        return str(row.get("id", ""))

    def chat_with(self, who: str) -> str:
        """The direct chat with a contact, started where the world has none; its id."""
        if not self.direct_chats(who):
            contact = self.person(who)
            chat = self.add("chats", title=f"{contact['first_name']} {contact['last_name']}")
            self.add("chat_members", chat_id=chat, contact_id=contact["id"])
            self.add("chat_messages", chat_id=chat, sender=contact["id"], body="Hi, this is my new number.")
        return self.direct_chat(who)

    def day(self, offset: int) -> str:
        """The date that many days from the world's today."""
        return (date.fromisoformat(self.today) + timedelta(days=offset)).isoformat()

    def moment(self, offset: int, time: str = "09:00") -> str:
        """A time on the day that many days from today."""
        return f"{self.day(offset)}T{time}"

    def _id(self, table: str, about: tuple[str, ...]) -> str:
        attempt = 0
        while True:
            seed = "\0".join((self._recipe, table, *about, str(attempt)))
            number = 10_000 + int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big") % 90_000
            fresh = f"{PREFIXES[table]}_{number}"
            if not self.column(f"SELECT 1 FROM {table} WHERE id = ?", fresh):
                return fresh
            attempt += 1
