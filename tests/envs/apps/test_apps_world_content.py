"""What the populators of notes, files, chat, bank, shop, todo and music write: scale, consistency, wrong-but-plausible
records. Each test looks at several worlds."""

from __future__ import annotations

import datetime
import itertools
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

from rebind.envs.apps.iban import is_iban
from rebind.envs.apps.state import Snapshots

SCALE = {
    "notes": 120, "files": 150, "chats": 35, "chat_messages": 700, "bank_accounts": 3, "payees": 30,
    "transactions": 500, "standing_orders": 8, "payment_requests": 20, "products": 200, "orders": 40, "coupons": 10,
    "reviews": 150, "addresses": 3, "wishlist": 5, "todo_lists": 6, "todos": 120, "songs": 250, "playlists": 10,
}  # fmt: skip
APPS_TABLES = (*SCALE, "note_tags", "chat_members", "order_items", "playlist_songs")


@pytest.fixture(params=[0, 7, 31, 4096])
def world(request: pytest.FixtureRequest, worlds: Snapshots) -> Iterator[sqlite3.Connection]:
    connection = worlds.restore(request.param)
    yield connection
    connection.close()


def value(world: sqlite3.Connection, sql: str, *values: Any) -> Any:
    return world.execute(sql, values).fetchone()[0]


def today(world: sqlite3.Connection) -> str:
    return value(world, "SELECT value FROM profile WHERE key = 'today'")


def repeated(world: sqlite3.Connection, table: str, columns: str) -> int:
    """How many values of the columns occur more than once."""
    return value(world, f"SELECT count(*) FROM (SELECT 1 FROM {table} GROUP BY {columns} HAVING count(*) > 1)")


def test_every_table_has_the_scale_of_a_lived_in_world(world: sqlite3.Connection) -> None:
    counts = {table: value(world, f"SELECT count(*) FROM {table}") for table in SCALE}
    assert {table: count for table, count in counts.items() if count < SCALE[table]} == {}
    assert world.execute("PRAGMA foreign_key_check").fetchall() == []


def test_no_text_has_an_unfilled_slot_or_is_blank_where_it_must_not_be(world: sqlite3.Connection) -> None:
    for table in APPS_TABLES:
        for _, name, kind, *_ in world.execute(f"PRAGMA table_info({table})").fetchall():
            if kind == "TEXT":
                assert value(world, f"SELECT count(*) FROM {table} WHERE {name} GLOB '*[{{}}]*'") == 0, (table, name)
    for table, name in (
        ("notes", "title"), ("notes", "body"), ("files", "content"), ("chat_messages", "body"), ("chats", "title"),
        ("transactions", "reference"), ("products", "description"), ("reviews", "body"), ("todos", "title"),
        ("songs", "album"),
    ):  # fmt: skip
        assert value(world, f"SELECT count(*) FROM {table} WHERE trim({name}) = ''") == 0, (table, name)


def test_what_happened_lies_before_noon_of_the_worlds_date(world: sqlite3.Connection) -> None:
    for table, column in (
        ("notes", "created_at"), ("notes", "updated_at"), ("files", "modified_at"), ("chat_messages", "sent_at"),
    ):  # fmt: skip
        assert value(world, f"SELECT max({column}) FROM {table}") <= f"{today(world)}T12:00", table
        assert value(world, f"SELECT min(length({column})) FROM {table}") == len("2026-03-14T09:30")
    for table, column in (
        ("transactions", "booked_on"), ("payment_requests", "created_on"), ("orders", "placed_on"),
        ("reviews", "written_on"), ("wishlist", "added_on"),
    ):  # fmt: skip
        assert value(world, f"SELECT max({column}) FROM {table}") < today(world), table
    assert value(world, "SELECT count(*) FROM notes WHERE updated_at < created_at") == 0


def test_notes_have_near_duplicates_with_other_text(world: sqlite3.Connection) -> None:
    assert repeated(world, "notes", "title") >= 5
    assert repeated(world, "notes", "title, body") == 0
    pairs = "SELECT count(*) FROM notes a JOIN notes b ON b.title = a.title || ' (old)' WHERE a.body <> b.body"
    copies = sum(value(world, pairs.replace("old", end)) for end in ("old", "copy", "draft", "new"))
    assert copies >= 8
    assert value(world, "SELECT count(DISTINCT notebook) FROM notes") >= 5
    assert 0 < value(world, "SELECT sum(archived) FROM notes") < 60


def test_files_form_a_tree_with_right_sizes_and_real_readers(world: sqlite3.Connection) -> None:
    rows = world.execute("SELECT path, content, size, shared_with FROM files").fetchall()
    paths = {path for path, *_ in rows}
    folders = {path.rsplit("/", depth)[0] for path in paths for depth in range(1, path.count("/"))}
    assert not paths & folders
    assert len({path.split("/")[1] for path in paths}) >= 4
    known = {row[0] for row in world.execute("SELECT email FROM contacts")}
    for path, content, size, shared in rows:
        assert re.fullmatch(r"(/[a-z0-9-]+)+\.(txt|csv)", path)
        assert size == len(content.encode())
        assert set(filter(None, shared.split(", "))) <= known
    names = [path.rsplit("/", 1)[1] for path in paths]
    assert len(names) - len(set(names)) >= 20
    assert sum(path.endswith(("-v1.txt", "-v2.txt", "-final.txt")) for path in paths) >= 15


def test_the_totals_of_invoices_add_up(world: sqlite3.Connection) -> None:
    def cents(text: str) -> int:
        return round(float(text.rsplit(": ", 1)[1].removesuffix(" EUR")) * 100)

    contents = world.execute("SELECT content FROM files WHERE path LIKE '/work/invoices/%'")
    invoices = [content.split("\n") for (content,) in contents]
    assert len(invoices) >= 40
    for lines in invoices:
        net = next(index for index, line in enumerate(lines) if line.startswith("Net: "))
        assert cents(lines[net]) == sum(cents(line) for line in lines[5:net])
        assert cents(lines[net + 1]) == cents(lines[net]) * 119 // 100
    assert {lines[-1] for lines in invoices} >= {"Status: open", "Status: paid"}


def test_csv_files_have_as_many_cells_in_every_row(world: sqlite3.Connection) -> None:
    tables = [row[0] for row in world.execute("SELECT content FROM files WHERE path LIKE '%.csv'")]
    assert len(tables) >= 30
    assert all(len({line.count(",") for line in table.split("\n")}) == 1 for table in tables)


def test_chats_have_the_members_their_messages_come_from(world: sqlite3.Connection) -> None:
    members = defaultdict(set)
    for chat, contact in world.execute("SELECT * FROM chat_members"):
        members[chat].add(contact)
    for chat, sender in world.execute("SELECT DISTINCT chat_id, sender FROM chat_messages"):
        assert sender == "me" or sender in members[chat]
    for chat, title, kind in world.execute("SELECT id, title, kind FROM chats").fetchall():
        assert (len(members[chat]) == 1) == (kind == "direct")
        if kind == "direct":
            (contact,) = members[chat]
            name = "SELECT first_name || ' ' || last_name FROM contacts WHERE id = ?"
            assert title == value(world, name, contact)
    assert repeated(world, "chat_members JOIN chats ON id = chat_id WHERE kind = 'direct'", "contact_id") == 0
    assert value(world, "SELECT count(*) FROM chats WHERE kind = 'group'") >= 8
    assert value(world, "SELECT count(*) FROM chat_messages WHERE NOT read AND sender = 'me'") == 0
    assert value(world, "SELECT count(*) FROM chat_messages WHERE NOT read") > 0


def test_accounts_never_fell_below_zero_and_hold_plausible_sums(world: sqlite3.Connection) -> None:
    assert world.execute("SELECT kind FROM bank_accounts ORDER BY kind").fetchall() == [
        ("checking",),
        ("joint",),
        ("savings",),
    ]
    for account, balance in world.execute("SELECT id, balance FROM bank_accounts").fetchall():
        amounts = world.execute(
            "SELECT amount FROM transactions WHERE account_id = ? ORDER BY booked_on DESC, rowid DESC", (account,)
        ).fetchall()
        assert 20_000 < balance < 2_500_000
        after = itertools.accumulate((-amount for (amount,) in amounts), initial=balance)
        assert min(after) >= 0


def test_money_moved_between_own_accounts_is_booked_on_both(world: sqlite3.Connection) -> None:
    names = "SELECT name FROM bank_accounts"
    moved = f"SELECT booked_on, abs(amount), count(*), sum(amount) FROM transactions WHERE counterparty IN ({names})"
    rows = world.execute(f"{moved} GROUP BY booked_on, abs(amount)").fetchall()
    assert len(rows) >= 20
    assert all(count % 2 == 0 and total == 0 for _, _, count, total in rows)


def test_payees_have_distinct_valid_ibans_and_confusable_names(world: sqlite3.Connection) -> None:
    rows = world.execute("SELECT name, iban, contact_id FROM payees").fetchall()
    assert all(is_iban(iban) for _, iban, _ in rows)
    assert len({iban for _, iban, _ in rows}) == len(rows)
    firsts = [name.split()[0] for name, _, contact in rows if contact]
    assert len(firsts) - len(set(firsts)) >= 5
    for name, _, contact in rows:
        if contact:
            full = "SELECT first_name || ' ' || last_name FROM contacts WHERE id = ?"
            assert name.removesuffix(" (old account)") == value(world, full, contact)
    assert sum(name.endswith(" (old account)") for name, *_ in rows) >= 3


def test_active_standing_orders_were_booked_last_month_and_stopped_ones_not(world: sqlite3.Connection) -> None:
    last_month = (datetime.date.fromisoformat(today(world)) - datetime.timedelta(days=32)).isoformat()
    orders = world.execute("SELECT account_id, name, amount, reference, day_of_month, active FROM standing_orders"
                           " JOIN payees p ON p.id = payee_id").fetchall()  # fmt: skip
    for account, name, amount, reference, day, active in orders:
        booked = world.execute(
            "SELECT booked_on FROM transactions"
            " WHERE account_id = ? AND counterparty = ? AND amount = ? AND reference = ?",
            (account, name, -amount, reference),
        ).fetchall()
        assert {int(date[-2:]) for (date,) in booked} == {day}
        assert (max(booked)[0] >= last_month) == bool(active)
    assert {active for *_, active in orders} == {0, 1}


def test_requests_go_both_ways_and_paid_ones_are_booked(world: sqlite3.Connection) -> None:
    kinds = world.execute("SELECT direction, status, count(*) FROM payment_requests GROUP BY 1, 2").fetchall()
    assert {(direction, status) for direction, status, _ in kinds} == {
        (direction, status)
        for direction in ("incoming", "outgoing")
        for status in ("open", "paid", "declined", "cancelled")
    }
    paid = world.execute(
        "SELECT first_name || ' ' || last_name, reason, iif(direction = 'incoming', -amount, amount), created_on"
        " FROM payment_requests r JOIN contacts c ON c.id = contact_id WHERE status = 'paid'"
    ).fetchall()
    for booking in paid:
        found = "WHERE counterparty = ? AND reference = ? AND amount = ? AND booked_on >= ?"
        assert value(world, f"SELECT count(*) FROM transactions {found}", *booking) == 1


def test_products_are_easily_mistaken_for_one_another(world: sqlite3.Connection) -> None:
    assert value(world, "SELECT count(DISTINCT category) FROM products") >= 8
    same_name = "SELECT count(*) FROM (SELECT name FROM products GROUP BY name HAVING count(DISTINCT brand) > 1)"
    assert value(world, same_name) >= 40
    assert repeated(world, "products", "name, brand") == 0
    assert 10 < value(world, "SELECT count(*) FROM products WHERE stock = 0") < 70
    absurd = "stock < 0 OR price < 100 OR rating NOT BETWEEN 1 AND 5"
    assert value(world, f"SELECT count(*) FROM products WHERE {absurd}") == 0


def test_orders_come_in_all_states_and_their_totals_follow_from_items_and_coupon(world: sqlite3.Connection) -> None:
    states = dict(world.execute("SELECT status, count(*) FROM orders GROUP BY status"))
    assert set(states) == {"placed", "shipped", "delivered", "cancelled", "return-requested"}
    assert min(states.values()) >= 3
    terms = "SELECT code, percent, category, min_total, expires_on FROM coupons"
    coupons = {code: rest for code, *rest in world.execute(terms)}
    for order, day, total, code in world.execute("SELECT id, placed_on, total, coupon FROM orders").fetchall():
        items = world.execute(
            "SELECT category, quantity * unit_price FROM order_items JOIN products ON id = product_id"
            " WHERE order_id = ?",
            (order,),
        ).fetchall()
        full = sum(price for _, price in items)
        percent, category, least, expires = coupons[code] if code else (0, None, 0, "9999")
        assert full >= least
        assert day <= expires
        assert total == full - sum(price for kind, price in items if category in (None, kind)) * percent // 100
    assert value(world, "SELECT count(*) FROM orders WHERE coupon IS NOT NULL") >= 3


def test_coupons_are_valid_or_expired_and_the_default_address_is_the_persons(world: sqlite3.Connection) -> None:
    expired = value(world, "SELECT count(*) FROM coupons WHERE expires_on < ?", today(world))
    assert 4 <= expired <= value(world, "SELECT count(*) FROM coupons") - 4
    profile = dict(world.execute("SELECT key, value FROM profile"))
    assert world.execute("SELECT street, city FROM addresses WHERE is_default").fetchall() == [
        (profile["address"], profile["city"])
    ]


def test_the_persons_own_reviews_are_of_products_they_got(world: sqlite3.Connection) -> None:
    own = world.execute(
        "SELECT product_id, written_on FROM reviews WHERE author = (SELECT value FROM profile WHERE key = 'name')"
    ).fetchall()
    assert len(own) >= 3
    for product, written in own:
        ordered = value(
            world,
            "SELECT min(placed_on) FROM orders JOIN order_items ON order_id = id"
            " WHERE product_id = ? AND status = 'delivered'",
            product,
        )
        assert ordered < written


def test_tasks_are_open_overdue_done_undated_assigned_and_alike(world: sqlite3.Connection) -> None:
    kinds = ("NOT done", "done", "due_on IS NULL", "assignee IS NOT NULL", "comment <> ''", "priority = 'high'")
    for condition in kinds:
        assert value(world, f"SELECT count(*) FROM todos WHERE {condition}") >= 15, condition
    assert value(world, "SELECT count(*) FROM todos WHERE NOT done AND due_on < ?", today(world)) >= 8
    assert value(world, "SELECT count(*) FROM todos WHERE NOT done AND due_on > ?", today(world)) >= 20
    assert value(world, "SELECT count(*) FROM todos WHERE assignee NOT IN (SELECT id FROM contacts)") == 0
    alike = "SELECT count(*) FROM todos a JOIN todos b ON a.list_id = b.list_id AND b.title LIKE a.title || ' %'"
    assert value(world, alike) >= 10
    assert repeated(world, "todos", "list_id, title") == 0


def test_songs_have_covers_and_versions_and_playlists_their_own_order(world: sqlite3.Connection) -> None:
    covers = "SELECT count(*) FROM (SELECT 1 FROM songs GROUP BY title HAVING count(DISTINCT artist) > 1)"
    assert value(world, covers) >= 12
    assert value(world, "SELECT count(*) FROM songs a JOIN songs b ON b.title LIKE a.title || ' (%'") >= 10
    assert value(world, "SELECT count(DISTINCT plays) = count(*) FROM songs") == 1
    assert value(world, "SELECT max(year) FROM songs") <= int(today(world)[:4])
    for (playlist,) in world.execute("SELECT id FROM playlists").fetchall():
        rows = world.execute("SELECT position FROM playlist_songs WHERE playlist_id = ? ORDER BY 1", (playlist,))
        positions = [position for (position,) in rows]
        assert positions == list(range(1, len(positions) + 1)) != []
