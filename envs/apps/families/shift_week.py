"""Put off all events of a project in one week, and write to those of their attendees who have not declined."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from rebind.envs.apps.families.base import Drawn, Expected, Family, Grounded
from rebind.envs.apps.families.draw import Bound, choice, people, phrase
from rebind.envs.apps.families.effects import Added, Changed, Effect, has, says
from rebind.envs.apps.families.evidence import saw
from rebind.envs.apps.families.oracle import Oracle, finish, login
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import View

PROJECTS = "Albatross | Bittern | Cormorant | Dunlin | Eider | Fulmar | Goldcrest"
WEEK = (
    ("budget", 0, "09:00", 45), ("design", 0, "14:00", 90), ("interviews", 1, "10:30", 120), ("legal", 2, "08:15", 30),
    ("pricing", 2, "15:00", 60), ("retrospective", 3, "11:00", 50), ("staffing", 4, "13:30", 75),
)  # fmt: skip
"""Subject, day of the week (Monday is 0), begin and minutes of the meetings that a project has each week."""
WEEKS = 4
DAYS = {1: "one day", 2: "two days", 3: "three days", 7: "a week"}
EVENTS = (
    "SELECT * FROM events WHERE title LIKE ? || ': %' AND date(start_at) BETWEEN ? AND date(?, '+6 days') AND "
    "NOT cancelled ORDER BY start_at"
)
COMING = "SELECT email FROM event_attendees WHERE event_id = ? AND status != 'declined'"


class ShiftWeek(Family):
    id = "apps/put-off-project-week"
    group = "21-35"
    tools = "calendar_search calendar_show calendar_reschedule calendar_update calendar_cancel mail_send mail_reply"
    drawn = (
        Drawn("project", "entity", choice(PROJECTS), central=True),
        Drawn("monday", "date", lambda v, rng, _: rng.choice(mondays(v.today))),
        Drawn("days", "parameter", choice(tuple(DAYS)), show=lambda days: DAYS[days]),
        Drawn(
            "message",
            "parameter",
            phrase(
                "{why}, {ask}.",
                why="The room is taken | The lift is being repaired | I am ill | The figures are late",
                ask="excuse the short notice | please confirm | see you later then | tell your teams",
            ),
        ),
        Drawn("team", "user", people(6)),
    )
    grounded = (Grounded("events", "record", lambda v, b: v.column(EVENTS, b.project, b.monday, b.monday)),)
    wordings = (
        'All my events titled "{project}: …" in the week from Monday {monday} take place {days} later, at the same '
        "time of day and for as long as before. Move them, and send one mail per event to all of its attendees who "
        'have not declined, with the subject "Moved: <title of the event>" and the text "{message}"',
        'Put off what my calendar has for {project} (titles that begin with "{project}:") in the week of Monday '
        "{monday} by {days}, times and lengths unchanged. For each event, write one mail to its attendees, except "
        'to those who declined: subject "Moved: <event title>", text "{message}"',
        "Please reschedule every event of the week from Monday {monday} to Sunday whose title starts with "
        '"{project}:": it begins and ends {days} later. Everybody on its attendee list who did not decline gets a '
        'mail, one mail for each event, to all together. The subject is "Moved: " and the title, the text is '
        '"{message}"',
    )

    def setup(self, p: Plant, b: Bound) -> None:
        emails = [p.person(name)["email"] for name in b.team]
        for monday in map(date.fromisoformat, mondays(p.today)):
            for subject, weekday, begin, minutes in WEEK:
                start = f"{monday + timedelta(days=weekday)}T{begin}"
                self._meet(p, f"{b.project}: {subject}", start, minutes, p.rng.sample(emails, 4))
                if weekday == 2:
                    self._meet(p, f"{b.project}: {subject} with all", start, minutes, emails, cancelled=1)
                    self._meet(p, f"Prepare {b.project}: {subject}", start, 15, [])

    def _meet(self, p: Plant, title: str, start: str, minutes: int, emails: list[str], cancelled: int = 0) -> None:
        event = p.add("events", title=title, start_at=start, end_at=later(start, minutes=minutes), cancelled=cancelled)
        for i, email in enumerate(emails):
            status = ("declined", "accepted", "invited")[i] if i < 3 else p.rng.choice(("accepted", "declined"))
            p.add("event_attendees", event_id=event, email=email, status=status)

    def oracle(self, b: Bound) -> Oracle:
        calendar, mail = (yield from login("calendar")), (yield from login("mail"))
        sunday = (date.fromisoformat(b.monday) + timedelta(days=6)).isoformat()
        found = yield from calendar.every("search", query=b.project, since=b.monday, until=sunday)
        for one in [e for e in found if e["title"].startswith(f"{b.project}: ")]:
            event = yield from calendar("show", event_id=one["event_id"])
            start, end = (later(event[name], days=b.days) for name in ("start_at", "end_at"))
            yield from calendar("reschedule", event_id=event["event_id"], start_at=start, end_at=end)
            to = [a["email"] for a in event["attendees"] if a["status"] != "declined"]
            yield from mail("send", to=to, subject=f"Moved: {event['title']}", body=b.message)
        yield from finish()

    def expect(self, start: View, b: Bound) -> Expected:
        effects = list[Effect]()
        for i, event in enumerate(start.rows(EVENTS, b.project, b.monday, b.monday), 1):
            begin, end = (later(event[name], days=b.days) for name in ("start_at", "end_at"))
            mark = f"moved-{i}: moved {event['title']}"
            effects.append(Changed("events", event["id"], start_at=begin, end_at=end, mark=mark))
            to, subject = set(start.column(COMING, event["id"])), says(f"Moved: {event['title']}")
            effects.append(
                Added(
                    "mails",
                    folder="sent",
                    recipients=lambda value, to=to: set(value.split(", ")) == to,
                    subject=subject,
                    body=has(b.message),
                    mark=f"told-{i}: wrote to those who come to {event['title']}",
                )
            )
        return Expected(effects=effects, marks=(saw("found-events: found the events of that week", *b.events),))


def mondays(today: str) -> list[str]:
    """The Mondays of the weeks that have such events."""
    day = date.fromisoformat(today)
    first = day + timedelta(days=7 - day.weekday())
    return [(first + timedelta(weeks=week)).isoformat() for week in range(WEEKS)]


def later(moment: str, **delta: int) -> str:
    return (datetime.fromisoformat(moment) + timedelta(**delta)).isoformat(timespec="minutes")
