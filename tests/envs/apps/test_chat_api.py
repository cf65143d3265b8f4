"""The APIs of the chat app."""

from __future__ import annotations

import pytest


@pytest.fixture
def strangers(agent) -> list[str]:
    """Contacts without a direct chat."""
    talked = "SELECT contact_id FROM chat_members JOIN chats ON id = chat_id WHERE kind = 'direct'"
    return [row[0] for row in agent.rows(f"SELECT id FROM contacts WHERE id NOT IN ({talked}) ORDER BY id LIMIT 4")]


@pytest.fixture
def group(agent) -> str:
    return agent.value("SELECT id FROM chats WHERE kind = 'group' ORDER BY id LIMIT 1")


@pytest.fixture
def direct(agent) -> str:
    return agent.value("SELECT id FROM chats WHERE kind = 'direct' ORDER BY id LIMIT 1")


def test_list_chats_finds_by_title_or_members_name_latest_message_first(agent, group: str) -> None:
    first, last = agent.rows(
        "SELECT first_name, last_name FROM contacts JOIN chat_members ON contact_id = id WHERE chat_id = ?", group
    )[0]
    found = agent.every("chat_list_chats", query=f"{last} {first}")
    assert group in [one["chat_id"] for one in found]
    everything = agent.every("chat_list_chats")
    stamps = [one["last_message_at"] for one in everything]
    assert stamps == sorted(stamps, reverse=True)
    assert {one["kind"] for one in agent.every("chat_list_chats", kind="group")} == {"group"}
    unread = agent.value("SELECT count(*) FROM chat_messages WHERE NOT read")
    assert sum(one["unread"] for one in everything) == unread > 0


def test_show_chat_names_the_members_and_counts_the_messages(agent, group: str) -> None:
    shown = agent.ok("chat_show_chat", chat_id=group)
    assert len(shown["members"]) == agent.value("SELECT count(*) FROM chat_members WHERE chat_id = ?", group)
    assert shown["messages"] == agent.value("SELECT count(*) FROM chat_messages WHERE chat_id = ?", group)
    one = shown["members"][0]
    name = "SELECT first_name || ' ' || last_name FROM contacts WHERE id = ?"
    assert one["name"] == agent.value(name, one["contact_id"])


def test_messages_are_newest_first_searchable_and_stay_unread(agent) -> None:
    chat = agent.value("SELECT chat_id FROM chat_messages WHERE NOT read LIMIT 1")
    agent.ok("chat_show_chat", chat_id=chat)
    before = agent.db.total_changes
    found = agent.every("chat_messages", chat_id=chat)
    stamps = [one["sent_at"] for one in found]
    assert stamps == sorted(stamps, reverse=True)
    assert {one["sender_name"] for one in found if one["sender"] == "me"} <= {"me"}
    word = found[0]["body"].split()[0]
    assert found[0] in agent.every("chat_messages", chat_id=chat, query=word.upper())
    assert agent.db.total_changes == before


def test_send_appends_an_own_message(agent, group: str) -> None:
    sent = agent.ok("chat_send", chat_id=group, body="On my way")
    newest = agent.ok("chat_messages", chat_id=group)["items"][0]
    assert (newest["message_id"], newest["sender"], newest["body"]) == (sent["message_id"], "me", "On my way")
    assert agent.refused("chat_send", chat_id=group, body=" ") == (422, "body must not be empty")


def test_start_with_one_contact_is_direct_and_only_once(agent, strangers: list[str]) -> None:
    chat = agent.ok("chat_start", contact_ids=strangers[:1])["chat_id"]
    name = agent.value("SELECT first_name || ' ' || last_name FROM contacts WHERE id = ?", strangers[0])
    shown = agent.ok("chat_show_chat", chat_id=chat)
    assert (shown["kind"], shown["title"], shown["messages"]) == ("direct", name, 0)
    assert agent.refused("chat_start", contact_ids=strangers[:1]) == (
        422,
        f"there is a direct chat with {name} already: {chat}",
    )
    assert agent.refused("chat_start", contact_ids=strangers[1:2], title="Secret")[0] == 422


def test_start_with_several_contacts_is_a_group_that_needs_a_title(agent, strangers: list[str]) -> None:
    assert agent.refused("chat_start", contact_ids=strangers)[1] == "title of a group must not be empty"
    assert agent.refused("chat_start", contact_ids=[])[0] == 422
    assert agent.refused("chat_start", contact_ids=[strangers[0], "con_1"], title="x")[0] == 404
    chat = agent.ok("chat_start", contact_ids=[*strangers, strangers[0]], title="Boat trip")["chat_id"]
    assert {one["contact_id"] for one in agent.ok("chat_show_chat", chat_id=chat)["members"]} == set(strangers)


def test_react_replaces_a_reaction_and_none_takes_it_back(agent, group: str) -> None:
    key = agent.ok("chat_messages", chat_id=group)["items"][0]["message_id"]
    for reaction, stored in (("like", "like"), ("love", "love"), ("none", None)):
        agent.ok("chat_react", message_id=key, reaction=reaction)
        assert agent.value("SELECT reaction FROM chat_messages WHERE id = ?", key) == stored
    assert agent.refused("chat_react", message_id=key, reaction="heart")[0] == 422


def test_mute_can_be_taken_back(agent, group: str) -> None:
    agent.ok("chat_mute", chat_id=group)
    assert agent.ok("chat_show_chat", chat_id=group)["muted"] is True
    agent.ok("chat_mute", chat_id=group, muted=False)
    assert agent.ok("chat_show_chat", chat_id=group)["muted"] is False


def test_members_come_and_go_in_groups_only(agent, group: str, direct: str) -> None:
    inside = f"SELECT contact_id FROM chat_members WHERE chat_id = '{group}'"
    new = agent.value(f"SELECT id FROM contacts WHERE id NOT IN ({inside}) LIMIT 1")
    assert new in agent.ok("chat_add_member", chat_id=group, contact_id=new)["members"]
    assert agent.refused("chat_add_member", chat_id=group, contact_id=new) == (
        422,
        f"{new} is already a member of {group}",
    )
    assert new not in agent.ok("chat_remove_member", chat_id=group, contact_id=new)["members"]
    assert agent.refused("chat_remove_member", chat_id=group, contact_id=new) == (
        404,
        f"{new} is not a member of {group}",
    )
    for verb in ("add_member", "remove_member"):
        status, reason = agent.refused(f"chat_{verb}", chat_id=direct, contact_id=new)
        assert (status, "only a group" in reason) == (422, True)


def test_only_own_messages_can_be_deleted(agent) -> None:
    own = agent.value("SELECT id FROM chat_messages WHERE sender = 'me' LIMIT 1")
    assert agent.ok("chat_delete_message", message_id=own) == {"message_id": own, "deleted": True}
    assert agent.refused("chat_delete_message", message_id=own)[0] == 404
    other, name = agent.rows(
        "SELECT m.id, first_name || ' ' || last_name FROM chat_messages m JOIN contacts c ON c.id = sender LIMIT 1"
    )[0]
    assert agent.refused("chat_delete_message", message_id=other) == (
        422,
        f"message {other} is not yours: {name} sent it",
    )


def test_messages_of_a_contact_deleted_since_can_still_be_read(agent, strangers: list[str]) -> None:
    chat = agent.ok("chat_start", contact_ids=strangers, title="Boat trip")["chat_id"]
    row = ("msg_1", chat, "con_gone", "Bye", "2025-01-01T09:00", 1, None)
    agent.db.execute("INSERT INTO chat_messages VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    assert agent.ok("chat_messages", chat_id=chat)["items"][0]["sender_name"] == "a deleted contact"
    assert agent.refused("chat_delete_message", message_id="msg_1")[1].endswith("a deleted contact sent it")


@pytest.mark.parametrize(
    ("verb", "args"),
    [
        ("show_chat", {"chat_id": "chat_1"}), ("messages", {"chat_id": "chat_1"}), ("mute", {"chat_id": "chat_1"}),
        ("send", {"chat_id": "chat_1", "body": "x"}), ("add_member", {"chat_id": "chat_1", "contact_id": "con_1"}),
        ("remove_member", {"chat_id": "chat_1", "contact_id": "con_1"}), ("delete_message", {"message_id": "msg_0"}),
        ("react", {"message_id": "msg_0", "reaction": "like"}), ("start", {"contact_ids": ["con_1"]}),
    ],
)  # fmt: skip
def test_an_unknown_chat_message_or_contact_is_a_404(agent, verb: str, args: dict) -> None:
    assert agent.refused(f"chat_{verb}", **args)[0] == 404


def test_an_unknown_contact_cannot_be_added_to_a_group(agent, group: str) -> None:
    for verb in ("add_member", "remove_member"):
        assert agent.refused(f"chat_{verb}", chat_id=group, contact_id="con_1")[0] == 404
