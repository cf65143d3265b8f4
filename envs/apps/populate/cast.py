"""Who and when a populator writes about: the contacts, the person's profile, the world's date, moments in the past."""

from __future__ import annotations

import datetime
import random
import sqlite3
from dataclasses import dataclass

PRIVATE = ("family", "friend", "neighbour")
STAFF = ("colleague", "manager")
OUTSIDE = ("client", "vendor")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


@dataclass(frozen=True)
class Person:
    """A contact."""

    id: str
    first: str
    name: str
    """First and last name."""
    email: str
    relation: str
    company: str
    street: str
    city: str


@dataclass(frozen=True)
class Cast:
    """The people of a world and its date, with the draws on them that several populators need."""

    rng: random.Random
    people: list[Person]
    profile: dict[str, str]
    today: datetime.date

    def of(self, *relations: str) -> list[Person]:
        """The contacts of those relations, in the order of the address book."""
        return [person for person in self.people if person.relation in relations]

    def day(self, first: int, last: int) -> datetime.date:
        """A date between `first` and `last` days from today (negative: in the past)."""
        return self.today + datetime.timedelta(days=self.rng.randint(first, last))

    def past(self, days: int, *, working: bool = False) -> datetime.datetime:
        """A moment of waking hours within so many days before today; with `working` not on a weekend."""
        day = self.day(-days, -1)
        if working and day.weekday() >= 5:
            day -= datetime.timedelta(days=2)
        return self._awake(day)

    def between(self, start: datetime.datetime) -> datetime.datetime:
        """A moment after `start`, which lies before today, and before today."""
        day = self.today - datetime.timedelta(days=self.rng.randint(1, max((self.today - start.date()).days, 1)))
        return max(self._awake(day), start + datetime.timedelta(minutes=self.rng.randint(3, 50)))

    def figures(self, around: datetime.date) -> dict[str, str]:
        """One draw of the slots that texts fill with numbers: day (ISO, up to six weeks after `around`), hour, amount,
        number (of an invoice or booking), code (four digits), few (2 to 9), many (10 to 60), month (the next four)."""
        rng = self.rng
        return {
            "day": (around + datetime.timedelta(days=rng.randint(1, 42))).isoformat(),
            "hour": f"{rng.randint(8, 19)}:{rng.choice(('00', '15', '30', '45'))}",
            "amount": euros(rng.randrange(800, 90_000, 50)),
            "number": f"{rng.choice('ABKRT')}-{rng.randint(10_000, 99_999)}",
            "code": str(rng.randint(1_000, 9_999)),
            "few": str(rng.randint(2, 9)),
            "many": str(rng.randint(10, 60)),
            "month": MONTHS[(around.month + rng.randrange(4)) % 12],
        }

    def _awake(self, day: datetime.date) -> datetime.datetime:
        return datetime.datetime.combine(day, datetime.time(self.rng.randint(7, 22), self.rng.randrange(60)))


def cast(db: sqlite3.Connection, rng: random.Random) -> Cast:
    """Reads the cast of a world whose `people` are populated."""
    columns = "id, first_name, first_name || ' ' || last_name, email, relation, company, street, city"
    people = [Person(*row) for row in db.execute(f"SELECT {columns} FROM contacts ORDER BY rowid")]
    profile = dict(db.execute("SELECT key, value FROM profile"))
    return Cast(rng, people, profile, datetime.date.fromisoformat(profile["today"]))


def stamp(moment: datetime.datetime) -> str:
    """A moment as the database has it: 2026-03-14T09:30."""
    return moment.isoformat(timespec="minutes")


def euros(cents: int) -> str:
    """An amount in a text: 1234 is "12.34 EUR"."""
    return f"{cents // 100}.{cents % 100:02} EUR"
