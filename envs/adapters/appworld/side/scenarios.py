"""What the small world's person wants: four scenarios, each with a solution, tests, and three sets of values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

NOTES = {
    "Boiler service": "Reference: BX-2207",
    "Library card": "Reference: LC-9153",
    "Bike insurance": "Reference: VK-4418",
    "Seed order": "Reference: SO-7730",
}
_UNCHANGED = "no table but simple_note.Note has changed."
_HEAD = "def evaluate(test, public_data, private_data, main_user, models, ground_truth_answer):\n"
_LOGIN = """
def solution(apis):
    me = apis.supervisor.show_profile()
    words = {one["account_name"]: one["password"] for one in apis.supervisor.show_account_passwords()}
    token = apis.simple_note.login(username=me["email"], password=words["simple_note"])["access_token"]
"""
_FOUND = """
    found = apis.simple_note.search_notes(query=%(title)s, access_token=token, page_limit=20)
    note = next(one for one in found if one["title"] == %(title)s)
"""
_DONE = """
    apis.supervisor.complete_task()
"""


def _test(requirement: str, body: str) -> str:
    return f'    with test("""{requirement}"""):\n        {body}\n'


_ONLY_NOTES = _test(
    _UNCHANGED,
    'test.case(sorted(models.changed_model_names(ignore=["simple_note.User"]) - {"simple_note.Note"}), "==", [])',
)
_SAME = (
    "[tuple(sorted([note.title, note.content, str(bool(note.pinned)), *note.tags])) "
    "for note in models.end.simple_note.Note.all()]"
)


@dataclass(frozen=True)
class Scenario:
    """`goal` with places for values; `solution` with %(name)s for their literals; `tests` are requirement and label."""

    id: str
    goal: str
    solution: str
    requirement: str
    variants: tuple[dict[str, str], ...]
    change: dict[str, Any] = field(default_factory=dict)

    @property
    def tests(self) -> tuple[tuple[str, str], ...]:
        return (self.requirement, "no_op_fail"), (_UNCHANGED, "no_op_pass")

    @property
    def evaluation(self) -> str:
        check = f"test.case(sorted({_SAME}), '==', sorted(tuple(one) for one in private_data['notes']))"
        return _HEAD + _test(self.requirement, check) + _ONLY_NOTES

    def expected(self, values: dict[str, str]) -> list[list[str]]:
        """The notes as they must be at the end."""
        notes = {title: [title, content, "False"] for title, content in NOTES.items()}
        title = values["title"]
        if self.change.get("deleted"):
            return [sorted(note) for name, note in notes.items() if name != title]
        before = notes.get(title, [title, values.get("content", ""), "False"])
        pinned = "True" if self.change.get("pinned") else before[2]
        tags = [values["tag"]] if "tag" in values else []
        notes[title] = [title, before[1], pinned, *tags]
        return [sorted(note) for note in notes.values()]


SCENARIOS = (
    Scenario(
        "5a1c0e1",
        'Write a note titled "{title}" that says "{content}", in Simple Note.',
        _LOGIN + "    apis.simple_note.create_note(title=%(title)s, content=%(content)s, access_token=token)\n" + _DONE,
        "the asked note is there, and all others are as they were.",
        (
            {"title": "Paint for the shed", "content": "two tins of RAL 6005"},
            {"title": "Train to Uppsala", "content": "platform 7 at 08:14"},
            {"title": "Choir rehearsal", "content": "bring the Fauré scores"},
        ),
    ),
    Scenario(
        "5a1c0e2",
        'Pin my note "{title}" in Simple Note.',
        _LOGIN
        + _FOUND
        + '    apis.simple_note.update_note(note_id=note["note_id"], pinned=True, access_token=token)\n'
        + _DONE,
        "the asked note is pinned, and all others are as they were.",
        tuple({"title": title} for title in list(NOTES)[:3]),
        change={"pinned": True},
    ),
    Scenario(
        "5a1c0e3",
        'Tag my note "{title}" with "{tag}" in Simple Note, and nothing else.',
        _LOGIN
        + _FOUND
        + '    apis.simple_note.update_note(note_id=note["note_id"], tags=[%(tag)s], access_token=token)\n'
        + _DONE,
        "the asked note has the asked tag, and all others are as they were.",
        (
            {"title": "Boiler service", "tag": "house"},
            {"title": "Library card", "tag": "errands"},
            {"title": "Seed order", "tag": "garden"},
        ),
    ),
    Scenario(
        "5a1c0e4",
        'Delete my note "{title}" in Simple Note.',
        _LOGIN + _FOUND + '    apis.simple_note.delete_note(note_id=note["note_id"], access_token=token)\n' + _DONE,
        "the asked note is gone, and all others are as they were.",
        tuple({"title": title} for title in list(NOTES)[1:]),
        change={"deleted": True},
    ),
)
