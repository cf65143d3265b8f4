"""Direct and group chats with contacts. The person's own messages have the sender "me"."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from rebind.envs.apps.api.common import (
    Row,
    booleans,
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

ME = "me"
_GONE = "a deleted contact"


@api("chat")
def list_chats(
    db: Db,
    query: str = "",
    kind: Literal["direct", "group"] | None = None,
    page: int = 1,
    page_size: int = 10,
) -> JsonValue:
    """Finds chats by words of title and members' names, and by kind; the one with the latest message first.

    Returns a page of {chat_id, title, kind, muted, unread, last_message_at}; unread is the number of unread messages.
    """
    members: dict[str, list[str]] = {}
    for row in select(db, "SELECT chat_id, contact_id FROM chat_members"):
        members.setdefault(row["chat_id"], []).append(row["contact_id"])
    names = _names(db)
    rows = select(
        db,
        "SELECT c.id AS chat_id, title, kind, muted, COUNT(m.id) FILTER (WHERE NOT read) AS unread,"
        " MAX(sent_at) AS last_message_at FROM chats c LEFT JOIN chat_messages m ON m.chat_id = c.id"
        " GROUP BY c.id ORDER BY last_message_at DESC, c.id",
    )
    found = [
        booleans(row, "muted")
        for row in rows
        if kind in (None, row["kind"])
        and matches(query, row["title"], *(names[one] for one in members.get(row["chat_id"], [])))
    ]
    return page_of(found, page, page_size)


@api("chat")
def show_chat(db: Db, chat_id: str) -> JsonValue:
    """One chat with its members; the messages are in chat_messages.

    Returns {chat_id, title, kind, muted, members: [{contact_id, name}], messages}; messages is their number.
    """
    row = booleans(one_or_404(db, "chats", chat_id, "chat"), "muted")
    names = _names(db)
    members: list[JsonValue] = [{"contact_id": one, "name": names[one]} for one in _members(db, chat_id)]
    (count,) = db.execute("SELECT COUNT(*) FROM chat_messages WHERE chat_id = ?", (chat_id,)).fetchone()
    return {"chat_id": row.pop("id"), **row, "members": members, "messages": count}


@api("chat")
def messages(db: Db, chat_id: str, query: str = "", page: int = 1, page_size: int = 10) -> JsonValue:
    """The messages of a chat, newest first, or those that contain the words of the query.

    Returns a page of {message_id, sender, sender_name, body, sent_at, read, reaction}; sender is a contact id or "me".
    Does not mark them as read.
    """
    one_or_404(db, "chats", chat_id, "chat")
    names = _names(db)
    rows = select(
        db,
        "SELECT id AS message_id, sender, body, sent_at, read, reaction FROM chat_messages WHERE chat_id = ?"
        " ORDER BY sent_at DESC, rowid DESC",
        (chat_id,),
    )
    found = [
        booleans(row, "read") | {"sender_name": names.get(row["sender"], _GONE)}
        for row in rows
        if matches(query, row["body"])
    ]
    return page_of(found, page, page_size)


@api("chat", writes=True)
def send(db: Db, chat_id: str, body: str) -> JsonValue:
    """Sends a message to a chat.

    Returns {message_id, chat_id}.
    """
    one_or_404(db, "chats", chat_id, "chat")
    text_or_422(body, "body")
    message_id = new_id(db, "chat_messages", "msg")
    db.execute(
        "INSERT INTO chat_messages (id, chat_id, sender, body, sent_at) VALUES (?, ?, ?, ?, ?)",
        (message_id, chat_id, ME, body, now(db)),
    )
    return {"message_id": message_id, "chat_id": chat_id}


@api("chat", writes=True)
def start(db: Db, contact_ids: list[str], title: str = "") -> JsonValue:
    """Starts a chat: direct with one contact (no title), a group with more (the title is required).

    Returns {chat_id}. 422 where there is a direct chat with that contact already: the reason names it.
    """
    members = list(dict.fromkeys(contact_ids))
    if not members:
        raise ApiError(422, "contact_ids must name at least one contact")
    contacts = [one_or_404(db, "contacts", one, "contact") for one in members]
    if len(members) == 1:
        kind, title = "direct", _direct_title(db, contacts[0], title)
    else:
        kind = "group"
        text_or_422(title, "title of a group")
    chat_id = new_id(db, "chats", "chat")
    db.execute("INSERT INTO chats (id, title, kind) VALUES (?, ?, ?)", (chat_id, title, kind))
    db.executemany("INSERT INTO chat_members VALUES (?, ?)", [(chat_id, one) for one in members])
    return {"chat_id": chat_id}


@api("chat", writes=True)
def react(
    db: Db, message_id: str, reaction: Literal["like", "love", "laugh", "surprise", "sad", "thanks", "none"]
) -> JsonValue:
    """Reacts to a message, in place of an earlier reaction; none takes it back.

    Returns {message_id, reaction}.
    """
    one_or_404(db, "chat_messages", message_id, "message")
    stored = None if reaction == "none" else reaction
    db.execute("UPDATE chat_messages SET reaction = ? WHERE id = ?", (stored, message_id))
    return {"message_id": message_id, "reaction": stored}


@api("chat", writes=True)
def mute(db: Db, chat_id: str, muted: bool = True) -> JsonValue:
    """Mutes a chat, or unmutes it with muted false.

    Returns {chat_id, muted}.
    """
    one_or_404(db, "chats", chat_id, "chat")
    db.execute("UPDATE chats SET muted = ? WHERE id = ?", (muted, chat_id))
    return {"chat_id": chat_id, "muted": muted}


@api("chat", writes=True)
def add_member(db: Db, chat_id: str, contact_id: str) -> JsonValue:
    """Adds a contact to a group chat.

    Returns {chat_id, members: [contact ids]}.
    """
    _group_or_422(db, chat_id)
    one_or_404(db, "contacts", contact_id, "contact")
    if contact_id in _members(db, chat_id):
        raise ApiError(422, f"{contact_id} is already a member of {chat_id}")
    db.execute("INSERT INTO chat_members VALUES (?, ?)", (chat_id, contact_id))
    return {"chat_id": chat_id, "members": list(_members(db, chat_id))}


@api("chat", writes=True)
def remove_member(db: Db, chat_id: str, contact_id: str) -> JsonValue:
    """Takes a contact out of a group chat; their messages stay.

    Returns {chat_id, members: [contact ids]}.
    """
    _group_or_422(db, chat_id)
    one_or_404(db, "contacts", contact_id, "contact")
    if contact_id not in _members(db, chat_id):
        raise ApiError(404, f"{contact_id} is not a member of {chat_id}")
    db.execute("DELETE FROM chat_members WHERE chat_id = ? AND contact_id = ?", (chat_id, contact_id))
    return {"chat_id": chat_id, "members": list(_members(db, chat_id))}


@api("chat", writes=True)
def delete_message(db: Db, message_id: str) -> JsonValue:
    """Deletes a message of your own, for everyone.

    Returns {message_id, deleted}.
    """
    sender = one_or_404(db, "chat_messages", message_id, "message")["sender"]
    if sender != ME:
        raise ApiError(422, f"message {message_id} is not yours: {_names(db).get(sender, _GONE)} sent it")
    db.execute("DELETE FROM chat_messages WHERE id = ?", (message_id,))
    return {"message_id": message_id, "deleted": True}


def _names(db: Db) -> dict[str, str]:
    """Full name by sender: contact id or "me"."""
    rows = select(db, "SELECT id, first_name || ' ' || last_name AS name FROM contacts")
    return {ME: ME} | {row["id"]: row["name"] for row in rows}


def _members(db: Db, chat_id: str) -> list[str]:
    rows = select(db, "SELECT contact_id FROM chat_members WHERE chat_id = ? ORDER BY contact_id", (chat_id,))
    return [row["contact_id"] for row in rows]


def _group_or_422(db: Db, chat_id: str) -> None:
    if one_or_404(db, "chats", chat_id, "chat")["kind"] != "group":
        raise ApiError(422, f"chat {chat_id} is direct; only a group can gain or lose members")


def _direct_title(db: Db, contact: Row, title: str) -> str:
    """The title of a new direct chat, the contact's name. Raises 422 for another title or where a chat exists."""
    name = f"{contact['first_name']} {contact['last_name']}"
    if title not in ("", name):
        raise ApiError(422, "a direct chat has the contact's name as its title; leave title out")
    there = select(
        db,
        "SELECT id FROM chats JOIN chat_members ON chat_id = id WHERE kind = 'direct' AND contact_id = ?",
        (contact["id"],),
    )
    if there:
        raise ApiError(422, f"there is a direct chat with {name} already: {there[0]['id']}")
    return name
