"""Star and label the newest mail of one sender, whom others mention and resemble."""

from __future__ import annotations

from rebind.envs.apps.families.base import Drawn, Expected, Family, Grounded
from rebind.envs.apps.families.draw import Bound, choice, one_of, person, words
from rebind.envs.apps.families.effects import Added, Changed
from rebind.envs.apps.families.evidence import saw
from rebind.envs.apps.families.oracle import Oracle, finish, login
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import View

PLAIN = "email LIKE lower(first_name || '.' || last_name) || '@%'"
"""Contacts whose address tells their name, so that the address book is not needed."""
SUBJECTS = words(
    "A question about next week | Before I forget | Keys and parking | One more thing | Short update | The form you "
    "asked for | Two dates to choose from"
)
NEWEST = "SELECT id FROM mails WHERE sender = ? AND folder != 'trash' ORDER BY sent_at DESC, rowid DESC"


class StarNewestMail(Family):
    id = "apps/star-and-label-newest-mail"
    group = "5-10"
    tools = "mail_search mail_show mail_star mail_add_label mail_mark_read"
    drawn = (
        Drawn("sender", "user", person(PLAIN), central=True),
        Drawn(
            "label",
            "parameter",
            choice("answer | chase | decide | delegate | discuss | print | read-later | remember | sign | waiting"),
        ),
    )
    grounded = (
        Grounded("address", "user", lambda v, b: v.person(b.sender)["email"]),
        Grounded("mail", "record", lambda v, b: v.column(NEWEST, b.address)[0]),
    )
    wordings = (
        'Star the newest mail that {sender} sent me and put the label "{label}" on it.',
        '{sender} wrote to me again. Please find the latest mail from {sender}, star it and label it "{label}".',
        'The last mail I got from {sender} needs a star and the label "{label}".',
        'I want to find it again: the most recent message in my mail from {sender} gets the label "{label}" and a '
        "star.",
    )

    def setup(self, p: Plant, b: Bound) -> None:
        address = p.person(b.sender)["email"]
        for sent in (p.moment(-6, "16:40"), p.moment(0, "12:00")):
            subject = one_of(p.rng, SUBJECTS, "subject")
            p.add("mails", sender=address, subject=subject, body="Call me if you like.", sent_at=sent, read=0)
        first = b.sender.partition(" ")[0]
        others = p.column("SELECT email FROM contacts WHERE email != ? ORDER BY first_name != ?, id", address, first)
        for other, subject in ((others[0], f"Greetings from {b.sender}"), (others[1], f"Fwd: mail from {b.sender}")):
            p.add("mails", sender=other, subject=subject, body="See below.", sent_at=p.moment(0, "12:00"))
        subject = f"To {b.sender}"
        p.add("mails", folder="sent", sender=p.me, recipients=address, subject=subject, sent_at=p.moment(0, "12:00"))

    def oracle(self, b: Bound) -> Oracle:
        mail = yield from login("mail")
        found = yield from mail("search", sender=f"{b.sender.lower().replace(' ', '.')}@")  # newest first
        newest = found["items"][0]["mail_id"]
        yield from mail("star", mail_id=newest)
        yield from mail("add_label", mail_id=newest, label=b.label)
        yield from finish()

    def expect(self, start: View, b: Bound) -> Expected:
        return Expected(
            effects=(
                Changed("mails", b.mail, starred=1, mark="starred: the newest mail has its star"),
                Added("mail_labels", mail_id=b.mail, label=b.label, mark="labelled: the newest mail has its label"),
            ),
            marks=(saw("found-mail: found the newest mail of the sender", b.mail),),
        )
