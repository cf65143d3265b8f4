"""Answer a question in a mail thread with the date that the calendar has, and label the mail."""

from __future__ import annotations

from datetime import date, timedelta

from rebind.envs.apps.families.base import Drawn, Expected, Family, Grounded
from rebind.envs.apps.families.draw import Bound, choice, day, person, words
from rebind.envs.apps.families.effects import Added, has
from rebind.envs.apps.families.evidence import saw
from rebind.envs.apps.families.oracle import Oracle, finish, login, only
from rebind.envs.apps.families.oracle import person as find_person
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import View

OUTINGS = "Canal tour | Cheese evening | Jazz brunch | Museum night | Orchard picnic | Puppet theatre"
CLOSINGS = (
    "Bring a warm jacket. | I have the tickets already. | I shall be there early. | Let us go there together. | Tell "
    "the others, please. | We meet at the entrance."
)
QUESTION = "SELECT id FROM mails WHERE sender = ? AND subject = 'Re: ' || ? ORDER BY sent_at DESC"
EVENT = "SELECT id FROM events WHERE title = ? AND NOT cancelled"


class AnswerWithDate(Family):
    id = "apps/answer-thread-with-date"
    group = "5-10"
    tools = (
        "contacts_search mail_search mail_show mail_reply mail_send mail_add_label calendar_search calendar_show "
        "calendar_reschedule"
    )
    drawn = (
        Drawn("sender", "user", person(), central=True),
        Drawn("outing", "entity", choice(OUTINGS)),
        Drawn("closing", "parameter", choice(CLOSINGS)),
        Drawn("label", "parameter", choice("answered | arranged | dates | outings | replied | sorted-out")),
        Drawn("date", "date", day(6, 45)),
    )
    grounded = (
        Grounded("question", "record", lambda v, b: v.column(QUESTION, v.person(b.sender)["email"], b.outing)[0]),
        Grounded("event", "record", lambda v, b: v.value(EVENT, b.outing)),
    )
    wordings = (
        'In the mail thread "{outing}", {sender} asks when it takes place. Reply to the last mail from {sender} in '
        "that thread with the date that my calendar has for it, written as YYYY-MM-DD, and the sentence "
        '"{closing}" Then label the mail you replied to "{label}".',
        'Please answer the most recent mail that {sender} sent me in the thread "{outing}". They want to know the '
        'date: look it up in my calendar, write it in the form YYYY-MM-DD and add "{closing}" The mail that you '
        'answer gets the label "{label}".',
        '{sender} does not remember the day of the "{outing}" and asks me by mail. Reply to their newest mail of '
        'that thread: it should say the date from my calendar (YYYY-MM-DD) and "{closing}" Put the label "{label}" '
        "on the mail from {sender}.",
    )

    def setup(self, p: Plant, b: Bound) -> None:
        who = p.person(b.sender)
        others = "SELECT email FROM contacts WHERE id != ? ORDER BY first_name != ?, id"
        rival = p.column(others, who["id"], who["first_name"])[0]
        for outing in words(OUTINGS):
            drawn = p.day(p.rng.randrange(6, 46))
            right = b.date if outing == b.outing else drawn
            for title, on_day, cancelled in (
                (outing, right, 0), (outing, week_later(right), 1), (f"{outing}: tickets", p.day(2), 0)
            ):  # fmt: skip
                times = {"start_at": f"{on_day}T18:00", "end_at": f"{on_day}T21:00", "cancelled": cancelled}
                p.add("events", title=title, calendar="home", **times)
            asks = f"When was it again? I had {week_later(right)} in my head.\n{who['first_name']}"
            age = p.rng.randrange(2, 6) + 3 * (outing == b.outing)  # the other outings are asked about after this one
            thread = {"subject": f"Re: {outing}", "recipients": p.me}
            first = self._write(p, who["email"], age + 6, thread | {"subject": outing, "body": "Do you come along?"})
            mine = {"recipients": who["email"], "folder": "sent", "reply_to": first}
            reply = self._write(p, p.me, age + 4, thread | mine | {"body": "Yes, with pleasure!"})
            self._write(p, who["email"], age, thread | {"body": asks, "reply_to": reply})
            self._write(p, rival, age - 1, thread | {"body": "May I come too? When is it?", "reply_to": first})

    def _write(self, p: Plant, sender: str, age: int, columns: dict[str, str]) -> str:
        return p.add("mails", sender=sender, sent_at=p.moment(-age), **columns)

    def oracle(self, b: Bound) -> Oracle:
        contacts = yield from login("contacts")
        address = (yield from find_person(contacts, b.sender))["email"]
        mail = yield from login("mail")
        found = yield from mail.every("search", query=b.outing, sender=address)  # newest first
        question = next(m for m in found if m["subject"] == f"Re: {b.outing}")["mail_id"]
        calendar = yield from login("calendar")
        events = yield from calendar.every("search", query=b.outing)
        on_day = only([e for e in events if e["title"] == b.outing], b.outing)["start_at"][:10]
        yield from mail("reply", mail_id=question, body=f"It is on {on_day}. {b.closing}")
        yield from mail("add_label", mail_id=question, label=b.label)
        yield from finish()

    def expect(self, start: View, b: Bound) -> Expected:
        right, wrong = has(b.date, b.closing), has(week_later(b.date))
        answered = Added(
            "mails",
            folder="sent",
            recipients=start.person(b.sender)["email"],
            reply_to=b.question,
            body=lambda text: right(text) and not wrong(text),
            mark="answered: the right mail is answered with the date and the sentence",
        )
        labelled = Added("mail_labels", mail_id=b.question, label=b.label, mark="labelled: that mail has its label")
        return Expected(
            effects=(answered, labelled),
            marks=(
                saw("found-question: found the mail to answer", b.question),
                saw("found-event: found the event in the calendar", b.event),
            ),
        )


def week_later(on_day: str) -> str:
    return (date.fromisoformat(on_day) + timedelta(days=7)).isoformat()
