"""Binding-like values: found in records, recognised in texts however they are spelt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebind.memory.values import bindings_in, leaked, mentions, says, source_values
from rebind.types import Call, Record, Step, ToolCall


def record(result: object) -> Record:
    action = ToolCall(tool="contacts_show", args={"contact_id": "con_41234"})
    call = Call(tool=action.tool, args=action.args, status=200, result=result)  # type: ignore[arg-type]  # any JSON
    step = Step(action=action, observation="…", calls=(call,))
    return Record(instruction="i", descriptor="d", first_observation="o", steps=(step,))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on 14 March 2026", "2026-03-14"),
        ("on March 14, 2026", "2026-03-14"),
        ("on the 14th of March", "2026-03-14"),
        ("at 2026-03-14T09:30", "2026-03-14T09:30"),
        ("pay $1,250.00 now", 125_000),
        ("pay 12.50 now", 1250),
        ("on the 5th", 5),
        ("to ANNA SMITH.", "Anna Smith"),
        ("alpha and beta", ["gamma", "beta"]),
    ],
)
def test_a_value_is_recognised_in_its_spellings(text: str, value: object) -> None:
    assert says(text, value)  # type: ignore[arg-type]  # any JSON


@pytest.mark.parametrize(
    ("text", "value"),
    [("con_412345", "con_41234"), ("Annabel", "Anna"), ("125000", 1250), ("15 March", "2026-03-14"), ("", "x")],
)
def test_part_of_a_longer_word_is_no_mention(text: str, value: object) -> None:
    assert not says(text, value)  # type: ignore[arg-type]  # any JSON


@given(st.text(max_size=20), st.from_regex(r"[a-z]{1,8}_\d{1,5}", fullmatch=True), st.text(max_size=20))
def test_a_value_between_blanks_is_always_mentioned(before: str, value: str, after: str) -> None:
    assert mentions(f"{before} {value} {after}", value)


def test_kinds_of_values_are_told_apart() -> None:
    text = "Ask anna@x.example about /invoices/may.txt of 2026-05-03, 12.50, see mail_40123"
    assert {v: k for k, v in bindings_in("body", text)} == {
        "anna@x.example": "email",
        "2026-05-03": "date",
        "/invoices/may.txt": "path",
        "12.50": "amount",
        "mail_40123": "id",
    }


def test_plain_words_and_small_numbers_are_no_bindings() -> None:
    values = source_values(record({"folder": "inbox", "count": 3, "starred": True, "note": "please call me back"}))
    assert values == {"con_41234": "contact_id"}


def test_a_source_value_in_a_text_is_named_by_its_key_unless_it_is_visible() -> None:
    source = record({"email": "anna@x.example", "name": "Anna Smith", "amount": 4550})
    note = "Write to anna@x.example, pay 45.50, contact con_41234."
    assert leaked(note, source, ("Pay 45.50 to someone",)) == ("contact_id", "email")
    assert leaked("Look the address up first.", source, ()) == ()
