"""Make a contact group of a company's people in one city and write one mail to all of them."""

from __future__ import annotations

from rebind.envs.apps.families.base import Drawn, Expected, Family, Grounded
from rebind.envs.apps.families.draw import Bound, choice, phrase, several, words
from rebind.envs.apps.families.effects import Added, Part, has, says
from rebind.envs.apps.families.evidence import called, saw
from rebind.envs.apps.families.oracle import Oracle, finish, login
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import View

COMPANIES = (
    "Ambergate Shipping | Bellfield Optics | Cinderford Paper | Dunhollow Clinics | Eskdale Rail | Falconer Foods | "
    "Gilsland Software"
)
CITIES = words("Ashford | Fairview | Winslow")
BRANCH = 6
"""People of the company in each city."""
STAFF = (
    "Abel Norton | Bianca Frost | Caspar Dahl | Dora Whitby | Edgar Lund | Freya Coates | Gregor Hale | Hilda Marsh | "
    "Igor Stone | Judith Crane | Kaspar Vine | Liesel Thorn | Magnus Field | Nelly Brook | Otto Wilde | Pia Sharp | "
    "Quentin Rowe | Ronja Beck | Stefan Moor | Thea Linde | Ulrich Penn | Viola Chase | Wanda Roth | Xaver Lowe"
)
OUTSIDERS = words("Yorick Gray | Ylva Horn | Zelda Rush")
MEMBERS = "SELECT id FROM contacts WHERE company = ? AND city = ? ORDER BY id"


class GroupBranch(Family):
    id = "apps/group-branch-and-mail-it"
    group = "11-20"
    tools = (
        "contacts_search contacts_show contacts_list_groups contacts_create_group contacts_add_to_group mail_send "
        "mail_save_draft"
    )
    drawn = (
        Drawn("company", "entity", choice(COMPANIES), central=True),
        Drawn("city", "location", choice(CITIES)),
        Drawn(
            "group",
            "parameter",
            phrase("{a} {b}", a="Spring | Autumn | Pilot | Regional", b="workshop | survey | visit | forum"),
        ),
        Drawn("subject", "parameter", choice("A date to keep free | Invitation | We come to you | Welcome")),
        Drawn(
            "message",
            "parameter",
            phrase(
                "{what} {when}, please {ask}.",
                what="We plan to visit you | The next meeting is | We start",
                when="in the first week of the month | on the last Friday | after the holidays",
                ask="answer soon | reserve a room | tell me who comes",
            ),
        ),
        Drawn("staff", "state", several(BRANCH * len(CITIES), STAFF), needs=("company",)),
    )
    grounded = (Grounded("members", "user", lambda v, b: v.column(MEMBERS, b.company, b.city)),)
    wordings = (
        'Create a contact group "{group}" with everybody in my contacts who works for {company} and lives in '
        '{city} now. Then send one mail to all of them together, with the subject "{subject}" and the text '
        '"{message}"',
        'I need the contacts from {company} whose current city is {city} in a new group called "{group}". Write '
        'them a single mail, all of them as recipients: subject "{subject}", text "{message}"',
        "Put my {company} contacts in {city} (where they live today, not before) into a new contact group named "
        '"{group}", and send the lot of them one common mail. Its subject is "{subject}", and it says "{message}"',
    )

    def setup(self, p: Plant, b: Bound) -> None:
        domain = f"{b.company.lower().replace(' ', '-')}.example"
        for i, city in enumerate(CITIES):
            people = b.staff[BRANCH * i : BRANCH * (i + 1)]
            for place, name in enumerate((*people, OUTSIDERS[i])):
                first, last = name.split()
                works = {"company": f"{b.company} Trust" if name in OUTSIDERS else b.company, "relation": "client"}
                lives = {"street": f"{p.rng.randrange(2, 90)} Main Street", "city": city}
                if place in (0, 1):  # moved here from another branch's city
                    lives |= {"previous_street": "3 Mill Road", "previous_city": CITIES[i - 1 - place]}
                email = f"{first[0]}.{last}@{domain}".lower()
                phone = f"+1 {p.rng.randrange(200, 990)} 555 {p.rng.randrange(1_000, 10_000)}"
                reach = {"email": email, "phone": phone}
                p.add("contacts", first_name=first, last_name=last, **works, **lives, **reach)

    def oracle(self, b: Bound) -> Oracle:
        contacts = yield from login("contacts")
        members = yield from contacts.every("search", company=b.company, city=b.city)
        group = (yield from contacts("create_group", name=b.group))["group_id"]
        for one in members:
            yield from contacts("add_to_group", group_id=group, contact_id=one["contact_id"])
        mail = yield from login("mail")
        yield from mail("send", to=[one["email"] for one in members], subject=b.subject, body=b.message)
        yield from finish()

    def expect(self, start: View, b: Bound) -> Expected:
        emails = set(start.column("SELECT email FROM contacts WHERE company = ? AND city = ?", b.company, b.city))
        group = Added(
            "contact_groups",
            name=says(b.group),
            parts=tuple(Part("contact_group_members", "group_id", contact_id=one) for one in b.members),
            mark="grouped: the group has all of them",
        )
        mail = Added(
            "mails",
            folder="sent",
            recipients=lambda to: set(to.split(", ")) == emails,
            subject=says(b.subject),
            body=has(b.message),
            mark="mailed: one mail went to all of them",
        )
        joined = [
            called(f"member-{i}: put person {i} into a group", "contacts_add_to_group", contact_id=one)
            for i, one in enumerate(b.members, 1)
        ]
        return Expected(effects=(group, mail), marks=(saw("found: found the people", *b.members), *joined))
