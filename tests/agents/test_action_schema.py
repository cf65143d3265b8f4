"""The schema of an answer admits what the tools admit, and nothing else."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from rebind.agents.schema import action_schema, tools_found, values_seen
from rebind.types import ToolSpec

SEND = ToolSpec(
    name="mail_send",
    description="Sends.",
    parameters={
        "type": "object",
        "properties": {
            "to": {"type": "array", "items": {"type": "string"}},
            "subject": {"type": "string"},
            "folder": {"type": "string", "enum": ["inbox", "sent"]},
            "page": {"type": "integer"},
            "note": {"type": ["string", "null"]},
        },
        "required": ["to", "subject"],
        "additionalProperties": False,
    },
)
PROFILE = ToolSpec(name="profile", description="Tells.", parameters={"type": "object", "additionalProperties": False})


def admits(schema: dict[str, Any], **answer: Any) -> bool:
    return bool(jsonschema.Draft202012Validator(schema).is_valid(answer))


def test_each_tool_takes_its_own_arguments_only() -> None:
    schema = action_schema([SEND, PROFILE], thought=False)
    assert admits(schema, tool="mail_send", args={"to": ["a"], "subject": "s"})
    assert admits(schema, tool="profile", args={})
    assert not admits(schema, tool="profile", args={"to": ["a"], "subject": "s"})
    assert not admits(schema, tool="mail_send", args={"subject": "s"})
    assert not admits(schema, tool="mail_send", args={"to": ["a"], "subject": "s", "bcc": "b"})
    assert not admits(schema, tool="other", args={})


def test_a_thought_is_demanded_where_wanted_and_refused_elsewhere() -> None:
    for thought in (True, False):
        schema = action_schema([PROFILE], thought=thought)
        assert admits(schema, tool="profile", args={}, thought="Who am I?") == thought
        assert admits(schema, tool="profile", args={}) != thought


def test_found_tools_may_be_named_with_any_arguments() -> None:
    schema = action_schema([PROFILE], thought=False, found=["notes_search"])
    assert admits(schema, tool="notes_search", args={"query": "x", "deep": {"er": 1}})
    assert not admits(schema, tool="notes_show", args={})


def test_grounded_texts_are_limited_to_values_seen_and_other_arguments_are_not() -> None:
    schema = action_schema([SEND], thought=False, grounded=["ann@x.org", "Budget"])
    good = {"to": ["ann@x.org"], "subject": "Budget", "folder": "sent", "page": 7, "note": None}
    assert admits(schema, tool="mail_send", args=good)
    for wrong in ({"to": ["bob@x.org"]}, {"subject": "Other"}, {"folder": "trash"}, {"note": "free"}):
        assert not admits(schema, tool="mail_send", args={**good, **wrong})


def test_nothing_seen_means_free_text() -> None:
    schema = action_schema([SEND], thought=False, grounded=[])
    assert admits(schema, tool="mail_send", args={"to": ["x"], "subject": "any"})


@pytest.mark.parametrize(
    "value",
    ["boat repair", "Everyday account", "2025-11-13", "ann.lee@x.org", "/docs/plan.txt", "Anna Berg", "pay", "120"],
)
def test_values_of_a_goal_are_seen(value: str) -> None:
    goal = (
        "Ask Anna Berg (ann.lee@x.org) to pay 120 for 'boat repair' from the account \"Everyday account\" on "
        "2025-11-13, see /docs/plan.txt."
    )
    assert value in values_seen(goal, [])


def test_values_of_a_json_observation_are_its_leaves_and_the_words_in_them() -> None:
    seen = values_seen("", ['{"items": [{"id": 17, "name": "Trip to Rome", "done": true, "x": null}]}'])
    assert set(seen) == {"17", "Trip to Rome", "Trip", "to", "Rome"}


def test_the_goal_and_the_latest_observation_are_kept_where_values_are_too_many() -> None:
    seen = values_seen("Pay Ann", [" ".join(f"old{n}" for n in range(600)), "newest"])
    assert seen[:4] == ("Pay", "Ann", "Pay Ann", "newest")
    assert len(seen) == 500


def test_tool_names_are_found_among_values_and_not_among_keys_or_prose() -> None:
    observations = ['[{"name":"notes_search","summary":"Finds a note_text."},{"access_token":"t"}]', "say notes_show"]
    assert tools_found(observations, ["mail_send"]) == ("notes_search",)
    assert tools_found(observations, ["notes_search"]) == ()
