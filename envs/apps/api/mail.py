"""E-mail: finding, reading, filing and labelling. Writing is in `mail_writing`."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from rebind.envs.apps.api.common import (
    booleans,
    choice_or_422,
    date_or_422,
    matches,
    one_or_404,
    select,
    text_or_422,
)
from rebind.envs.apps.api.common import page as page_of
from rebind.envs.apps.api.registry import ApiError, Db, api

_SHORT = ("folder", "sender", "recipients", "subject", "sent_at", "read", "starred")
_MAX_LABEL = 40


@api("mail")
def search(  # noqa: PLR0913  (an API's parameters are its contract)
    db: Db,
    *,
    query: str = "",
    folder: Literal["inbox", "sent", "drafts", "archive", "trash"] | None = None,
    sender: str | None = None,
    label: str | None = None,
    unread: bool | None = None,
    since: str | None = None,
    until: str | None = None,
    page: int = 1,
    page_size: int = 10,
) -> JsonValue:
    """Mails whose subject, text, sender or recipients have all words of the query, newest first.

    Without a folder the trash is left out. sender: part of the address. since and until: dates, both included.
    Returns a page of {mail_id, folder, sender, recipients, subject, sent_at, read, starred}.
    """
    first, last = date_or_422(since or "0001-01-01", "since"), date_or_422(until or "9999-12-31", "until")
    labelled = None if label is None else _labelled(db, label)
    found = [
        booleans({"mail_id": row["id"], **{key: row[key] for key in _SHORT}}, "read", "starred")
        for row in select(db, "SELECT * FROM mails ORDER BY sent_at DESC, rowid DESC")
        if (row["folder"] == folder if folder else row["folder"] != "trash")
        and (sender is None or sender.casefold() in row["sender"].casefold())
        and (labelled is None or row["id"] in labelled)
        and (unread is None or unread != bool(row["read"]))
        and first <= row["sent_at"][: len(first)] <= last
        and matches(query, row["subject"], row["body"], row["sender"], row["recipients"])
    ]
    return page_of(found, page, page_size)


@api("mail")
def show(db: Db, mail_id: str) -> JsonValue:
    """A whole mail; reading it this way does not mark it as read.

    Returns the mail with body, reply_to, forwarded_from (mail ids or null), labels and attachments (file ids).
    """
    row = booleans(one_or_404(db, "mails", mail_id, "mail"), "read", "starred")
    labels = select(db, "SELECT label FROM mail_labels WHERE mail_id = ? ORDER BY label", (mail_id,))
    files = select(db, "SELECT file_id FROM mail_attachments WHERE mail_id = ? ORDER BY file_id", (mail_id,))
    row |= {"labels": [r["label"] for r in labels], "attachments": [r["file_id"] for r in files]}
    return {"mail_id": row.pop("id"), **row}


@api("mail")
def list_attachments(db: Db, mail_id: str) -> JsonValue:
    """The files attached to a mail; read one with files_read.

    Returns a list of {file_id, path, size}.
    """
    one_or_404(db, "mails", mail_id, "mail")
    join = "files f JOIN mail_attachments a ON a.file_id = f.id WHERE a.mail_id = ?"
    return [*select(db, f"SELECT f.id AS file_id, f.path, f.size FROM {join} ORDER BY f.path", (mail_id,))]


@api("mail", writes=True)
def move(db: Db, mail_id: str, folder: Literal["inbox", "archive", "trash"]) -> JsonValue:
    """Moves a mail to another folder; drafts can only go to the trash.

    Returns {mail_id, folder}.
    """
    row = one_or_404(db, "mails", mail_id, "mail")
    if row["folder"] == folder:
        raise ApiError(422, f"{mail_id} is already in {folder}")
    if row["folder"] == "drafts" and folder != "trash":
        raise ApiError(422, f"{mail_id} is a draft: it can be sent or moved to trash, not to {folder}")
    db.execute("UPDATE mails SET folder = ? WHERE id = ?", (folder, mail_id))
    return {"mail_id": mail_id, "folder": folder}


@api("mail", writes=True)
def delete(db: Db, mail_id: str) -> JsonValue:
    """Moves a mail to the trash.

    Returns {mail_id, folder}.
    """
    return move(db, mail_id=mail_id, folder="trash")


@api("mail", writes=True)
def mark_read(db: Db, mail_id: str, read: bool = True) -> JsonValue:
    """Marks a mail as read or unread.

    Returns {mail_id, read}.
    """
    one_or_404(db, "mails", mail_id, "mail")
    db.execute("UPDATE mails SET read = ? WHERE id = ?", (read, mail_id))
    return {"mail_id": mail_id, "read": read}


@api("mail", writes=True)
def star(db: Db, mail_id: str, starred: bool = True) -> JsonValue:
    """Stars a mail, or takes the star away.

    Returns {mail_id, starred}.
    """
    one_or_404(db, "mails", mail_id, "mail")
    db.execute("UPDATE mails SET starred = ? WHERE id = ?", (starred, mail_id))
    return {"mail_id": mail_id, "starred": starred}


@api("mail", writes=True)
def add_label(db: Db, mail_id: str, label: str) -> JsonValue:
    """Puts a label on a mail; a new label comes into being by its first use.

    Returns {mail_id, label}.
    """
    one_or_404(db, "mails", mail_id, "mail")
    text_or_422(label, "label")
    if len(label) > _MAX_LABEL:
        raise ApiError(422, f"label must have at most {_MAX_LABEL} characters, not {len(label)}")
    if _has_label(db, mail_id, label):
        raise ApiError(422, f"{mail_id} already has label {label!r}")
    db.execute("INSERT INTO mail_labels VALUES (?, ?)", (mail_id, label))
    return {"mail_id": mail_id, "label": label}


@api("mail", writes=True)
def remove_label(db: Db, mail_id: str, label: str) -> JsonValue:
    """Takes a label off a mail.

    Returns {mail_id, label}.
    """
    one_or_404(db, "mails", mail_id, "mail")
    if not _has_label(db, mail_id, label):
        raise ApiError(404, f"{mail_id} has no label {label!r}")
    db.execute("DELETE FROM mail_labels WHERE mail_id = ? AND label = ?", (mail_id, label))
    return {"mail_id": mail_id, "label": label}


def _has_label(db: Db, mail_id: str, label: str) -> bool:
    query = "SELECT 1 FROM mail_labels WHERE mail_id = ? AND label = ?"
    return db.execute(query, (mail_id, label)).fetchone() is not None


def _labelled(db: Db, label: str) -> set[str]:
    rows = select(db, "SELECT mail_id, label FROM mail_labels")
    choice_or_422(label, "label", [row["label"] for row in rows])
    return {row["mail_id"] for row in rows if row["label"] == label}
