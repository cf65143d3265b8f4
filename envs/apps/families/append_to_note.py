"""Add a line to one of several notes with nearly the same title, and tag it."""

from __future__ import annotations

from rebind.envs.apps.families.base import Drawn, Expected, Family, Grounded
from rebind.envs.apps.families.draw import Bound, choice, phrase, words
from rebind.envs.apps.families.effects import Added, Changed, says
from rebind.envs.apps.families.evidence import saw
from rebind.envs.apps.families.oracle import Oracle, finish, login, only
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import View

TITLES = (
    "Allotment rota | Boathouse keys | Camera loans | Darkroom log | Evening class | Fruit harvest | Guest beds | "
    "Housekeeping hints | Instrument hire | Lost property"
)
LINES = words(
    "Ask about the second key. | Closed in August. | Half of it is stored upstairs. | New padlock since spring. | Pay "
    "by the tenth. | The list hangs in the hall. | Two more have signed up."
)


class AppendToNote(Family):
    id = "apps/append-line-to-note"
    group = "5-10"
    tools = "notes_search notes_show notes_append notes_update notes_add_tag"
    drawn = (
        Drawn("note", "entity", choice(TITLES), central=True),
        Drawn(
            "line",
            "parameter",
            phrase(
                "{who} has {what} until {when}.",
                who="Edda | Joris | Lotte | Piet | Ruben | Saskia",
                what="the box | the spare set | number four | the folder",
                when="Monday | Easter | the weekend | autumn",
            ),
        ),
        Drawn("tag", "parameter", choice("borrowed | changed | club | open | recent | shared | to-check | voted")),
    )
    grounded = (Grounded("note_id", "record", lambda v, b: v.value("SELECT id FROM notes WHERE title = ?", b.note)),)
    wordings = (
        'Add the line "{line}" at the end of my note "{note}" and tag that note "{tag}".',
        'My note called "{note}", exactly that title, gets a new last line: "{line}" Put the tag "{tag}" on it too.',
        'Please append "{line}" to the note titled "{note}", and give the note the tag "{tag}". What is in it stays.',
    )

    def setup(self, p: Plant, b: Bound) -> None:
        titles = (b.note, f"{b.note} (old)", f"{b.note}, copy", f"New: {b.note.lower()}")
        for age, title in zip((12, 40, 3, 1), titles, strict=True):
            body = "\n".join([b.note, *p.rng.sample(LINES, 3)])
            stamps = {"created_at": p.moment(-90), "updated_at": p.moment(-age)}
            p.add("notes", title=title, body=body, notebook="club", **stamps)

    def oracle(self, b: Bound) -> Oracle:
        notes = yield from login("notes")
        found = yield from notes.every("search", query=b.note)
        note = only([n for n in found if n["title"] == b.note], b.note)["note_id"]
        yield from notes("append", note_id=note, text=b.line)
        yield from notes("add_tag", note_id=note, tag=b.tag)
        yield from finish()

    def expect(self, start: View, b: Bound) -> Expected:
        body = start.value("SELECT body FROM notes WHERE id = ?", b.note_id)
        longer = says(f"{body}\n{b.line}")
        return Expected(
            effects=(
                Changed("notes", b.note_id, body=longer, mark="appended: the note ends with the new line"),
                Added("note_tags", note_id=b.note_id, tag=b.tag, mark="tagged: the note has its tag"),
            ),
            marks=(saw("found-note: found the note of that title", b.note_id),),
        )
