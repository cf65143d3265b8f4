"""The calendar: events, attendees, free time."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from rebind.envs.apps.api.common import (
    Row,
    booleans,
    date_or_422,
    email_or_422,
    matches,
    moment_or_422,
    new_id,
    one_or_404,
    select,
    text_or_422,
)
from rebind.envs.apps.api.common import page as page_of
from rebind.envs.apps.api.registry import ApiError, Db, api

Calendar = Literal["work", "home", "family"]

_SHORT = ("title", "start_at", "end_at", "location", "calendar", "cancelled")
_DAY = ("08:00", "18:00")
"""The hours that `free_busy` looks at."""
_MAX_REMINDER = 40_320
"""Minutes: four weeks."""


@api("calendar")
def search(  # noqa: PLR0913  (an API's parameters are its contract)
    db: Db,
    *,
    query: str = "",
    since: str | None = None,
    until: str | None = None,
    calendar: Calendar | None = None,
    attendee: str | None = None,
    include_cancelled: bool = False,
    page: int = 1,
    page_size: int = 10,
) -> JsonValue:
    """Events whose title, description or location have all words of the query, earliest first.

    since and until: dates of the start, both included. attendee: an e-mail address. Cancelled events are left out
    unless include_cancelled is true.
    Returns a page of {event_id, title, start_at, end_at, location, calendar, cancelled}.
    """
    first, last = date_or_422(since or "0001-01-01", "since"), date_or_422(until or "9999-12-31", "until")
    attended = None if attendee is None else _attended(db, attendee)
    found = [
        booleans({"event_id": row["id"], **{key: row[key] for key in _SHORT}}, "cancelled")
        for row in select(db, "SELECT * FROM events ORDER BY start_at, rowid")
        if first <= row["start_at"][: len(first)] <= last
        and calendar in (None, row["calendar"])
        and (include_cancelled or not row["cancelled"])
        and (attended is None or row["id"] in attended)
        and matches(query, row["title"], row["description"], row["location"])
    ]
    return page_of(found, page, page_size)


@api("calendar")
def show(db: Db, event_id: str) -> JsonValue:
    """A whole event.

    Returns the event with description, reminder_minutes and attendees: [{email, status}].
    """
    row = booleans(one_or_404(db, "events", event_id, "event"), "cancelled")
    query = "SELECT email, status FROM event_attendees WHERE event_id = ? ORDER BY email"
    row["attendees"] = select(db, query, (event_id,))
    return {"event_id": row.pop("id"), **row}


@api("calendar", writes=True)
def create(
    db: Db,
    *,
    title: str,
    start_at: str,
    end_at: str,
    location: str = "",
    description: str = "",
    calendar: Calendar = "work",
    attendees: list[str] = [],  # noqa: B006  (never changed; the default is documentation)
) -> JsonValue:
    """Creates an event; times like 2026-03-14T09:30, attendees: e-mail addresses to invite.

    Returns {event_id}.
    """
    text_or_422(title, "title")
    _check_span(start_at, end_at)
    emails = dict.fromkeys(email_or_422(address, "attendees") for address in attendees)
    event_id = new_id(db, "events", "evt")
    row = (event_id, title, start_at, end_at, location, description, calendar, None, 0)
    db.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    for email in emails:
        db.execute("INSERT INTO event_attendees VALUES (?, ?, 'invited')", (event_id, email))
    return {"event_id": event_id}


@api("calendar", writes=True)
def update(
    db: Db,
    event_id: str,
    title: str | None = None,
    location: str | None = None,
    description: str | None = None,
    reminder_minutes: int | None = None,
) -> JsonValue:
    """Changes the given details of an event; its time is changed by calendar_reschedule.

    Returns {event_id}.
    """
    _live(db, event_id)
    given = {
        "title": title, "location": location, "description": description, "reminder_minutes": reminder_minutes,
    }  # fmt: skip
    changes: Row = {name: value for name, value in given.items() if value is not None}
    if not changes:
        raise ApiError(422, "nothing to change: give at least one detail")
    if title is not None:
        text_or_422(title, "title")
    if reminder_minutes is not None and not 0 <= reminder_minutes <= _MAX_REMINDER:
        raise ApiError(422, f"reminder_minutes must be between 0 and {_MAX_REMINDER}, not {reminder_minutes}")
    assignments = ", ".join(f"{name} = ?" for name in changes)
    db.execute(f"UPDATE events SET {assignments} WHERE id = ?", (*changes.values(), event_id))
    return {"event_id": event_id}


@api("calendar", writes=True)
def reschedule(db: Db, event_id: str, start_at: str, end_at: str) -> JsonValue:
    """Moves an event to another time; attendees stay.

    Returns {event_id, start_at, end_at}.
    """
    _live(db, event_id)
    _check_span(start_at, end_at)
    db.execute("UPDATE events SET start_at = ?, end_at = ? WHERE id = ?", (start_at, end_at, event_id))
    return {"event_id": event_id, "start_at": start_at, "end_at": end_at}


@api("calendar", writes=True)
def cancel(db: Db, event_id: str) -> JsonValue:
    """Cancels an event; it stays on record as cancelled.

    Returns {event_id, cancelled}.
    """
    _live(db, event_id)
    db.execute("UPDATE events SET cancelled = 1 WHERE id = ?", (event_id,))
    return {"event_id": event_id, "cancelled": True}


@api("calendar", writes=True)
def invite(db: Db, event_id: str, email: str) -> JsonValue:
    """Invites one more person to an event.

    Returns {event_id, email, status}.
    """
    _live(db, event_id)
    email_or_422(email, "email")
    if _is_invited(db, event_id, email):
        raise ApiError(422, f"{email} is already invited to {event_id}")
    db.execute("INSERT INTO event_attendees VALUES (?, ?, 'invited')", (event_id, email))
    return {"event_id": event_id, "email": email, "status": "invited"}


@api("calendar", writes=True)
def uninvite(db: Db, event_id: str, email: str) -> JsonValue:
    """Takes a person off an event.

    Returns {event_id, email}.
    """
    _live(db, event_id)
    if not _is_invited(db, event_id, email):
        raise ApiError(404, f"{email!r} is not invited to {event_id}")
    db.execute("DELETE FROM event_attendees WHERE event_id = ? AND email = ?", (event_id, email))
    return {"event_id": event_id, "email": email}


@api("calendar")
def free_busy(db: Db, date: str) -> JsonValue:
    """Busy and free times of a day between 08:00 and 18:00.

    Returns {date, busy: [{event_id, title, start, end}], free: [{start, end}]}; times like 09:30.
    """
    date_or_422(date, "date")
    opening, closing = (f"{date}T{hour}" for hour in _DAY)
    query = "SELECT id, title, start_at, end_at FROM events WHERE NOT cancelled AND start_at < ? AND end_at > ?"
    events = select(db, f"{query} ORDER BY start_at, rowid", (closing, opening))
    busy: list[JsonValue] = []
    free: list[JsonValue] = []
    until = opening
    for event in events:
        start, end = max(event["start_at"], opening), min(event["end_at"], closing)
        busy.append({"event_id": event["id"], "title": event["title"], "start": start[-5:], "end": end[-5:]})
        if start > until:
            free.append({"start": until[-5:], "end": start[-5:]})
        until = max(until, end)
    if until < closing:
        free.append({"start": until[-5:], "end": closing[-5:]})
    return {"date": date, "busy": busy, "free": free}


def _check_span(start_at: str, end_at: str) -> None:
    moment_or_422(start_at, "start_at")
    moment_or_422(end_at, "end_at")
    if end_at <= start_at:
        raise ApiError(422, f"end_at {end_at} must be later than start_at {start_at}")


def _live(db: Db, event_id: str) -> Row:
    row = one_or_404(db, "events", event_id, "event")
    if row["cancelled"]:
        raise ApiError(422, f"{event_id} is cancelled")
    return row


def _is_invited(db: Db, event_id: str, email: str) -> bool:
    query = "SELECT 1 FROM event_attendees WHERE event_id = ? AND email = ?"
    return db.execute(query, (event_id, email)).fetchone() is not None


def _attended(db: Db, email: str) -> set[str]:
    query = "SELECT event_id FROM event_attendees WHERE lower(email) = lower(?)"
    return {row["event_id"] for row in select(db, query, (email,))}
