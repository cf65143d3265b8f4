"""Enter a contact's new phone number and keep the old one in the comment."""

from __future__ import annotations

import random

from rebind.envs.apps.families.base import Drawn, Expected, Family, Grounded
from rebind.envs.apps.families.draw import Bound, choice, namesake
from rebind.envs.apps.families.effects import Changed, says
from rebind.envs.apps.families.evidence import saw
from rebind.envs.apps.families.oracle import Oracle, finish, login, person
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import View


def new_number(_view: View, rng: random.Random, _bound: Bound) -> str:
    return f"+1 {rng.randrange(200, 990)} 555 {rng.randrange(1000, 10_000)}"


class ChangeNumber(Family):
    id = "apps/change-phone-number"
    group = "5-10"
    tools = "contacts_search contacts_show contacts_update contacts_create"
    drawn = (
        Drawn("contact", "user", namesake("city"), central=True),
        Drawn("number", "parameter", new_number),
        Drawn("word", "parameter", choice("before | earlier | formerly | old | once | past | previously | until now")),
    )
    grounded = (
        Grounded("contact_id", "record", lambda v, b: v.person(b.contact)["id"]),
        Grounded("old_number", "state", lambda v, b: v.person(b.contact)["phone"]),
    )
    wordings = (
        "{contact} has a new phone number: {number}. Change it in my contacts, and set the comment there to "
        '"{word}: " followed by the number that was in the contact until today.',
        "Please update the phone number of {contact} to {number}. The number it replaces goes into the comment of "
        'the contact, written as "{word}: <number>".',
        "The number of {contact} is now {number}. Enter it in the address book, and note the number that was there "
        'in the contact\'s comment, with "{word}: " in front of it.',
    )

    def setup(self, p: Plant, b: Bound) -> None:
        p.run("UPDATE contacts SET comment = '' WHERE id = ?", p.person(b.contact)["id"])

    def oracle(self, b: Bound) -> Oracle:
        contacts = yield from login("contacts")
        who = (yield from person(contacts, b.contact))["contact_id"]
        old = (yield from contacts("show", contact_id=who))["phone"]
        yield from contacts("update", contact_id=who, phone=b.number, comment=f"{b.word}: {old}")
        yield from finish()

    def expect(self, start: View, b: Bound) -> Expected:
        comment = says(f"{b.word}: {b.old_number}")
        return Expected(
            effects=(
                Changed("contacts", b.contact_id, phone=b.number, mark="number: the contact has the new number"),
                Changed("contacts", b.contact_id, comment=comment, mark="comment: the comment has the old number"),
            ),
            marks=(
                saw("found-contact: found the right person", b.contact_id),
                saw("read-number: read the number to be replaced", b.old_number),
            ),
        )
