"""Calendar events: series that look recurring (each occurrence is an event of its own), one-off events, moved and
cancelled ones, from 18 weeks before the world's date to 8 weeks after."""

from __future__ import annotations

import datetime
import random
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace

from rebind.envs.apps.populate import chance, ids, insert
from rebind.envs.apps.populate.cast import Cast, Person, cast, stamp
from rebind.envs.apps.populate.names import PROJECTS, TABLES

_BEFORE, _AFTER = 126, 56
"""Days of calendar before and after the world's date."""
_ROOMS = (
    "Room Amber", "Room Basalt", "Room Cedar", "Room Delta", "Meeting box 2", "Meeting box 3", "Video call",
    "Canteen", "Auditorium",
)  # fmt: skip
_PLACES = ("Sports hall", "City pool", "Community centre", "Music school")
_WEEKLY = (  # title, calendar, weekday, hour, minutes
    ("Team meeting", "work", 0, 10, 60), ("Sprint review", "work", 4, 14, 60), ("Planning", "work", 1, 9, 45),
    ("Choir rehearsal", "home", 2, 19, 120), ("Judo", "home", 3, 18, 60), ("Yoga class", "family", 5, 10, 45),
    ("Football practice", "family", 2, 17, 90), ("Pilates", "home", 0, 18, 60), ("Support hand-over", "work", 3, 9, 30),
)  # fmt: skip
_PROJECT_EVENTS = (
    "Project {project} kick-off", "Project {project} status", "Project {project} risk review",
    "Project {project} design review", "Project {project} demo", "Project {project} retrospective",
    "{project} budget check", "{project} vendor selection", "Workshop: {project} roadmap", "Interview for {project}",
)  # fmt: skip
_CLIENT_EVENTS = (
    "Call with {person} ({company})", "{company}: contract talks", "Lunch with {person}", "{company} quarterly review",
    "On-site visit at {company}",
)  # fmt: skip
_PRIVATE_EVENTS = (  # title, calendar, hour, minutes, places
    ("Dinner with {person}", "home", 19, 120, TABLES),
    ("Coffee with {person}", "home", 16, 60, TABLES),
    ("Brunch with {person}", "home", 11, 120, TABLES),
    ("Dentist", "home", 8, 45, ("Practice Dr. Lindqvist", "Practice at the market")),
    ("Haircut", "home", 17, 45, ("Salon Verve",)),
    ("Car inspection", "home", 8, 60, ("Garage Hollis",)),
    ("Vet appointment", "home", 9, 30, ("Animal clinic",)),
    ("Parents' evening", "family", 19, 90, ("Riverside school",)),
    ("Piano recital", "family", 17, 60, ("Music school", "Old Mill Theatre")),
    ("Cinema with {person}", "family", 20, 150, ("Lux cinema", "Palace cinema")),
    ("Walk with {person}", "family", 15, 120, ("Botanical garden", "Lake path")),
    ("Help {person} with moving", "home", 10, 240, ("",)),
)
_DESCRIPTIONS = (
    "Agenda follows the day before.", "Bring the printed figures.", "Dial-in details are in the invitation.",
    "{person} takes the minutes.", "Please read the draft beforehand.", "Parking is behind the building.",
    "Decide on the open points of last time.", "Slides are with {person}.",
)  # fmt: skip


@dataclass(frozen=True)
class _Event:
    title: str
    start: datetime.datetime
    minutes: int
    location: str
    calendar: str
    people: tuple[Person, ...] = ()
    description: str = ""
    cancelled: bool = False


def populate(db: sqlite3.Connection, rng: random.Random) -> None:
    """Writes about 300 events and their attendees."""
    known = cast(db, rng)
    days = [known.today + datetime.timedelta(days=offset) for offset in range(-_BEFORE, _AFTER)]
    events = [*_series(known, days), *_projects(known, days), *_meetings(known, days), *_private(known, days)]
    events += _doubles(rng, events)
    events = sorted((_cancelled(rng, event) for event in events), key=lambda event: (event.start, event.title))
    _write(db, rng, events, known.today)


def _at(day: datetime.date, hour: int, minute: int = 0) -> datetime.datetime:
    return datetime.datetime.combine(day, datetime.time(hour, minute))


def _series(known: Cast, days: list[datetime.date]) -> Iterator[_Event]:
    """Five weekly series, two weekly one-to-ones and a monthly review: here and there an occurrence is missing."""
    rng = known.rng
    colleagues = known.of("colleague", "manager")
    chosen = rng.sample(_WEEKLY, 5)
    one_to_ones = rng.sample(colleagues, 2)
    rows = [(*row, tuple(rng.sample(colleagues, 5)) if row[1] == "work" else ()) for row in chosen]
    rows += [(f"1:1 {who.first}", "work", rng.randrange(5), rng.randint(11, 15), 30, (who,)) for who in one_to_ones]
    for title, calendar, weekday, hour, minutes, attendees in rows:
        place = rng.choice(_ROOMS if calendar == "work" else _PLACES)
        for day in days:
            if day.weekday() == weekday and not chance(rng, 0.08):
                yield _Event(title, _at(day, hour), minutes, place, calendar, attendees)
    board = tuple(rng.sample(colleagues, 4))
    for day in days:
        if day.weekday() == 1 and day.day <= 7:
            yield _Event("Monthly budget review", _at(day, 15), 90, "Auditorium", "work", board)


def _projects(known: Cast, days: list[datetime.date]) -> Iterator[_Event]:
    rng = known.rng
    staff = known.of("colleague", "manager", "vendor")
    for project in rng.sample(PROJECTS, 5):
        team = rng.sample(staff, 6)
        for template in rng.sample(_PROJECT_EVENTS, 8):
            attendees = tuple(rng.sample(team, rng.randint(2, 5)))
            yield _workday(rng, days, template.format(project=project), attendees, rng.choice(_ROOMS))


def _meetings(known: Cast, days: list[datetime.date]) -> Iterator[_Event]:
    rng = known.rng
    for _ in range(40):
        client = rng.choice(known.of("client", "vendor"))
        title = rng.choice(_CLIENT_EVENTS).format(person=client.name, company=client.company)
        lunch = title.startswith("Lunch")
        place, hours = (rng.choice(TABLES), (12, 13)) if lunch else (rng.choice(_ROOMS), (8, 16))
        yield _workday(rng, days, title, (client,), place, hours)


def _workday(
    rng: random.Random,
    days: list[datetime.date],
    title: str,
    attendees: tuple[Person, ...],
    place: str,
    hours: tuple[int, int] = (8, 16),
) -> _Event:
    day = rng.choice([day for day in days if day.weekday() < 5])
    start = _at(day, rng.randint(*hours), rng.choice((0, 0, 15, 30)))
    words = rng.choice(_DESCRIPTIONS).format(person=attendees[0].name) if chance(rng, 0.5) else ""
    return _Event(title, start, rng.choice((30, 45, 60, 90)), place, "work", attendees, words)


def _private(known: Cast, days: list[datetime.date]) -> Iterator[_Event]:
    rng = known.rng
    circle = known.of("family", "friend", "neighbour")
    for _ in range(64):
        title, calendar, hour, minutes, places = rng.choice(_PRIVATE_EVENTS)
        who = rng.choice(known.of("family") if calendar == "family" else circle)
        attendees = (who,) if "{person}" in title else ()
        start = _at(rng.choice(days), hour, rng.choice((0, 30)))
        yield _Event(title.format(person=who.name), start, minutes, rng.choice(places), calendar, attendees)


def _doubles(rng: random.Random, events: list[_Event]) -> list[_Event]:
    """A second event of almost the same title, some days later: the wrong but plausible one."""
    doubles = []
    for event in rng.sample([event for event in events if event.people], 14):
        ending = rng.choice(("", " (new date)", " (follow-up)", " II"))
        later = event.start + datetime.timedelta(days=rng.randint(1, 12), hours=rng.choice((-1, 0, 1)))
        doubles.append(replace(event, title=event.title + ending, start=later))
    return doubles


def _cancelled(rng: random.Random, event: _Event) -> _Event:
    return replace(event, cancelled=chance(rng, 0.06))


def _write(db: sqlite3.Connection, rng: random.Random, events: list[_Event], today: datetime.date) -> None:
    keys = ids(rng, "evt", len(events))
    rows, attendees = [], []
    for key, event in zip(keys, events, strict=True):
        end = event.start + datetime.timedelta(minutes=event.minutes)
        rows.append(
            {
                "id": key,
                "title": event.title,
                "start_at": stamp(event.start),
                "end_at": stamp(end),
                "location": event.location,
                "description": event.description,
                "calendar": event.calendar,
                "reminder_minutes": rng.choice((None, 10, 15, 30, 60)),
                "cancelled": int(event.cancelled),
            }
        )
        past = event.start.date() < today
        answers = ("accepted", "accepted", "accepted", "declined") if past else ("invited", "accepted", "declined")
        attendees += [
            {"event_id": key, "email": person.email, "status": rng.choice(answers)} for person in event.people
        ]
    insert(db, "events", rows)
    insert(db, "event_attendees", attendees)
