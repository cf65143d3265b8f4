"""State difference, declared effects and evidence, on real worlds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rebind.envs.apps.api.registry import call
from rebind.envs.apps.families.difference import difference
from rebind.envs.apps.families.effects import Added, Changed, Effect, Part, Removed, has, paid, says, settle
from rebind.envs.apps.families.evidence import Evidence
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import CannotBuild, View
from rebind.envs.apps.state import snapshots
from rebind.types import Call

SEED = 1


class Episode:
    """Two restored copies of one world, the second to be acted on."""

    def __init__(self) -> None:
        self.before, self.after = snapshots().restore(SEED), snapshots().restore(SEED)
        self.calls: list[Call] = []

    def token(self, app: str) -> str:
        result = self.do("supervisor_login", app=app).result
        assert isinstance(result, dict)
        return str(result["access_token"])

    def do(self, tool: str, **args: object) -> Call:
        made = call(self.after, tool, args)
        self.calls.append(made)
        return made

    def settle(self, *effects: Effect) -> tuple[list[bool], tuple[str, ...]]:
        settled, collateral = settle(effects, difference(self.before, self.after))
        return [s.met for s in settled], collateral

    @property
    def evidence(self) -> Evidence:
        return Evidence(View(self.before), View(self.after), tuple(self.calls))


@pytest.fixture
def episode() -> Iterator[Episode]:
    made = Episode()
    yield made
    made.before.close()
    made.after.close()


def test_logging_in_and_declaring_the_task_done_are_no_changes(episode: Episode) -> None:
    episode.token("mail")
    episode.do("supervisor_complete_task")
    assert difference(episode.before, episode.after) == ()


def test_the_stamps_of_a_write_come_with_the_judged_column(episode: Episode) -> None:
    note = View(episode.before).column("SELECT id FROM notes ORDER BY id")[0]
    episode.do("notes_append", note_id=note, text="one more line", access_token=episode.token("notes"))
    assert episode.settle(Changed("notes", note, body=has("one more line"))) == ([True], ())


def test_an_added_record_takes_its_parts_and_leaves_the_rest_as_damage(episode: Episode) -> None:
    files = View(episode.before).column("SELECT id FROM files ORDER BY id")[:2]
    token = episode.token("mail")
    episode.do(
        "mail_send",
        to=["a@b.example"],
        subject="Plan",
        body="Hi, see the  PLAN.",
        attachments=files,
        access_token=token,
    )
    mail = Added("mails", recipients="a@b.example", body=has("see the plan"),
                 parts=(Part("mail_attachments", "mail_id", file_id=files[0]),))  # fmt: skip
    (met,), collateral = episode.settle(mail)
    assert met
    assert len(collateral) == 1
    assert "mail_attachments" in collateral[0]


def test_an_added_record_without_its_part_is_missing(episode: Episode) -> None:
    token = episode.token("mail")
    episode.do("mail_send", to=["a@b.example"], subject="Plan", body="Hi", access_token=token)
    mail = Added("mails", subject=says("plan"), parts=(Part("mail_attachments", "mail_id"),))
    (met,), collateral = episode.settle(mail)
    assert not met
    assert len(collateral) == 1


def test_the_same_record_twice_is_once_too_often(episode: Episode) -> None:
    token = episode.token("mail")
    for _ in range(2):
        episode.do("mail_send", to=["a@b.example"], subject="Plan", body="Hi", access_token=token)
    assert episode.settle(Added("mails", subject="Plan", times=2)) == ([True], ())
    (met,), collateral = episode.settle(Added("mails", subject="Plan"))
    assert met
    assert len(collateral) == 1


def test_a_column_beside_the_declared_ones_is_damage(episode: Episode) -> None:
    contact = View(episode.before).rows("SELECT id, company FROM contacts WHERE company != '' ORDER BY id")[0]
    token = episode.token("contacts")
    episode.do("contacts_update", contact_id=contact["id"], phone="+1 2", company="Elsewhere", access_token=token)
    (met,), collateral = episode.settle(Changed("contacts", contact["id"], phone="+1 2"))
    assert met
    assert "company" in collateral[0]
    assert "not expected: company" in collateral[0]


def test_a_change_to_the_wrong_value_is_missing_and_damage(episode: Episode) -> None:
    contact = View(episode.before).column("SELECT id FROM contacts ORDER BY id")[0]
    episode.do("contacts_update", contact_id=contact, phone="+1 2", access_token=episode.token("contacts"))
    (met,), collateral = episode.settle(Changed("contacts", contact, phone="+1 3"))
    assert not met
    assert len(collateral) == 1


def test_a_removed_record_is_declared_by_its_key(episode: Episode) -> None:
    note = View(episode.before).column("SELECT note_id FROM note_tags ORDER BY note_id")[0]
    tags = View(episode.before).column("SELECT tag FROM note_tags WHERE note_id = ?", note)
    episode.do("notes_delete", note_id=note, access_token=episode.token("notes"))
    effects = [Removed("notes", note), *(Removed("note_tags", (note, tag)) for tag in tags)]
    assert episode.settle(*effects) == ([True] * len(effects), ())


def test_payments_are_transactions_and_one_lower_balance(episode: Episode) -> None:
    view, token = View(episode.before), episode.token("bank")
    account = view.column("SELECT id FROM bank_accounts ORDER BY balance DESC")[0]
    payees = view.rows("SELECT id, name FROM payees ORDER BY id")[:2]
    for payee in payees:
        episode.do(
            "bank_transfer",
            account_id=account,
            payee_id=payee["id"],
            amount=150,
            reference="Tickets",
            access_token=token,
        )
    effects = paid(view, account, [(payee["name"], 150, "tickets") for payee in payees], "paid: paid")
    assert episode.settle(*effects) == ([True] * 3, ())


def test_only_what_a_reading_call_returned_was_seen(episode: Episode) -> None:
    mail, subject = View(episode.after).db.execute("SELECT id, subject FROM mails ORDER BY id LIMIT 1").fetchone()
    token = episode.token("mail")
    assert not episode.evidence.saw(mail)
    episode.do("mail_star", mail_id=mail, access_token=token)
    assert not episode.evidence.saw(mail)
    episode.do("mail_show", mail_id=mail, access_token=token)
    assert episode.evidence.saw(mail, subject)
    assert not episode.evidence.saw(mail[:-1])
    assert not episode.evidence.saw(token)


def test_a_refused_call_was_not_called(episode: Episode) -> None:
    episode.do("mail_show", mail_id="mail_0", access_token=episode.token("mail"))
    assert not episode.evidence.called("mail_show")
    assert episode.evidence.called("supervisor_login", app="mail")
    assert episode.evidence.called("supervisor_login", app=lambda app: app.startswith("m"))


def planted(recipe: str, **columns: object) -> str:
    db = snapshots().restore(SEED)
    identifier = Plant(db, recipe).add("mails", **columns)
    db.close()
    return identifier


def test_a_planted_id_follows_from_what_the_record_is_about() -> None:
    first = planted("1/2/x", sender="a@b.example", subject="Invoice 1")
    assert planted("1/2/x", sender="a@b.example", subject="Invoice 2") == first
    assert planted("1/2/x", sender="c@b.example", subject="Invoice 1") != first
    assert planted("1/3/x", sender="a@b.example", subject="Invoice 1") != first


def test_a_record_that_is_not_unique_cannot_be_named(episode: Episode) -> None:
    with pytest.raises(CannotBuild, match="instead of one"):
        View(episode.before).value("SELECT id FROM contacts")
    with pytest.raises(CannotBuild, match="0 rows"):
        View(episode.before).person("Nobody Atall")


def test_people_are_found_by_name_company_and_city(episode: Episode) -> None:
    view = View(episode.before)
    rows = view.rows("SELECT * FROM contacts WHERE company != '' ORDER BY id")
    for row in rows[:10]:
        for who, column in (
            (f"{row['first_name']} from {row['company']}", "company"),
            (f"{row['first_name']} in {row['city']}", "city"),
        ):
            same = [
                r
                for r in view.rows("SELECT * FROM contacts")
                if r["first_name"] == row["first_name"] and r[column] == row[column]
            ]
            if len(same) == 1:
                assert view.person(who)["id"] == row["id"]


def test_a_missing_column_in_an_effect_is_an_error_not_a_miss(episode: Episode) -> None:
    episode.do("notes_create", title="x", body="y", access_token=episode.token("notes"))
    with pytest.raises(KeyError):
        episode.settle(Added("notes", headline="x"))
