"""The person the agent acts for, their accounts, and the people they know.

Names repeat on purpose: the same first name, the same last name, look-alike last names, and three pairs of people with
exactly the same name, told apart only by relation, company or city.
"""

from __future__ import annotations

import datetime
import random
import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rebind.envs.apps.api.registry import APPS, OPEN_APPS
from rebind.envs.apps.populate import chance, ids, insert
from rebind.envs.apps.populate import names as words

_RELATIONS = {
    "colleague": 22, "friend": 17, "client": 12, "family": 9, "vendor": 8, "neighbour": 5, "manager": 3,
}  # fmt: skip
"""How many people of each relation a world has: 76 in all."""
_FIRST_DAY = datetime.date(2025, 3, 3)
_DAYS = 600
"""The world's date lies within so many days from `_FIRST_DAY`."""
_LETTERS, _DIGITS = "abcdefghijkmnpqrstuvwxyz", "23456789"
_GROUPS = 10


@dataclass(frozen=True)
class _Name:
    first: str
    last: str


def populate(db: sqlite3.Connection, rng: random.Random) -> None:
    """Writes profile, accounts, contacts and contact groups."""
    companies = rng.sample(words.COMPANIES, 12)
    people = list(_names(rng, sum(_RELATIONS.values()) + 1))
    owner, people = people[0], people[1:]
    emails: set[str] = set()
    owner_email = _email(rng, owner, companies[0], emails)
    _profile(db, rng, owner, owner_email)
    relations = [relation for relation, count in _RELATIONS.items() for _ in range(count)]
    rng.shuffle(relations)
    _marry_in(rng, people, relations, owner)
    contacts = [
        _contact(rng, contact_id, name, relation, companies, emails)
        for contact_id, name, relation in zip(ids(rng, "con", len(people)), people, relations, strict=True)
    ]
    insert(db, "contacts", contacts)
    _groups(db, rng, contacts)


def _profile(db: sqlite3.Connection, rng: random.Random, owner: _Name, email: str) -> None:
    today = _FIRST_DAY + datetime.timedelta(days=rng.randrange(_DAYS))
    street, city = _address(rng)
    values = {
        "name": f"{owner.first} {owner.last}", "email": email, "phone": _phone(rng), "address": street, "city": city,
        "today": today.isoformat(),
    }  # fmt: skip
    insert(db, "profile", [{"key": key, "value": value} for key, value in values.items()])
    tokens = {app: _token(rng) for app in APPS if app not in OPEN_APPS}
    insert(db, "accounts", [{"app": app, "username": email, "token": token} for app, token in tokens.items()])


def _token(rng: random.Random) -> str:
    """Six letters and digits, the first a letter: never to be taken for a number."""
    return rng.choice(_LETTERS) + "".join(rng.choices(_LETTERS + _DIGITS, k=5))


def _names(rng: random.Random, count: int) -> Iterator[_Name]:
    """The owner's name, then the contacts': few enough first and last names that both repeat."""
    firsts, lasts = rng.sample(words.FIRST_NAMES, 34), rng.sample(words.LAST_NAMES, 38)
    owner = _Name(firsts.pop(), lasts.pop())
    yield owner
    chosen: list[_Name] = []
    for left, right in rng.sample(words.LOOKALIKES, 5):
        first = rng.choice(firsts)
        chosen += [_Name(first, left), _Name(first, right)]
    while len(chosen) < count - 4:
        name = _Name(rng.choice(firsts), rng.choice(lasts))
        if name not in chosen:
            chosen.append(name)
    chosen += rng.sample(chosen, 3)
    rng.shuffle(chosen)
    yield from chosen


def _marry_in(rng: random.Random, people: list[_Name], relations: list[str], owner: _Name) -> None:
    """Gives most relatives the owner's last name, but for those whose name is somebody else's too."""
    for index, relation in enumerate(relations):
        name, kin = people[index], _Name(people[index].first, owner.last)
        if relation == "family" and people.count(name) == 1 and kin not in people and chance(rng, 0.7):
            people[index] = kin


def _contact(
    rng: random.Random,
    contact_id: str,
    name: _Name,
    relation: str,
    companies: Sequence[str],
    emails: set[str],
) -> dict[str, object]:
    company, title = _job(rng, relation, companies)
    street, city = _address(rng)
    previous = _address(rng) if chance(rng, 0.45) else (None, None)
    works_email = company if relation in ("colleague", "manager", "client", "vendor") else None
    return {
        "id": contact_id,
        "first_name": name.first,
        "last_name": name.last,
        "email": _email(rng, name, works_email, emails),
        "phone": _phone(rng),
        "company": company,
        "job_title": title,
        "relation": relation,
        "street": street,
        "city": city,
        "previous_street": previous[0],
        "previous_city": previous[1],
        "birthday": f"{rng.randint(1948, 2004)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
        "favourite": int(chance(rng, 0.15)),
        "comment": rng.choice(words.COMMENTS) if chance(rng, 0.3) else "",
    }


def _job(rng: random.Random, relation: str, companies: Sequence[str]) -> tuple[str, str]:
    """Company and job title; the first company is the owner's own, clients and vendors share the others."""
    if relation in ("colleague", "manager"):
        return companies[0], rng.choice(words.MANAGER_TITLES if relation == "manager" else words.STAFF_TITLES)
    if relation == "client":
        return rng.choice(companies[1:5]), rng.choice(words.CLIENT_TITLES)
    if relation == "vendor":
        return rng.choice(companies[5:9]), rng.choice(words.VENDOR_TITLES)
    return (rng.choice(companies[1:]) if chance(rng, 0.4) else ""), rng.choice(words.OTHER_TITLES)


def domain(company: str) -> str:
    """The mail domain of a company: "Tallow & Reed" has tallow-reed.example."""
    return re.sub(r"[^a-z]+", "-", company.lower()) + ".example"


def _email(rng: random.Random, name: _Name, company: str | None, taken: set[str]) -> str:
    host = domain(company) if company else rng.choice(words.PERSONAL_DOMAINS)
    first, last = name.first.lower(), name.last.lower()
    forms = [f"{first}.{last}", f"{first[0]}.{last}", f"{first}{last}", f"{last}.{first}"]
    if not company:
        rng.shuffle(forms)
    forms += [f"{first}.{last}{number}" for number in range(2, 9)]
    email = next(f"{form}@{host}" for form in forms if f"{form}@{host}" not in taken)
    taken.add(email)
    return email


def _address(rng: random.Random) -> tuple[str, str]:
    return f"{rng.randint(1, 148)} {rng.choice(words.STREETS)}", rng.choice(words.CITIES)


def _phone(rng: random.Random) -> str:
    return f"+1 {rng.randint(201, 989)} 555 {rng.randint(1000, 9999)}"


def _groups(db: sqlite3.Connection, rng: random.Random, contacts: list[dict[str, object]]) -> None:
    chosen = sorted(rng.sample(words.GROUPS, _GROUPS))
    group_ids = ids(rng, "grp", len(chosen))
    insert(db, "contact_groups", [{"id": key, "name": name} for key, (name, _) in zip(group_ids, chosen, strict=True)])
    for key, (_, relations) in zip(group_ids, chosen, strict=True):
        fitting = [contact["id"] for contact in contacts if contact["relation"] in relations]
        members = rng.sample(fitting, min(len(fitting), rng.randint(4, 9)))
        insert(db, "contact_group_members", [{"group_id": key, "contact_id": member} for member in members])
