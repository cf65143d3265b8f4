"""Mails: threads with the contacts, newsletters, notices and drafts, with labels and attached files."""

from __future__ import annotations

import datetime
import random
import sqlite3
from dataclasses import dataclass, field

from rebind.envs.apps.populate import chance, ids, insert
from rebind.envs.apps.populate import mail_texts as texts
from rebind.envs.apps.populate.cast import Cast, Person, cast, euros, stamp
from rebind.envs.apps.populate.names import CITIES, PLACES, PROJECTS, TABLES, THINGS

_THREADS, _NEWSLETTERS, _NOTICES, _DRAFTS = 200, 84, 70, 12
_PAST_DAYS = 150
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")


@dataclass
class _Mail:
    folder: str
    sender: str
    recipients: str
    subject: str
    body: str
    sent: datetime.datetime
    read: bool = True
    answers: _Mail | None = None
    labels: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Writer:
    """Who writes to whom in this world, and the draws that fill a text."""

    cast: Cast
    me: Person
    files: list[str]

    @property
    def rng(self) -> random.Random:
        return self.cast.rng

    @property
    def noon(self) -> datetime.datetime:
        """The world's clock: every mail is older."""
        return datetime.datetime.combine(self.cast.today, datetime.time(12))

    def slots(self, you: Person, when: datetime.datetime) -> dict[str, str]:
        """One set of values for a whole thread; dates lie around its first mail."""
        rng = self.rng
        ahead = when.date() + datetime.timedelta(days=rng.randint(2, 30))
        date = ahead - datetime.timedelta(days=max(0, ahead.weekday() - 4))  # no weekends
        return {
            "other": rng.choice([person for person in self.cast.people if person != you]).name,
            "project": rng.choice(PROJECTS),
            "company": you.company,
            "day": _WEEKDAYS[date.weekday()],
            "date": date.isoformat(),
            "past": (when.date() - datetime.timedelta(days=rng.randint(1, 6))).isoformat(),
            "hour": f"{rng.randint(9, 19)}:{rng.choice(('00', '15', '30'))}",
            "amount": euros(rng.randrange(1_200, 98_000, 50)),
            "number": f"{rng.choice('ABKRT')}-{rng.randint(10_000, 99_999)}",
            "place": rng.choice(PLACES),
            "table": rng.choice(TABLES),
            "city": rng.choice(CITIES),
            "thing": rng.choice(THINGS),
        }

    def moment(self) -> datetime.datetime:
        """A time in the past, more of them lately."""
        days = min(self.rng.randrange(_PAST_DAYS), self.rng.randrange(_PAST_DAYS))
        minutes = self.rng.randint(7 * 60, 21 * 60)
        start = self.noon.replace(hour=0) - datetime.timedelta(days=days + 1)
        return start + datetime.timedelta(minutes=minutes)

    def letter(self, core: str, author: Person, reader: Person, slots: dict[str, str]) -> str:
        """A text with greeting and closing."""
        greeting, closing = self.rng.choice(texts.GREETINGS), self.rng.choice(texts.CLOSINGS)
        names = {"me": author.name, "my_first": author.first, "your_first": reader.first}
        return f"{greeting}\n\n{core}\n\n{closing}".format(**slots, **names)


def populate(db: sqlite3.Connection, rng: random.Random) -> None:
    """Writes about 700 mails."""
    writer = _writer(db, rng)
    mails = [mail for _ in range(_THREADS) for mail in _thread(writer)]
    mails += [_newsletter(writer) for _ in range(_NEWSLETTERS)]
    mails += [_notice(writer) for _ in range(_NOTICES)]
    mails += [_draft(writer) for _ in range(_DRAFTS)]
    mails.sort(key=lambda mail: mail.sent)
    _write(db, rng, mails)


def _writer(db: sqlite3.Connection, rng: random.Random) -> _Writer:
    known = cast(db, rng)
    line = known.profile
    me = Person("", line["name"].split()[0], line["name"], line["email"], "", "", line["address"], line["city"])
    files = [row[0] for row in db.execute("SELECT id FROM files ORDER BY path")]
    return _Writer(known, me, files)


def _thread(writer: _Writer) -> list[_Mail]:
    rng = writer.rng
    topic = rng.choice(texts.TOPICS)
    you = rng.choice(writer.cast.of(*topic.relations))
    when = writer.moment()
    slots = writer.slots(you, when)
    subject = rng.choice(topic.subjects).format(**slots)
    turns = [rng.choice(topic.openings)]
    turns += rng.sample(topic.answers, min(len(topic.answers), rng.choice((0, 1, 1, 2, 2, 3))))
    authors = [writer.me, you] if chance(rng, 0.35) else [you, writer.me]
    thread: list[_Mail] = []
    for number, turn in enumerate(turns):
        author, reader = authors[number % 2], authors[1 - number % 2]
        body = writer.letter(turn, author, reader, slots)
        title = subject if number == 0 else f"Re: {subject}"
        mail = _Mail(_folder(rng, author is writer.me), author.email, reader.email, title, body, when)
        mail.answers = thread[-1] if thread else None
        mail.read = author is writer.me or number + 1 < len(turns) or chance(rng, 0.7)
        thread.append(mail)
        when += datetime.timedelta(minutes=rng.randint(20, 2_400))
    if topic.label and chance(rng, 0.6):
        thread[0].labels.append(topic.label)
    if chance(rng, 0.25):
        thread[0].files += rng.sample(writer.files, rng.choice((1, 1, 2)))
    return [mail for mail in thread if mail.sent < writer.noon]


def _folder(rng: random.Random, own: bool) -> str:
    return "sent" if own else rng.choices(("inbox", "archive", "trash"), (70, 24, 6))[0]


def _newsletter(writer: _Writer) -> _Mail:
    rng = writer.rng
    sender, name, subjects = rng.choice(texts.NEWSLETTERS)
    when = writer.moment()
    slots = writer.slots(writer.me, when)
    first, second = rng.sample(texts.NEWSLETTER_THEMES, 2)
    more = {"name": name, "first": first, "second": second, "my_first": writer.me.first}
    body = rng.choice(texts.NEWSLETTER_BODIES).format(**slots, **more)
    subject = f"{name}: {rng.choice(subjects).format(**slots)}"
    mail = _Mail(_folder(rng, False), sender, writer.me.email, subject, body, when, read=chance(rng, 0.4))
    mail.labels += ["newsletters"] if chance(rng, 0.5) else []
    return mail


def _notice(writer: _Writer) -> _Mail:
    rng = writer.rng
    sender, subject, text, label = rng.choice(texts.NOTICES)
    when = writer.moment()
    slots = writer.slots(writer.me, when)
    mail = _Mail(
        _folder(rng, False), sender, writer.me.email, subject.format(**slots), text.format(**slots), when,
        read=chance(rng, 0.7),
    )  # fmt: skip
    mail.labels += [label] if label else []
    return mail


def _draft(writer: _Writer) -> _Mail:
    rng = writer.rng
    topic = rng.choice(texts.TOPICS)
    you = rng.choice(writer.cast.of(*topic.relations))
    when = writer.moment()
    slots = writer.slots(you, when)
    body = writer.letter(rng.choice(topic.openings), writer.me, you, slots)
    return _Mail("drafts", writer.me.email, you.email, rng.choice(topic.subjects).format(**slots), body, when)


def _write(db: sqlite3.Connection, rng: random.Random, mails: list[_Mail]) -> None:
    keys = {id(mail): key for mail, key in zip(mails, ids(rng, "mail", len(mails)), strict=True)}
    rows = [
        {
            "id": keys[id(mail)],
            "folder": mail.folder,
            "sender": mail.sender,
            "recipients": mail.recipients,
            "subject": mail.subject,
            "body": mail.body,
            "sent_at": stamp(mail.sent),
            "read": int(mail.read),
            "starred": int(chance(rng, 0.06)),
            "reply_to": keys[id(mail.answers)] if mail.answers else None,
        }
        for mail in mails
    ]
    labels = {
        (keys[id(mail)], label)
        for mail in mails
        for label in [*mail.labels, *([rng.choice(texts.OWN_LABELS)] if chance(rng, 0.07) else [])]
    }
    insert(db, "mails", rows)
    insert(db, "mail_labels", [{"mail_id": key, "label": label} for key, label in sorted(labels)])
    attached = [{"mail_id": keys[id(mail)], "file_id": file} for mail in mails for file in mail.files]
    insert(db, "mail_attachments", attached)
