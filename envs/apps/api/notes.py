"""Notes in notebooks, with tags. A notebook exists as long as a note is in it."""

from __future__ import annotations

from pydantic import JsonValue

from rebind.envs.apps.api.common import (
    Row,
    booleans,
    choice_or_422,
    matches,
    new_id,
    now,
    one_or_404,
    select,
    text_or_422,
)
from rebind.envs.apps.api.common import (
    page as page_of,
)
from rebind.envs.apps.api.registry import ApiError, Db, api
from rebind.errors import did_you_mean

_SHORT = ("title", "notebook", "pinned", "updated_at")


@api("notes")
def search(
    db: Db,
    query: str = "",
    notebook: str | None = None,
    tag: str | None = None,
    archived: bool = False,
    page: int = 1,
    page_size: int = 10,
) -> JsonValue:
    """Finds notes by words of title and body, notebook or tag; the most recently updated first.

    With archived true it searches the archived notes only, else only the others.
    Returns a page of {note_id, title, notebook, tags, pinned, updated_at}; the body is in notes_show.
    """
    if notebook is not None:
        choice_or_422(notebook, "notebook", (row["notebook"] for row in select(db, "SELECT notebook FROM notes")))
    tags = _tags(db)
    rows = select(db, "SELECT * FROM notes WHERE archived = ? ORDER BY updated_at DESC, id", (archived,))
    found = [
        _brief(row) | {"tags": tags.get(row["id"], [])}
        for row in rows
        if notebook in (None, row["notebook"])
        and (tag is None or tag in tags.get(row["id"], []))
        and matches(query, row["title"], row["body"])
    ]
    return page_of(found, page, page_size)


@api("notes")
def show(db: Db, note_id: str) -> JsonValue:
    """One note with its body.

    Returns {note_id, title, body, notebook, created_at, updated_at, pinned, archived, tags}.
    """
    row = booleans(one_or_404(db, "notes", note_id, "note"), "pinned", "archived")
    return {"note_id": row.pop("id"), **row, "tags": [*_tags_of(db, note_id)]}


@api("notes", writes=True)
def create(db: Db, title: str, body: str, notebook: str = "personal", tags: list[str] = []) -> JsonValue:  # noqa: B006  (never changed; the default is documentation)
    """Writes a new note; a notebook that does not exist yet is created.

    Returns {note_id}.
    """
    text_or_422(title, "title")
    text_or_422(notebook, "notebook")
    for tag in tags:
        text_or_422(tag, "tags")
    note_id, moment = new_id(db, "notes", "note"), now(db)
    db.execute(
        "INSERT INTO notes (id, title, body, notebook, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)",
        (note_id, title, body, notebook, moment, moment),
    )
    for tag in dict.fromkeys(tags):
        db.execute("INSERT INTO note_tags VALUES (?, ?)", (note_id, tag))
    return {"note_id": note_id}


@api("notes", writes=True)
def update(
    db: Db, note_id: str, title: str | None = None, body: str | None = None, notebook: str | None = None
) -> JsonValue:
    """Replaces a note's title or body, or moves it to another notebook; what is not given stays.

    Returns {note_id}.
    """
    one_or_404(db, "notes", note_id, "note")
    given = {"title": title, "body": body, "notebook": notebook}
    changes: Row = {name: value for name, value in given.items() if value is not None}
    if not changes:
        raise ApiError(422, "nothing to change: give title, body or notebook")
    for name in changes.keys() - {"body"}:
        text_or_422(changes[name], name)
    changes["updated_at"] = now(db)
    assignments = ", ".join(f"{name} = ?" for name in changes)
    db.execute(f"UPDATE notes SET {assignments} WHERE id = ?", (*changes.values(), note_id))
    return {"note_id": note_id}


@api("notes", writes=True)
def append(db: Db, note_id: str, text: str) -> JsonValue:
    """Adds text as a new last line of a note's body.

    Returns {note_id, body} with the whole new body.
    """
    row = one_or_404(db, "notes", note_id, "note")
    text_or_422(text, "text")
    body = f"{row['body'].rstrip()}\n{text}" if row["body"].strip() else text
    db.execute("UPDATE notes SET body = ?, updated_at = ? WHERE id = ?", (body, now(db), note_id))
    return {"note_id": note_id, "body": body}


@api("notes", writes=True)
def add_tag(db: Db, note_id: str, tag: str) -> JsonValue:
    """Puts a tag on a note.

    Returns {note_id, tags}.
    """
    one_or_404(db, "notes", note_id, "note")
    if text_or_422(tag, "tag") in _tags_of(db, note_id):
        raise ApiError(422, f"note {note_id} already has the tag {tag!r}")
    db.execute("INSERT INTO note_tags VALUES (?, ?)", (note_id, tag))
    return {"note_id": note_id, "tags": [*_tags_of(db, note_id)]}


@api("notes", writes=True)
def remove_tag(db: Db, note_id: str, tag: str) -> JsonValue:
    """Takes a tag off a note.

    Returns {note_id, tags}.
    """
    one_or_404(db, "notes", note_id, "note")
    tags = _tags_of(db, note_id)
    if tag not in tags:
        raise ApiError(404, f"note {note_id} has no tag {tag!r}{did_you_mean(tag, tags)}")
    db.execute("DELETE FROM note_tags WHERE note_id = ? AND tag = ?", (note_id, tag))
    return {"note_id": note_id, "tags": [*_tags_of(db, note_id)]}


@api("notes", writes=True)
def pin(db: Db, note_id: str, pinned: bool = True) -> JsonValue:
    """Pins a note, or unpins it with pinned false.

    Returns {note_id, pinned}.
    """
    one_or_404(db, "notes", note_id, "note")
    db.execute("UPDATE notes SET pinned = ? WHERE id = ?", (pinned, note_id))
    return {"note_id": note_id, "pinned": pinned}


@api("notes", writes=True)
def archive(db: Db, note_id: str, archived: bool = True) -> JsonValue:
    """Moves a note to the archive, or back with archived false.

    Returns {note_id, archived}.
    """
    one_or_404(db, "notes", note_id, "note")
    db.execute("UPDATE notes SET archived = ? WHERE id = ?", (archived, note_id))
    return {"note_id": note_id, "archived": archived}


@api("notes", writes=True)
def delete(db: Db, note_id: str) -> JsonValue:
    """Deletes a note for good, with its tags.

    Returns {note_id, deleted}.
    """
    one_or_404(db, "notes", note_id, "note")
    db.execute("DELETE FROM note_tags WHERE note_id = ?", (note_id,))
    db.execute("DELETE FROM notes WHERE id = ?", (note_id,))
    return {"note_id": note_id, "deleted": True}


def _brief(row: Row) -> Row:
    return booleans({"note_id": row["id"], **{key: row[key] for key in _SHORT}}, "pinned")


def _tags(db: Db) -> dict[str, list[str]]:
    """Tags of every note, in alphabetical order."""
    tags: dict[str, list[str]] = {}
    for note_id, tag in db.execute("SELECT note_id, tag FROM note_tags ORDER BY tag").fetchall():
        tags.setdefault(note_id, []).append(tag)
    return tags


def _tags_of(db: Db, note_id: str) -> list[str]:
    return [row["tag"] for row in select(db, "SELECT tag FROM note_tags WHERE note_id = ? ORDER BY tag", (note_id,))]
