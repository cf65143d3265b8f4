"""The APIs of the notes app."""

from __future__ import annotations

import pytest


@pytest.fixture
def note(agent) -> str:
    """A note of known content, with the tag lake."""
    return agent.ok("notes_create", title="Boat hire", body="Ask at the pier.", tags=["lake", "lake"])["note_id"]


def test_create_writes_a_note_with_defaults_and_each_tag_once(agent, note: str) -> None:
    today = agent.ok("supervisor_profile")["today"]
    assert agent.ok("notes_show", note_id=note) == {
        "note_id": note,
        "title": "Boat hire",
        "body": "Ask at the pier.",
        "notebook": "personal",
        "created_at": f"{today}T12:00",
        "updated_at": f"{today}T12:00",
        "pinned": False,
        "archived": False,
        "tags": ["lake"],
    }


def test_search_finds_words_of_title_and_body_and_lists_no_bodies(agent, note: str) -> None:
    found = agent.ok("notes_search", query="PIER boat")["items"]
    assert [one["note_id"] for one in found] == [note]
    assert "body" not in found[0]
    assert found[0]["tags"] == ["lake"]


def test_search_filters_by_notebook_tag_and_archive(agent, note: str) -> None:
    live = agent.value("SELECT count(*) FROM notes WHERE notebook = 'work' AND NOT archived")
    assert len(agent.every("notes_search", notebook="work")) == live
    assert [one["note_id"] for one in agent.every("notes_search", tag="lake")] == [note]
    archived = {row[0] for row in agent.rows("SELECT id FROM notes WHERE archived")}
    assert {one["note_id"] for one in agent.every("notes_search", archived=True)} == archived
    assert not archived & {one["note_id"] for one in agent.every("notes_search")}


def test_search_lists_the_latest_update_first(agent, note: str) -> None:
    stamps = [one["updated_at"] for one in agent.every("notes_search")]
    assert stamps == sorted(stamps, reverse=True)
    agent.ok("notes_update", note_id=note, title="Boat hire, new")
    assert agent.ok("notes_search")["items"][0]["title"] == "Boat hire, new"


def test_an_unknown_notebook_is_a_422_with_the_nearest_one(agent) -> None:
    assert agent.refused("notes_search", notebook="wrok") == (
        422,
        "notebook 'wrok' is not known; did you mean 'work'?",
    )


def test_update_changes_only_what_is_given_and_stamps_the_note(agent) -> None:
    key = agent.value("SELECT id FROM notes ORDER BY updated_at LIMIT 1")
    before = agent.ok("notes_show", note_id=key)
    agent.ok("notes_update", note_id=key, body="", notebook="attic")
    after = agent.ok("notes_show", note_id=key)
    assert {name for name in after if after[name] != before[name]} == {"body", "notebook", "updated_at"}
    assert agent.refused("notes_update", note_id=key)[1] == "nothing to change: give title, body or notebook"
    assert agent.refused("notes_update", note_id=key, title=" ") == (422, "title must not be empty")


def test_append_adds_a_last_line(agent, note: str) -> None:
    assert agent.ok("notes_append", note_id=note, text="20 EUR")["body"] == "Ask at the pier.\n20 EUR"
    agent.ok("notes_update", note_id=note, body="")
    assert agent.ok("notes_append", note_id=note, text="first line")["body"] == "first line"
    assert agent.refused("notes_append", note_id=note, text="\n") == (422, "text must not be empty")


def test_tags_are_added_once_and_removed_where_they_are(agent, note: str) -> None:
    assert agent.ok("notes_add_tag", note_id=note, tag="boats")["tags"] == ["boats", "lake"]
    assert agent.refused("notes_add_tag", note_id=note, tag="boats")[0] == 422
    assert agent.ok("notes_remove_tag", note_id=note, tag="lake")["tags"] == ["boats"]
    assert agent.refused("notes_remove_tag", note_id=note, tag="boat") == (
        404,
        f"note {note} has no tag 'boat'; did you mean 'boats'?",
    )


def test_pin_and_archive_can_be_taken_back(agent, note: str) -> None:
    for verb, flag in (("pin", "pinned"), ("archive", "archived")):
        agent.ok(f"notes_{verb}", note_id=note)
        assert agent.ok("notes_show", note_id=note)[flag] is True
        agent.ok(f"notes_{verb}", note_id=note, **{flag: False})
        assert agent.ok("notes_show", note_id=note)[flag] is False


def test_delete_removes_the_note_and_its_tags_only(agent, note: str) -> None:
    notes, tags = agent.value("SELECT count(*) FROM notes"), agent.value("SELECT count(*) FROM note_tags")
    assert agent.ok("notes_delete", note_id=note) == {"note_id": note, "deleted": True}
    assert agent.value("SELECT count(*) FROM notes") == notes - 1
    assert agent.value("SELECT count(*) FROM note_tags") == tags - 1


@pytest.mark.parametrize(
    ("verb", "more"),
    [
        ("show", {}), ("update", {"title": "t"}), ("append", {"text": "t"}), ("add_tag", {"tag": "t"}),
        ("remove_tag", {"tag": "t"}), ("pin", {}), ("archive", {}), ("delete", {}),
    ],
)  # fmt: skip
def test_an_unknown_note_is_a_404(agent, verb: str, more: dict) -> None:
    status, reason = agent.refused(f"notes_{verb}", note_id="Packing list", **more)
    assert status == 404
    assert reason == "no note with id 'Packing list'; such an id starts with note_"


def test_a_note_needs_a_title_a_notebook_and_tags_that_are_not_blank(agent) -> None:
    for bad in ({"title": ""}, {"notebook": " "}, {"tags": ["good", ""]}):
        assert agent.refused("notes_create", **{"title": "t", "body": "b"} | bad)[0] == 422
