"""The reuse note: read from any answer, never above its cap, cut where a field ends, and flagged."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from rebind.memory.note import FIELDS, read_note

FULL = {
    "workflow": "Search the person. Read the mail. Forward it.",
    "rebind": "The address of the recipient.",
    "applies": "A mail of the supplier exists.",
    "verify": "Look at the sent folder.",
}
ROOM = 1000


def words(text: str) -> int:
    return len(text.split())


def test_the_four_fields_are_read_from_plain_json() -> None:
    note = read_note(json.dumps(FULL), ROOM, words)
    assert note.note is not None
    assert note.note.model_dump() == FULL
    assert note.flags == ()
    assert all(text in note.text for text in FULL.values())


def test_json_between_words_and_fences_is_read() -> None:
    note = read_note(f"Here {{it}} is:\n```json\n{json.dumps(FULL)}\n```\nDone.", ROOM, words)
    assert note.note is not None
    assert note.note.model_dump() == FULL


def test_lists_inside_a_field_become_text() -> None:
    note = read_note(json.dumps({**FULL, "rebind": ["the person", {"date": "from the task"}]}), ROOM, words)
    assert note.note is not None
    assert note.note.rebind == "the person; date: from the task"


def test_a_note_over_its_cap_loses_whole_fields_from_the_end() -> None:
    note = read_note(json.dumps(FULL), 18, words)
    assert note.note is not None
    assert note.note.workflow == FULL["workflow"]
    assert note.note.rebind == FULL["rebind"]
    assert note.note.applies == note.note.verify == ""
    assert note.flags == ("cut-at-field",)


def test_a_first_field_over_the_cap_loses_whole_sentences() -> None:
    note = read_note(json.dumps(FULL), 7, words)
    assert note.note is not None
    assert note.note.workflow == "Search the person. Read the mail."
    assert note.flags == ("cut-at-field", "cut-in-field")


def test_an_answer_that_breaks_off_keeps_its_complete_fields() -> None:
    text = json.dumps(FULL)
    note = read_note(text[: text.index("supplier")], ROOM, words)
    assert note.note is not None
    assert note.note.rebind == FULL["rebind"]
    assert note.note.applies == ""
    assert note.flags == ("cut-at-field",)


def test_an_answer_without_fields_is_flagged_and_delivered_as_text() -> None:
    note = read_note("Search first, then forward.", ROOM, words)
    assert (note.text, note.note, note.flags) == ("Search first, then forward.", None, ("unparseable",))


def test_a_note_that_rules_out_reuse_is_flagged() -> None:
    note = read_note(json.dumps({**FULL, "applies": "Blocked: no such app."}), ROOM, words)
    assert note.flags == ("declined",)


texts = st.text(alphabet="ab .;", max_size=120)


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(FIELDS, texts)), st.integers(0, 60), st.integers(0, 400))
def test_no_answer_gives_a_note_above_its_cap(fields: dict[str, str], cap: int, length: int) -> None:
    answer = json.dumps(fields)[:length]
    note = read_note(answer, cap, words)
    assert words(note.text) <= max(cap, words("Find again before use:"))
    assert note.note is not None or "unparseable" in note.flags
