"""Chats with the contacts, direct and in groups, made of short conversations over four months."""

from __future__ import annotations

import datetime
import random
import sqlite3
from dataclasses import dataclass

from rebind.envs.apps.populate import chance, ids, insert
from rebind.envs.apps.populate import chat_texts as texts
from rebind.envs.apps.populate.cast import OUTSIDE, PRIVATE, STAFF, Cast, Person, cast, stamp
from rebind.envs.apps.populate.names import CITIES, PLACES, PROJECTS, THINGS

_ME = "me"
_DIRECT, _GROUPS = 32, 10
_TALKS = (3, 7)
_PAST_DAYS = 120
_REACTIONS = ("like", "love", "laugh", "surprise", "sad", "thanks")


@dataclass(frozen=True)
class _Message:
    sender: str
    body: str
    sent: datetime.datetime


@dataclass(frozen=True)
class _Chat:
    title: str
    kind: str
    members: tuple[Person, ...]
    talks: texts.Talks
    """The conversations that may turn up in it."""


def populate(db: sqlite3.Connection, rng: random.Random) -> None:
    """Writes 42 chats and about 1,000 messages. Needs the calendar's events: some chats speak of them."""
    world = cast(db, rng)
    chats = [_direct(person) for person in rng.sample(world.people, _DIRECT)]
    chats += [_group(world, title) for title in rng.sample(texts.GROUP_TITLES, _GROUPS)]
    events = _coming_events(db, world)
    keys = ids(rng, "chat", len(chats))
    insert(
        db,
        "chats",
        [
            {"id": key, "title": chat.title, "kind": chat.kind, "muted": int(chance(rng, 0.12))}
            for key, chat in zip(keys, chats, strict=True)
        ],
    )
    members = [(key, person.id) for key, chat in zip(keys, chats, strict=True) for person in chat.members]
    insert(db, "chat_members", [{"chat_id": key, "contact_id": person} for key, person in members])
    rows = [row for key, chat in zip(keys, chats, strict=True) for row in _messages(world, key, chat, events)]
    rows.sort(key=lambda row: str(row["sent_at"]))
    numbers = ids(rng, "msg", len(rows))
    insert(db, "chat_messages", [{"id": number, **row} for number, row in zip(numbers, rows, strict=True)])


def _direct(person: Person) -> _Chat:
    talks = texts.OUTSIDE_TALKS
    if person.relation in STAFF:
        talks = texts.WORK_TALKS
    elif person.relation in PRIVATE:
        talks = texts.PRIVATE_TALKS
    return _Chat(person.name, "direct", (person,), talks)


def _group(world: Cast, title: str) -> _Chat:
    rng = world.rng
    if "Project" in title or "Lunch" in title:
        circle, talks = world.of(*STAFF), texts.GROUP_TALKS + texts.WORK_TALKS
    elif "Family" in title:
        circle, talks = world.of("family"), texts.GROUP_TALKS
    else:
        circle, talks = world.of(*PRIVATE), texts.GROUP_TALKS
    other, your, *members = rng.sample(circle, rng.randint(5, 8))
    named = title.format(
        city=rng.choice(CITIES),
        project=rng.choice(PROJECTS),
        other=other.name,
        your=your.first,
        many=rng.randint(2, 60),
    )
    return _Chat(named, "group", tuple(members), talks)


def _coming_events(db: sqlite3.Connection, world: Cast) -> dict[str, list[tuple[str, str]]]:
    """Title and start of the events from today on that are not cancelled, by the attendee's e-mail address."""
    rows = db.execute(
        "SELECT email, title, start_at FROM events JOIN event_attendees ON event_id = id"
        " WHERE NOT cancelled AND start_at > ? ORDER BY start_at, id, email",
        (f"{world.today}T12:00",),
    )
    events: dict[str, list[tuple[str, str]]] = {}
    for email, title, start in rows:
        events.setdefault(email, []).append((title, start))
    return events


def _messages(
    world: Cast, chat_id: str, chat: _Chat, events: dict[str, list[tuple[str, str]]]
) -> list[dict[str, object]]:
    """A chat's messages by time; the last ones of others may be unread."""
    rng = world.rng
    talks = rng.sample(chat.talks, min(len(chat.talks), rng.randint(*_TALKS)))
    starts = sorted(world.past(_PAST_DAYS) for _ in talks)
    sent = [message for talk, start in zip(talks, starts, strict=True) for message in _talk(world, chat, talk, start)]
    if chat.kind == "direct" and chat.members[0].email in events and chance(rng, 0.5):
        title, start = rng.choice(events[chat.members[0].email])
        slots = {"title": title, "date": start[:10], "hour": start[11:]}
        turns = (rng.choice(texts.EVENT_QUESTIONS).format(**slots), rng.choice(texts.EVENT_ANSWERS).format(**slots))
        sent += _talk(world, chat, turns, world.past(6))
    sent.sort(key=lambda message: message.sent)
    unread = rng.randint(1, 3) if chance(rng, 0.3) else 0
    return [
        {
            "chat_id": chat_id,
            "sender": message.sender,
            "body": message.body,
            "sent_at": stamp(message.sent),
            "read": int(message.sender == _ME or index < len(sent) - unread),
            "reaction": rng.choice(_REACTIONS) if chance(rng, 0.06) else None,
        }
        for index, message in enumerate(sent)
    ]


def _talk(world: Cast, chat: _Chat, turns: tuple[str, ...], start: datetime.datetime) -> list[_Message]:
    """One conversation: in a direct chat the two take turns, in a group nobody speaks twice running."""
    rng = world.rng
    you = rng.choice(chat.members)
    slots = world.figures(start.date()) | {
        "my": world.profile["name"].split()[0],
        "your": you.first,
        "other": rng.choice([person for person in world.people if person not in chat.members]).name,
        "project": rng.choice(PROJECTS),
        "company": rng.choice(world.of(*OUTSIDE)).company,
        "city": rng.choice(CITIES),
        "place": rng.choice(PLACES),
        "thing": rng.choice(THINGS),
    }
    speakers = [_ME, *(person.id for person in chat.members)]
    lines = [turn.format_map(slots) for turn in turns]
    if chance(rng, 0.4):
        lines.append(rng.choice(texts.SMALL_TALK))
    messages: list[_Message] = []
    speaker = you.id if chat.talks is texts.OUTSIDE_TALKS or chance(rng, 0.5) else _ME
    for line in lines:
        messages.append(_Message(speaker, line, start))
        start += datetime.timedelta(minutes=rng.randint(1, 25))
        speaker = rng.choice([one for one in speakers if one != speaker])
    return messages
