"""The address book's APIs."""

from __future__ import annotations

import pytest

NEW = {"first_name": "Ada", "last_name": "Byron", "email": "ada@quill.example", "phone": "+1 1", "relation": "friend"}


def test_search_finds_by_every_word_of_name_email_or_phone(agent) -> None:
    first, last, email, phone = agent.rows("SELECT first_name, last_name, email, phone FROM contacts LIMIT 1")[0]
    for query in (f"{last} {first}".upper(), email, phone, f"{first} {email[:5]}"):
        assert email in [one["email"] for one in agent.every("contacts_search", query=query)], query


def test_search_filters_by_relation_city_and_company(agent) -> None:
    relation, city, company = agent.rows("SELECT relation, city, company FROM contacts WHERE company <> '' LIMIT 1")[0]
    for name, value in (("relation", relation), ("city", city), ("company", company)):
        found = agent.every("contacts_search", **{name: value})
        assert len(found) == agent.value(f"SELECT count(*) FROM contacts WHERE {name} = ?", value)
        assert {one[name] for one in found} == {value}


def test_a_listing_has_short_items_and_show_has_all(agent) -> None:
    short = agent.ok("contacts_search")["items"][0]
    whole = agent.ok("contacts_show", contact_id=short["contact_id"])
    assert short.items() <= whole.items()
    assert {"previous_street", "birthday", "groups", "comment"} <= set(whole) - set(short)
    assert isinstance(whole["favourite"], bool)


def test_an_unknown_contact_is_a_404_that_says_what_an_id_looks_like(agent) -> None:
    assert agent.refused("contacts_show", contact_id="Anna") == (
        404,
        "no contact with id 'Anna'; such an id starts with con_",
    )


def test_create_update_and_delete_a_contact(agent) -> None:
    key = agent.ok("contacts_create", **NEW)["contact_id"]
    agent.ok("contacts_update", contact_id=key, street="1 Elm Street", city="Fairview", comment="new")
    agent.ok("contacts_update", contact_id=key, street="2 Elm Street")
    agent.ok("contacts_set_favourite", contact_id=key, favourite=True)
    shown = agent.ok("contacts_show", contact_id=key)
    assert (shown["street"], shown["city"]) == ("2 Elm Street", "Fairview")
    assert (shown["previous_street"], shown["previous_city"]) == ("1 Elm Street", "Fairview")
    assert shown["favourite"] is True
    assert agent.ok("contacts_delete", contact_id=key) == {"contact_id": key, "deleted": True}
    assert agent.refused("contacts_show", contact_id=key)[0] == 404


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"first_name": " "}, "first_name must not be empty"),
        ({"email": "ada"}, "email must be an e-mail address"),
        ({"birthday": "2026-02-30"}, "birthday must be a date like"),
        ({"relation": "enemy"}, "must be one of family, friend"),
    ],
)
def test_a_bad_detail_of_a_new_contact_is_refused(agent, change: dict, reason: str) -> None:
    status, said = agent.refused("contacts_create", **NEW | change)
    assert status == 422
    assert reason in said


def test_two_contacts_cannot_have_the_same_email(agent) -> None:
    email, key = agent.rows("SELECT email, id FROM contacts LIMIT 1")[0]
    assert agent.refused("contacts_create", **NEW | {"email": email.upper()})[1].endswith(f"belongs to contact {key}")


def test_an_update_without_a_detail_is_refused(agent) -> None:
    key = agent.value("SELECT id FROM contacts LIMIT 1")
    assert agent.refused("contacts_update", contact_id=key) == (422, "nothing to change: give at least one detail")


def test_a_contact_in_use_cannot_be_deleted(agent) -> None:
    key = agent.value("SELECT contact_id FROM chat_members LIMIT 1")
    assert agent.refused("contacts_delete", contact_id=key) == (
        422,
        f"{key} cannot be deleted: it is a member of a chat",
    )


def test_groups_are_created_filled_and_emptied(agent) -> None:
    group = agent.ok("contacts_create_group", name="Lake trip")["group_id"]
    key = agent.value("SELECT id FROM contacts LIMIT 1")
    agent.ok("contacts_add_to_group", group_id=group, contact_id=key)
    assert [one["contact_id"] for one in agent.ok("contacts_show_group", group_id=group)["members"]] == [key]
    assert {"group_id": group, "name": "Lake trip", "members": 1} in agent.ok("contacts_list_groups")
    assert "Lake trip" in agent.ok("contacts_show", contact_id=key)["groups"]
    assert agent.refused("contacts_add_to_group", group_id=group, contact_id=key)[0] == 422
    agent.ok("contacts_remove_from_group", group_id=group, contact_id=key)
    assert agent.refused("contacts_remove_from_group", group_id=group, contact_id=key)[0] == 404
    assert agent.refused("contacts_create_group", name="lake TRIP")[0] == 422
    assert agent.refused("contacts_add_to_group", group_id="grp_1", contact_id=key)[0] == 404
