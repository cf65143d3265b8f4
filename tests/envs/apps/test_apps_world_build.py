"""The seeded generator: scale, plausible near duplicates, and the same bytes in any process."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys

import pytest

from rebind.envs.apps.api.common import PREFIXES
from rebind.envs.apps.populate.build import MAX_SEED, build
from rebind.envs.apps.state import Snapshots, connect

AT_LEAST = {
    "contacts": 60, "contact_groups": 8, "mails": 600, "mail_labels": 100, "mail_attachments": 20, "events": 250,
    "event_attendees": 250, "notes": 100, "files": 80, "chats": 20, "chat_messages": 300, "transactions": 300,
    "payees": 20, "products": 80, "orders": 30, "todos": 80, "songs": 100, "playlists": 5,
}  # fmt: skip


@pytest.mark.parametrize("seed", [0, 7])
def test_the_same_seed_gives_the_same_bytes_in_two_processes(seed: int) -> None:
    script = (
        "import hashlib, sys; from rebind.envs.apps.populate.build import build;"
        "print(hashlib.sha256(build(int(sys.argv[1]))).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", script, str(seed)],
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for hash_seed in ("1", "2")
    }
    assert digests == {hashlib.sha256(build(seed)).hexdigest()}


def test_a_world_has_thousands_of_linked_records(db) -> None:
    counts = {table: db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in AT_LEAST}
    assert {table: count for table, count in counts.items() if count < AT_LEAST[table]} == {}
    assert sum(counts.values()) > 3000
    assert db.execute("PRAGMA foreign_key_check").fetchall() == []
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize("seed", range(20, 26))
def test_people_are_easily_mistaken_for_one_another(worlds: Snapshots, seed: int) -> None:
    db = worlds.restore(seed)
    shared = "SELECT count(*) FROM (SELECT 1 FROM contacts GROUP BY {} HAVING count(*) > 1)"
    one = {
        "first names shared": shared.format("first_name"),
        "last names shared": shared.format("last_name"),
        "full names shared": shared.format("first_name, last_name"),
        "moved": "SELECT count(*) FROM contacts WHERE previous_street IS NOT NULL",
        "comments": "SELECT count(*) FROM contacts WHERE comment <> ''",
    }
    counts = {name: db.execute(query).fetchone()[0] for name, query in one.items()}
    least = {"first names shared": 10, "last names shared": 10, "full names shared": 3, "moved": 20, "comments": 10}
    assert all(counts[name] >= least[name] for name in least), counts
    assert db.execute("SELECT count(DISTINCT email) = count(*) FROM contacts").fetchone()[0]
    db.close()


def test_mail_subjects_and_event_titles_nearly_repeat(agent) -> None:
    repeated = "SELECT count(*) FROM (SELECT 1 FROM {} GROUP BY {} HAVING count(*) > 1)"
    assert agent.value(repeated.format("mails", "subject")) > 20
    assert agent.value(repeated.format("events", "title")) > 15
    assert agent.value("SELECT count(*) FROM events WHERE title LIKE '%(new date)' OR title LIKE '%(follow-up)'") > 0


def test_every_thread_hangs_together(agent) -> None:
    rows = agent.rows(
        "SELECT a.subject, b.subject, a.sent_at > b.sent_at, a.recipients = b.sender"
        " FROM mails a JOIN mails b ON b.id = a.reply_to"
    )
    assert len(rows) > 100
    assert all(answer == f"Re: {first.removeprefix('Re: ')}" and later and back for answer, first, later, back in rows)


def test_no_text_of_the_world_has_an_unfilled_slot(agent) -> None:
    for table, columns in (("mails", ("subject", "body")), ("events", ("title", "description")), ("notes", ("body",))):
        for column in columns:
            assert agent.rows(f"SELECT {column} FROM {table} WHERE {column} GLOB '*[{{}}]*'") == []


def test_the_past_lies_before_noon_of_the_worlds_date(agent) -> None:
    today = agent.ok("supervisor_profile")["today"]
    for table, column in (("mails", "sent_at"), ("chat_messages", "sent_at"), ("notes", "updated_at")):
        assert agent.value(f"SELECT max({column}) FROM {table}") <= f"{today}T12:00"
    assert agent.value("SELECT max(booked_on) FROM transactions") <= today
    assert agent.value("SELECT max(start_at) FROM events") > today


def test_ids_have_their_tables_prefix_and_hardly_occur_in_another_world(worlds: Snapshots) -> None:
    one, other = worlds.restore(7), worlds.restore(8)
    for table, prefix in PREFIXES.items():
        ids, others = ({row[0] for row in db.execute(f"SELECT id FROM {table}")} for db in (one, other))
        assert all(re.fullmatch(rf"{prefix}_\d{{3,5}}", key) for key in ids), table
        assert len(ids & others) <= max(1, len(ids) // 25), table
    assert dict(one.execute("SELECT * FROM profile")) != dict(other.execute("SELECT * FROM profile"))


def test_a_seed_beyond_what_json_carries_is_refused() -> None:
    connect(build(MAX_SEED)).close()
    for seed in (-1, MAX_SEED + 1):
        with pytest.raises(ValueError, match="seed must be between"):
            build(seed)
