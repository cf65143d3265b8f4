"""Move one of several appointments of a kind to another day, and say where it is."""

from __future__ import annotations

from datetime import datetime, timedelta

from rebind.envs.apps.families.base import Drawn, Expected, Family, Grounded
from rebind.envs.apps.families.draw import Bound, choice, day, phrase
from rebind.envs.apps.families.effects import Changed, says
from rebind.envs.apps.families.evidence import called, saw
from rebind.envs.apps.families.oracle import Oracle, finish, login, only
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import View

KINDS = (
    "Bike service | Boiler check | Eye test | Haircut | Notary | Passport photo | Physiotherapy | Piano tuning | Tax "
    "adviser | Tyre change | Vaccination"
)
DAYS = (4, 9, 15, 23)
"""Days from today that have such an appointment."""
ON_DAY = "SELECT id FROM events WHERE title = ? AND substr(start_at, 1, 10) = ? AND NOT cancelled"


class MoveAppointment(Family):
    id = "apps/move-appointment-and-place-it"
    group = "5-10"
    tools = "calendar_search calendar_show calendar_reschedule calendar_update calendar_create"
    drawn = (
        Drawn("appointment", "entity", choice(KINDS), central=True),
        Drawn("on_day", "date", lambda v, rng, b: day(*[rng.choice(DAYS)] * 2)(v, rng, b)),
        Drawn("new_day", "date", day(30, 50)),
        Drawn(
            "place",
            "location",
            phrase(
                "{number} {street}, {floor}",
                number="11 | 24 | 37 | 58 | 63",
                street="Canal Row | Foundry Lane | Market Arcade | Station Parade",
                floor="ground floor | first floor | second floor | rear building",
            ),
        ),
        Drawn("begins", "state", choice("08:20 | 09:40 | 10:50 | 13:10 | 14:35 | 16:05")),
        Drawn("minutes", "state", choice((20, 40, 55, 75))),
    )
    grounded = (Grounded("event", "record", lambda v, b: v.value(ON_DAY, b.appointment, b.on_day)),)
    wordings = (
        'My appointment "{appointment}" on {on_day} moves to {new_day}, at the same time of day and for as long as '
        'before. Change it in my calendar, and enter "{place}" as its location.',
        'Please move the "{appointment}" that I have on {on_day} to {new_day}. Its time and length stay the same; '
        'its location is "{place}".',
        'Reschedule "{appointment}" in my calendar from {on_day} to {new_day}, keeping start time and length, and '
        'set the location to "{place}".',
    )

    def setup(self, p: Plant, b: Bound) -> None:
        for offset in DAYS:
            time, minutes = (b.begins, b.minutes) if p.day(offset) == b.on_day else ("11:30", 45)
            start = p.moment(offset, time)
            p.add("events", title=b.appointment, start_at=start, end_at=later(start, minutes), calendar="home")
        start = f"{b.on_day}T17:15"
        for title, cancelled in ((b.appointment, 1), (f"{b.appointment} for the neighbours", 0)):
            p.add("events", title=title, start_at=start, end_at=later(start, 30), calendar="home", cancelled=cancelled)

    def oracle(self, b: Bound) -> Oracle:
        calendar = yield from login("calendar")
        found = yield from calendar.every("search", query=b.appointment, since=b.on_day, until=b.on_day)
        event = only([e for e in found if e["title"] == b.appointment], b.appointment)
        start, end = (f"{b.new_day}{event[name][10:]}" for name in ("start_at", "end_at"))
        yield from calendar("reschedule", event_id=event["event_id"], start_at=start, end_at=end)
        yield from calendar("update", event_id=event["event_id"], location=b.place)
        yield from finish()

    def expect(self, start: View, b: Bound) -> Expected:
        begins = f"{b.new_day}T{b.begins}"
        moved = Changed(
            "events",
            b.event,
            start_at=begins,
            end_at=later(begins, b.minutes),
            mark="moved: it has its new day at the old time",
        )
        return Expected(
            effects=(moved, Changed("events", b.event, location=says(b.place), mark="placed: it has its location")),
            marks=(
                saw("found-event: found the appointment of that day", b.event),
                called("rescheduled: gave it another time", "calendar_reschedule", event_id=b.event),
            ),
        )


def later(moment: str, minutes: int) -> str:
    return (datetime.fromisoformat(moment) + timedelta(minutes=minutes)).isoformat(timespec="minutes")
