"""Which of several namesakes is down for the most sessions of a course in a month."""

from __future__ import annotations

import random
from datetime import date, timedelta
from typing import Any

from rebind.envs.apps.families.answers import Text
from rebind.envs.apps.families.base import Drawn, Expected, Family, Grounded
from rebind.envs.apps.families.draw import Bound, choice, column, integer, words
from rebind.envs.apps.families.evidence import saw
from rebind.envs.apps.families.oracle import Oracle, finish, login
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import View

COURSES = words(
    "Ceramics course | Debate practice | Fencing lesson | Life drawing | Rowing training | Sign language class | Swing "
    "dance | Woodturning"
)
MONTHS = 4
"""So many whole months from the next one on have sessions."""
TURNOUT = (5, 3, 2, 1, 0)
"""Of the six sessions a month, how many the leading namesake is down for, the next one, and so on."""
FIRSTS = (
    "SELECT first_name FROM contacts GROUP BY first_name HAVING count(*) BETWEEN 3 AND 5 AND "
    "count(DISTINCT last_name) = count(*) ORDER BY first_name"
)
NAMESAKES = "SELECT email FROM contacts WHERE first_name = ? ORDER BY id"
SESSIONS = (
    "SELECT event_id FROM event_attendees JOIN events ON id = event_id WHERE email = ? AND title = ? AND start_at LIKE "
    "? || '-%' AND NOT cancelled"
)


class MostSessions(Family):
    id = "apps/busiest-namesake-question"
    group = "5-10"
    tools = "contacts_search contacts_show calendar_search calendar_show"
    drawn = (
        Drawn("first", "user", column(FIRSTS), central=True),
        Drawn("course", "entity", choice(COURSES)),
        Drawn(
            "month",
            "date",
            lambda v, rng, _: coming_month(v, rng),
            show=lambda value: f"{date.fromisoformat(value + '-01'):%B %Y}",
        ),
        Drawn("lead", "state", integer(0, 4)),
    )
    grounded = (Grounded("addresses", "user", lambda v, b: v.column(NAMESAKES, b.first)),)
    wordings = (
        'I know several people called {first}. Which of them is on the attendee list of the most "{course}" events '
        "in my calendar in {month}? Only events of exactly that title count, and no cancelled ones; it does not "
        "matter whether the invitation was accepted. Answer with the first and last name alone.",
        'Take all my contacts whose first name is {first}: who of them attends the most events titled "{course}" '
        "in {month}? Everyone in the list of attendees counts, whatever they replied. Leave out cancelled events "
        "and those of another title. I want just the full name.",
        'In {month} my calendar has a number of "{course}" events (that exact title). Tell me the full name, and '
        "nothing else, of the {first} among my contacts who is listed as an attendee of more of them than any "
        "other {first}, however they responded. What is cancelled is not counted.",
    )

    def setup(self, p: Plant, b: Bound) -> None:
        for first in months(p.today):
            emails = ranked(p, b, f"{first:%Y-%m}")
            last = (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
            for i, day in enumerate((first, *(first.replace(day=d) for d in (7, 12, 17, 22)), last)):
                down = [email for email, most in zip(emails, TURNOUT, strict=False) if (i - first.month) % 6 < most]
                self._session(p, b.course, day, down)
            for day in [first.replace(day=d) for d in (10, 20, 25)]:  # with these the second would be ahead
                self._session(p, b.course, day, emails[1:2], cancelled=1)
                self._session(p, f"{b.course}: committee", day, emails[1:2])

    def _session(self, p: Plant, title: str, day: date, emails: list[str], cancelled: int = 0) -> None:
        times = {"start_at": f"{day}T18:30", "end_at": f"{day}T20:00", "calendar": "home", "cancelled": cancelled}
        event = p.add("events", title=title, location="Adult education centre", **times)
        for email in emails:
            status = p.rng.choice(("accepted", "invited"))
            p.add("event_attendees", event_id=event, email=email, status=status)

    def oracle(self, b: Bound) -> Oracle:
        contacts = yield from login("contacts")
        found = yield from contacts.every("search", query=b.first)
        calendar = yield from login("calendar")
        first = date.fromisoformat(f"{b.month}-01")
        last = (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
        period = {"since": first.isoformat(), "until": last.isoformat()}
        counts: dict[str, int] = {}
        for who in [c for c in found if c["first_name"] == b.first]:
            events = yield from calendar.every("search", query=b.course, attendee=who["email"], **period)
            name = f"{who['first_name']} {who['last_name']}"
            counts[name] = sum(event["title"] == b.course for event in events)
        yield from finish(max(counts, key=lambda name: counts[name]))

    def expect(self, start: View, b: Bound) -> Expected:
        email, sessions = busiest(start, b)
        name = "SELECT first_name || ' ' || last_name FROM contacts WHERE email = ?"
        return Expected(
            answer=Text(start.value(name, email)),
            marks=(
                saw("found-people: found everyone of that first name", *b.addresses),
                saw("found-sessions: found the sessions of the busiest in that month", *sessions),
            ),
        )


def months(today: str) -> list[date]:
    """The first days of the coming months."""
    first, found = date.fromisoformat(today).replace(day=1), list[date]()
    for _ in range(MONTHS):
        first = (first + timedelta(days=31)).replace(day=1)
        found.append(first)
    return found


def coming_month(view: View, rng: random.Random) -> str:
    return f"{rng.choice(months(view.today)):%Y-%m}"


def ranked(view: View, b: Bound, month: str) -> list[str]:
    """Addresses of the namesakes in the order of their turnout in a month: another one leads the next month."""
    emails = view.column(NAMESAKES, b.first)
    lead = (b.lead + int(month[-2:]) + COURSES.index(b.course)) % len(emails)
    return emails[lead:] + emails[:lead]


def busiest(view: View, b: Bound) -> tuple[str, list[Any]]:
    """Address and sessions of the namesake with the most of them."""
    sessions = {email: view.column(SESSIONS, email, b.course, b.month) for email in view.column(NAMESAKES, b.first)}
    email = max(sessions, key=lambda one: len(sessions[one]))
    return email, sessions[email]
