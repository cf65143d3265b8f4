"""The mail APIs."""

from __future__ import annotations

import pytest


def inbox_mail(agent) -> str:
    """A mail of a contact, not yet labelled, in the inbox."""
    return agent.value(
        "SELECT id FROM mails WHERE folder = 'inbox' AND sender IN (SELECT email FROM contacts)"
        " AND id NOT IN (SELECT mail_id FROM mail_labels) ORDER BY rowid LIMIT 1"
    )


def test_search_is_newest_first_and_leaves_the_trash_out(agent) -> None:
    found = agent.every("mail_search")
    times = [one["sent_at"] for one in found]
    assert times == sorted(times, reverse=True)
    assert len(found) == agent.value("SELECT count(*) FROM mails WHERE folder <> 'trash'")
    trashed = agent.every("mail_search", folder="trash")
    assert len(trashed) == agent.value("SELECT count(*) FROM mails WHERE folder = 'trash'") > 0


def test_search_combines_words_sender_label_dates_and_unread(agent) -> None:
    invoices = agent.every("mail_search", query="INVOICE amount")
    assert invoices
    for one in invoices:
        text = "".join(str(part) for part in agent.ok("mail_show", mail_id=one["mail_id"]).values()).casefold()
        assert "invoice" in text
        assert "amount" in text
    one = invoices[0]
    day = one["sent_at"][:10]
    narrowed = agent.every("mail_search", query="invoice", sender=one["sender"][:6].upper(), since=day, until=day)
    assert one["mail_id"] in [found["mail_id"] for found in narrowed]
    assert all(found["read"] is False for found in agent.every("mail_search", unread=True))
    labelled = agent.every("mail_search", label="invoices")
    assert 0 < len(labelled) <= agent.value("SELECT count(*) FROM mail_labels WHERE label = 'invoices'")


def test_an_unknown_label_or_a_bad_date_is_a_422(agent) -> None:
    assert "did you mean 'invoices'?" in agent.refused("mail_search", label="invoice")[1]
    assert agent.refused("mail_search", since="yesterday")[0] == 422


def test_showing_a_mail_does_not_mark_it_read(agent) -> None:
    key = agent.ok("mail_search", unread=True)["items"][0]["mail_id"]
    assert agent.ok("mail_show", mail_id=key)["read"] is False
    assert agent.ok("mail_show", mail_id=key)["read"] is False
    agent.ok("mail_mark_read", mail_id=key)
    assert agent.ok("mail_show", mail_id=key)["read"] is True


def test_a_sent_mail_stands_in_sent_with_its_attachments(agent) -> None:
    file_id, path = agent.rows("SELECT id, path FROM files LIMIT 1")[0]
    to = ["a@b.example", "c@d.example", "a@b.example"]
    key = agent.ok("mail_send", to=to, subject="Plan", body="See file.", attachments=[file_id])["mail_id"]
    shown = agent.ok("mail_show", mail_id=key)
    assert shown["recipients"] == "a@b.example, c@d.example"
    assert (shown["folder"], shown["read"], shown["attachments"]) == ("sent", True, [file_id])
    assert shown["sender"] == agent.ok("supervisor_profile")["email"]
    assert agent.ok("mail_list_attachments", mail_id=key)[0]["path"] == path
    assert agent.ok("mail_search")["items"][0]["mail_id"] == key


@pytest.mark.parametrize(
    ("change", "status", "reason"),
    [
        ({"to": []}, 422, "at least one"),
        ({"to": ["anna"]}, 422, "to must be an e-mail address"),
        ({"subject": ""}, 422, "subject must not be empty"),
        ({"attachments": ["file_1"]}, 404, "no file with id 'file_1'"),
    ],
)
def test_a_mail_that_cannot_be_sent_is_refused(agent, change: dict, status: int, reason: str) -> None:
    said = agent.refused("mail_send", **{"to": ["a@b.example"], "subject": "s", "body": "b"} | change)
    assert said[0] == status
    assert reason in said[1]


def test_a_reply_goes_to_the_sender_and_keeps_the_thread(agent) -> None:
    key = inbox_mail(agent)
    original = agent.ok("mail_show", mail_id=key)
    answer = agent.ok("mail_show", mail_id=agent.ok("mail_reply", mail_id=key, body="Yes.")["mail_id"])
    assert (answer["recipients"], answer["reply_to"]) == (original["sender"], key)
    assert answer["subject"] == f"Re: {original['subject'].removeprefix('Re: ')}"
    second = agent.ok("mail_show", mail_id=agent.ok("mail_reply", mail_id=answer["mail_id"], body="P.S.")["mail_id"])
    assert (second["recipients"], second["subject"]) == (original["sender"], answer["subject"])


def test_a_forward_quotes_the_original_and_takes_its_attachments_along(agent) -> None:
    key = agent.value("SELECT a.mail_id FROM mail_attachments a JOIN mails m ON m.id = a.mail_id LIMIT 1")
    original = agent.ok("mail_show", mail_id=key)
    made = agent.ok("mail_forward", mail_id=key, to=["x@y.example"], comment="FYI")
    sent = agent.ok("mail_show", mail_id=made["mail_id"])
    assert sent["body"].startswith("FYI\n\n---")
    assert original["body"] in sent["body"]
    assert (sent["attachments"], sent["forwarded_from"]) == (original["attachments"], key)


def test_a_draft_is_sent_once_and_is_no_mail_before(agent) -> None:
    key = agent.ok("mail_save_draft", to=["a@b.example"], subject="Plan", body="…")["mail_id"]
    assert agent.refused("mail_reply", mail_id=key, body="x")[0] == 422
    assert agent.refused("mail_move", mail_id=key, folder="archive")[0] == 422
    assert agent.ok("mail_send_draft", mail_id=key) == {"mail_id": key, "folder": "sent"}
    assert agent.refused("mail_send_draft", mail_id=key) == (422, f"{key} is no draft: it is in sent")


def test_moving_deleting_starring_and_labelling(agent) -> None:
    key = inbox_mail(agent)
    agent.ok("mail_move", mail_id=key, folder="archive")
    assert agent.refused("mail_move", mail_id=key, folder="archive")[0] == 422
    agent.ok("mail_star", mail_id=key)
    agent.ok("mail_add_label", mail_id=key, label="taxes")
    assert agent.refused("mail_add_label", mail_id=key, label="taxes")[0] == 422
    shown = agent.ok("mail_show", mail_id=key)
    assert (shown["folder"], shown["starred"], shown["labels"]) == ("archive", True, ["taxes"])
    agent.ok("mail_remove_label", mail_id=key, label="taxes")
    assert agent.refused("mail_remove_label", mail_id=key, label="taxes")[0] == 404
    assert agent.ok("mail_delete", mail_id=key)["folder"] == "trash"
    assert agent.refused("mail_delete", mail_id=key)[0] == 422
