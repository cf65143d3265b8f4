"""What differs between two states of the sites, less what is an inherent side effect of looking around.

What never counts as an effect or as collateral damage is defined here, once: `UNJUDGED` and `VOLATILE`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rebind.envs.apps.families.difference import Change

UNJUDGED = (
    "django_session", "django_admin_log", "django_migrations", "sqlite_", "analytics_", "thumbnail_kvstore",
    "forum_tracking_", "basket_", "helpdesk_usersettings", "communication_", "django_content_type", "auth_permission",
    "forum_member_", "django_nyt_", "wiki_articlesubscription", "notifications_",
)  # fmt: skip
"""Tables that are not judged, by the beginnings of their names: sessions, counters of visits, drafts (baskets),
mail, bookkeeping of Django."""

VOLATILE: dict[str, frozenset[str]] = {
    "auth_user": frozenset({"last_login"}),
    "forum_conversation_topic": frozenset(
        {"views_count", "updated", "created", "posts_count", "last_post_id", "last_post_on", "first_post_id", "slug"}
    ),
    "forum_conversation_post": frozenset({"updated", "created", "updates_count", "updated_by_id", "_content_rendered"}),
    "forum_forum": frozenset(
        {
            "updated",
            "direct_posts_count",
            "direct_topics_count",
            "last_post_id",
            "last_post_on",
            "tree_id",
            "lft",
            "rght",
        }
    ),
    "catalogue_product": frozenset(
        {"date_updated", "date_created", "slug", "rating", "meta_title", "meta_description"}
    ),
    "catalogue_category": frozenset({"numchild", "path"}),
    "partner_stockrecord": frozenset({"date_updated", "date_created", "num_allocated"}),
    "helpdesk_ticket": frozenset({"modified", "created", "secret_key", "last_escalation"}),
    "helpdesk_kbitem": frozenset({"last_updated"}),
    "wiki_article": frozenset({"modified", "created", "current_revision_id"}),
    "wiki_urlpath": frozenset({"lft", "rght", "tree_id"}),
    "address_useraddress": frozenset({"hash", "date_created", "search_text", "num_orders_as_shipping_address",
                                      "num_orders_as_billing_address"}),
    "order_order": frozenset({"date_placed", "basket_id"}),
}  # fmt: skip
"""Columns whose values say nothing about what was asked for, by table: stamps, counters, forms of the same text."""


def judged_tables(db: sqlite3.Connection) -> list[str]:
    names = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]
    return [name for name in names if not name.startswith(UNJUDGED)]


def columns(db: sqlite3.Connection, table: str) -> tuple[list[str], str]:
    """The columns of a table that count, and the name of its key."""
    info = db.execute("SELECT name, pk FROM pragma_table_info(?) ORDER BY cid", (table,)).fetchall()
    key = next(name for name, pk in info if pk)
    out = VOLATILE.get(table, frozenset())
    return [name for name, _ in info if name not in out], key


def content(db: sqlite3.Connection) -> dict[str, list[Any]]:
    """All rows of all judged tables, without the columns that do not count."""
    found = {}
    for table in judged_tables(db):
        names, key = columns(db, table)
        found[table] = db.execute(f"SELECT {_listed(names)} FROM {table} ORDER BY {key}").fetchall()
    return found


def difference(before: Path, after: Path) -> tuple[Change, ...]:
    """The changes that count, in order of table and key."""
    db = sqlite3.connect(after)
    try:
        db.execute("PRAGMA query_only = 1")
        db.execute("ATTACH DATABASE ? AS old", (str(before),))
        found: list[Change] = []
        for table in judged_tables(db):
            found += _changes(db, table)
        return tuple(found)
    finally:
        db.close()


def _changes(db: sqlite3.Connection, table: str) -> Iterable[Change]:
    names, key = columns(db, table)
    listed, place = _listed(names), names.index(key)
    one = f"SELECT {listed} FROM main.{table} EXCEPT SELECT {listed} FROM old.{table}"
    two = f"SELECT {listed} FROM old.{table} EXCEPT SELECT {listed} FROM main.{table}"
    new = {row[place]: dict(zip(names, row, strict=True)) for row in db.execute(one)}
    old = {row[place]: dict(zip(names, row, strict=True)) for row in db.execute(two)}
    for value in sorted(new.keys() | old.keys(), key=str):
        yield Change(table, (value,), old.get(value), new.get(value))


def _listed(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
