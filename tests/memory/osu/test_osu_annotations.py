"""Annotations: what counts as an entity, a tool and a subgoal in each kind of trajectory."""

from __future__ import annotations

from rebind.memory.osu.annotations import (
    annotate_messages,
    annotate_record,
    annotate_toolbench,
    entities,
    token_cost,
)
from rebind.types import Call, Record, Step, ToolCall


def test_entities_are_strings_of_2_to_80_characters_and_numbers_one_level_deep() -> None:
    arguments = {
        "id": "#W1",
        "x": "a",
        "long": "y" * 81,
        "n": 3,
        "yes": True,
        "in": {"zip": "19122", "deep": {"no": "never"}},
    }
    assert entities(arguments) == ("#W1", "3", "19122")


def test_a_tau_bench_run_is_one_step_a_message_with_subgoals_by_user_turn() -> None:
    call = {"function": {"name": "get_order", "arguments": '{"order_id": "#W1"}'}}
    steps = annotate_messages(
        [
            {"role": "system", "content": "policy"},
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "content": "{}"},
            {"role": "user", "content": "Thanks"},
        ]
    )
    assert [s.note.subgoal for s in steps] == [1, 1, 1, 2]
    assert (steps[1].note.tool, steps[1].note.entities) == ("get_order", ("#W1",))
    assert steps[1].text == 'get_order({"order_id": "#W1"})'


def test_a_toolbench_signature_is_what_follows_for_or_precedes_the_first_underscore() -> None:
    def call(name: str, arguments: str) -> dict[str, object]:
        return {"role": "assistant", "content": "So", "function_call": {"name": name, "arguments": arguments}}

    steps = annotate_toolbench([call("search_for_jokes", '{"q": "cat"}'), call("goo_find", "{"), {"role": "user"}])
    assert [(s.note.tool, s.note.entities, s.note.subgoal) for s in steps] == [("jokes", ("cat",), 0), ("goo", (), 1)]


def test_a_record_of_ours_starts_a_subgoal_where_the_app_changes() -> None:
    def step(tool: str, **args: str) -> Step:
        call = Call(tool=tool, args=dict(args), status=200, result=None)
        return Step(action=ToolCall(tool=tool, args=dict(args)), observation="", calls=(call,))

    steps = (
        step("mail_search", query="rent"),
        step("mail_read", id="m1"),
        Step(action=None, observation=""),
        step("notes_add"),
    )
    record = Record(instruction="", descriptor="", first_observation="", steps=steps)
    notes = [a.note for a in annotate_record(record, ["a", "b", "c", "d"])]
    assert [n.subgoal for n in notes] == [0, 0, 0, 1]
    assert [n.tool for n in notes] == ["mail_search", "mail_read", None, "notes_add"]
    assert notes[0].entities == ("rent",)


def test_a_token_cost_is_a_quarter_of_the_characters_within_5_and_40() -> None:
    assert [token_cost("x" * n) for n in (0, 40, 400)] == [5, 10, 40]
