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
CITIES = words("Ashford | Fairview | Riverton | Winslow")
PEOPLE = (
    "Abel Norton | Bianca Frost | Caspar Dahl | Dora Whitby | Edgar Lund | Freya Coates | Gregor Hale | Hilda Marsh | "
    "Igor Stone | Judith Crane | Kaspar Vine | Liesel Thorn | Magnus Field | Nelly Brook | Otto Wilde | Pia Sharp | "
    "Quentin Rowe | Ronja Beck | Stefan Moor | Thea Linde | Ulrich Penn | Viola Chase | Wanda Roth | Xaver Lowe | Ylva "
    "Gray | Zelda Horn"
)
BRANCHES = (7, 6, 6, 6)
"""So many people work in each of the cities, the one drawn first."""
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
        Drawn("subject", "parameter", choice("A date to keep free | Invitation | Save the day | We come to you | Welcome")),
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
        Drawn("staff", "state", several(sum(BRANCHES), PEOPLE), needs=("company",)),
    )
    grounded = (Grounded("members", "user", lambda v, b: v.column(MEMBERS, b.company, b.city)),)
    wordings = (
        'Create a contact group "{group}" with everybody in my contacts who works for {company} and lives in {city} now. Then send one mail to all of them together, with the subject "{subject}" and the text "{message}"',
        'I need the contacts from {company} whose current city is {city} in a new group called "{group}". Write them a single mail, all of them as recipients: subject "{subject}", text "{message}"',
        'Put my {company} contacts in {city} (where they live today, not before) into a new contact group named "{group}", and send the lot of them one common mail. Its subject is "{subject}", and it says "{message}"',
    )

    def setup(self, p: Plant, b: Bound) -> None:
        staff, start = list(b.staff), CITIES.index(b.city)
        cities = [*CITIES[start:], *CITIES[:start]]
        domain = f"{b.company.lower().replace(' ', '-')}.example"
        for city, size in zip(cities, BRANCHES, strict=True):
            for i in range(size):
                moved = {"previous_street": "1 Old Road", "previous_city": cities[0]} if city != cities[0] and i < 2 else {}
                company = f"{b.company} Trust" if size == BRANCHES[0] and i >= BRANCHES[1] else b.company
                self._hire(p, staff.pop(0), domain, company=company, city=city, **moved)

    def _hire(self, p: Plant, name: str, domain: str, **columns: str) -> None:
        first, last = name.split()
        phone = f"+1 {p.rng.randrange(200, 990)} 555 {p.rng.randrange(1_000, 10_000)}"
        email = f"{first[0]}.{last}@{domain}".lower()
        details = {"email": email, "phone": phone, "relation": "client", "street": f"{p.rng.randrange(2, 90)} Main Street"}
        p.add("contacts", first_name=first, last_name=last, birthday="1980-01-01", **details, **columns)
