"""Read-only questions to a state: what draws, groundings and expectations look values up with."""

from __future__ import annotations

import sqlite3
from typing import Any

from rebind.envs.apps.state import Row
from rebind.errors import RebindError


class CannotBuild(RebindError):
    """A draw or a planting for which this world has no room (no such person, no free day); the builder draws again."""


class View:
    """A state's rows, read by SQL. Rows are plain dicts."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db

    def rows(self, sql: str, *values: Any) -> list[Row]:
        cursor = self.db.execute(sql, values)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def column(self, sql: str, *values: Any) -> list[Any]:
        """The first column of every row."""
        return [row[0] for row in self.db.execute(sql, values)]

    def row(self, sql: str, *values: Any) -> Row:
        """The only row. Raises `CannotBuild` where there is none or more than one: the task would be ambiguous."""
        found = self.rows(sql, *values)
        if len(found) != 1:
            raise CannotBuild(f"{len(found)} rows instead of one: {sql} {values}")
        return found[0]

    def value(self, sql: str, *values: Any) -> Any:
        """The first column of the only row. Raises `CannotBuild` as `row` does."""
        return next(iter(self.row(sql, *values).values()))

    def profile(self, key: str) -> str:
        """A line of the supervisor's profile: name, email, phone, address, city, today."""
        return str(self.value("SELECT value FROM profile WHERE key = ?", key))

    @property
    def today(self) -> str:
        return self.profile("today")

    @property
    def me(self) -> str:
        """The supervisor's mail address."""
        return self.profile("email")

    def person(self, who: str) -> Row:
        """The contact a goal names, as "First Last" or, among namesakes, "First from Company" or "First in City".
        Raises `CannotBuild` unless there is exactly one."""
        for word, column in ((" from ", "company"), (" in ", "city")):
            first, found, place = who.partition(word)
            if found:
                return self.row(f"SELECT * FROM contacts WHERE first_name = ? AND {column} = ?", first, place)
        return self.row("SELECT * FROM contacts WHERE first_name || ' ' || last_name = ?", who)

    def direct_chat(self, who: str) -> str:
        """The id of the direct chat with the contact of that name. Raises `CannotBuild` unless there is exactly one."""
        found = self.direct_chats(who)
        if len(found) != 1:
            raise CannotBuild(f"{len(found)} direct chats with {who}")
        return found[0]

    def direct_chats(self, who: str) -> list[str]:
        """Ids of the direct chats with the contact of that name."""
        chats = "SELECT id FROM chats JOIN chat_members ON chat_id = id WHERE kind = 'direct' AND contact_id = ?"
        return self.column(chats, self.person(who)["id"])
