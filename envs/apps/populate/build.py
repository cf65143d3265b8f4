"""Builds a world: the schema, then every populator, then one image."""

from __future__ import annotations

import random
import sqlite3
from importlib import import_module
from pathlib import Path

ORDER = (
    "people", "files", "notes", "calendar", "chat", "bank", "shop", "todo", "music", "mail",
)  # fmt: skip
"""Populators in the order they run: each may read what those before it wrote. Mail comes last: it tells of the rest."""
MAX_SEED = 2**53 - 1
"""Seeds travel through JSON (RFC 8785)."""


def build(seed: int) -> bytes:
    """The serialised SQLite image of the world with that seed: the same bytes in any process.

    Raises ValueError where the seed is negative or too large, or where a populator left a dangling reference.
    """
    if not 0 <= seed <= MAX_SEED:
        raise ValueError(f"a world's seed must be between 0 and 2**53 - 1, not {seed}")
    db = sqlite3.connect(":memory:")
    db.executescript((Path(__file__).parent.parent / "schema.sql").read_text(encoding="utf-8"))
    db.execute("INSERT INTO internals VALUES ('seed', ?)", (seed,))
    for name in ORDER:
        module = import_module(f"rebind.envs.apps.populate.{name}")
        module.populate(db, random.Random(f"{seed}/{name}"))
    dangling = db.execute("PRAGMA foreign_key_check").fetchall()
    if dangling:
        raise ValueError(f"world {seed} has dangling references, the first: {dangling[0]}")
    db.commit()
    return db.serialize()
