"""Read-only questions to a state, and changes to it before an episode starts."""

from __future__ import annotations

import random
import sqlite3
from typing import Any

from rebind.envs.apps.families.view import CannotBuild, View

TODAY = "2026-03-16"
"""The day on which every episode starts (`project.clock`)."""


class SiteView(View):
    """A state of the sites, read by SQL."""

    @property
    def today(self) -> str:
        return TODAY


class Plant(SiteView):
    """A state that a task may change before its episode starts. Nothing but recipe and bindings decide how: `rng` is
    for free choices."""

    def __init__(self, db: sqlite3.Connection, seed: str) -> None:
        super().__init__(db)
        self.rng = random.Random(seed)
        self.log: list[Any] = []
        """What was done, for the digest of the state."""

    def set(self, table: str, key: int, /, **columns: Any) -> None:
        """Changes columns of one record."""
        named = ", ".join(f"{name} = ?" for name in columns)
        done = self.db.execute(f"UPDATE {table} SET {named} WHERE id = ?", (*columns.values(), key))
        if done.rowcount != 1:
            raise CannotBuild(f"no record {key} in {table}")
        self.log.append(["set", table, key, columns])

    def copy(self, table: str, key: int, /, **columns: Any) -> int:
        """Adds a record that is like another one but for these columns; its id."""
        row = {**self.row(f"SELECT * FROM {table} WHERE id = ?", key), **columns}
        del row["id"]
        names = ", ".join(f'"{name}"' for name in row)
        done = self.db.execute(
            f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(row))})", tuple(row.values())
        )
        self.log.append(["copy", table, key, columns])
        assert done.lastrowid is not None  # set by an INSERT
        return done.lastrowid


__all__ = ["TODAY", "CannotBuild", "Plant", "SiteView"]
