"""A restored world, a client that calls its APIs as an agent would, and a session for Python blocks on it."""

from __future__ import annotations

import datetime
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rebind.envs.apps.api import registry
from rebind.envs.apps.code import CodeSession
from rebind.envs.apps.state import Snapshots
from rebind.types import Call


class Client:
    """Calls APIs on a state; tokens are fetched and added by themselves."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self._tokens: dict[str, str] = {}

    def ok(self, tool: str, **args: Any) -> Any:
        """The result of a call that must succeed."""
        made = registry.call(self.db, tool, self._with_token(tool, args))
        assert made.ok, (tool, made.status, made.result)
        return made.result

    def refused(self, tool: str, **args: Any) -> tuple[int, str]:
        """Status and reason of a call that must be refused, and that must leave the state as it was."""
        full = self._with_token(tool, args)
        before = self.db.total_changes, self.db.serialize()
        made = registry.call(self.db, tool, full)
        assert not made.ok, (tool, made.result)
        assert self.db.total_changes == before[0] or self.db.serialize() == before[1]
        return made.status, made.result["error"]

    def every(self, tool: str, **args: Any) -> list[Any]:
        """The items of all pages."""
        first = self.ok(tool, **args, page_size=20)
        return first["items"] + [
            item
            for page in range(2, first["pages"] + 1)
            for item in self.ok(tool, **args, page_size=20, page=page)["items"]
        ]

    def rows(self, sql: str, *values: Any) -> list[Any]:
        return self.db.execute(sql, values).fetchall()

    def value(self, sql: str, *values: Any) -> Any:
        """First column of the first row."""
        return self.db.execute(sql, values).fetchone()[0]

    def _with_token(self, tool: str, args: dict[str, Any]) -> dict[str, Any]:
        one = registry.REGISTRY.get(tool)
        if one is None or not one.needs_token or "access_token" in args:
            return args
        if one.app not in self._tokens:
            self._tokens[one.app] = self.ok("supervisor_login", app=one.app)["access_token"]
        return args | {"access_token": self._tokens[one.app]}


@pytest.fixture(scope="session")
def worlds() -> Snapshots:
    """World images of this test run, none on disk."""
    return Snapshots()


@pytest.fixture
def db(worlds: Snapshots) -> Iterator[sqlite3.Connection]:
    """The world of seed 7, fresh for every test."""
    connection = worlds.restore(7)
    yield connection
    connection.close()


@pytest.fixture
def agent(db: sqlite3.Connection) -> Client:
    return Client(db)


class Session(CodeSession):
    """A session on a real state that remembers its calls."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.made: list[Call] = []

        def call(tool: str, args: dict[str, Any], /) -> Call:
            self.made.append(registry.call(db, tool, args))
            return self.made[-1]

        super().__init__(registry.REGISTRY, call, moment=datetime.datetime(2026, 3, 4, 12))


@pytest.fixture
def new_session(db: sqlite3.Connection) -> Iterator[Callable[[], Session]]:
    """Makes sessions on one state; they are closed at the end."""
    made: list[Session] = []

    def make() -> Session:
        made.append(Session(db))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def session(new_session: Callable[[], Session]) -> Session:
    return new_session()
