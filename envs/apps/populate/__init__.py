"""The populators of the app world.

Each module fills the tables of its app with `populate(db, rng)`. All randomness comes from `rng` (a `random.Random` of
its own for every module, derived from the world's seed), so a module's rows do not depend on what another draws.
Modules run in the order of `build.ORDER`, `people` first: profile, accounts, contacts and groups are there for all
others to read. Every date and time lies before noon of `profile.today`, except what is planned for later.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterable, Mapping

_SMALL = 100
"""Up to so many ids of a kind get four digits, more get five: any number taken at random is most likely no id."""


def ids(rng: random.Random, prefix: str, count: int) -> list[str]:
    """Distinct random ids, `prefix_1234`, that differ between world seeds. Prefixes: `api.common.PREFIXES`."""
    low, high = (1_000, 10_000) if count <= _SMALL else (10_000, 100_000)
    return [f"{prefix}_{number}" for number in rng.sample(range(low, high), count)]


def insert(db: sqlite3.Connection, table: str, rows: Iterable[Mapping[str, object]]) -> None:
    """Inserts rows given as column name to value; columns left out keep their defaults. All rows: the same columns."""
    rows = list(rows)
    if rows:
        columns = ", ".join(rows[0])
        marks = ", ".join(f":{name}" for name in rows[0])
        db.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows)


def chance(rng: random.Random, share: float) -> bool:
    """True with that probability."""
    return rng.random() < share
