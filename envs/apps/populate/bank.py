"""The bank: payees, standing orders, payment requests, and a year of transactions that add up to the balances."""

from __future__ import annotations

import datetime
import itertools
import random
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field

from rebind.envs.apps.iban import with_check_digits
from rebind.envs.apps.populate import bank_words as words
from rebind.envs.apps.populate import chance, ids, insert
from rebind.envs.apps.populate.cast import Cast, cast
from rebind.envs.apps.populate.names import CITIES, PLACES, THINGS

_YEAR = 365
_PURCHASES, _TRANSFERS = 520, 60
_PRIVATE_PAYEES, _OLD_PAYEES = 26, 4
_REQUESTS = {"incoming": 16, "outgoing": 14}
_STATUSES = ("open", "open", "open", "paid", "paid", "declined", "cancelled")
_COUNTRY, _DIGITS = "DE", 18
_INACTIVE = 2
"""Standing orders that were stopped half a year ago."""


@dataclass(frozen=True)
class _Booking:
    account: str
    amount: int
    counterparty: str
    reference: str
    day: datetime.date
    category: str


@dataclass
class _Bank:
    """What the bookings refer to: account ids by kind, payee ids by name."""

    world: Cast
    accounts: dict[str, str]
    names: dict[str, str]
    """Account names by id."""
    payees: dict[str, str] = field(default_factory=dict)
    bookings: list[_Booking] = field(default_factory=list)

    def book(self, kind: str, amount: int, party: str, reference: str, day: datetime.date, category: str) -> None:
        """Adds a booking; one of today or later has not happened yet and is left out."""
        if day < self.world.today:
            self.bookings.append(_Booking(self.accounts[kind], amount, party, reference, day, category))

    def months(self, day_of_month: int) -> Iterator[datetime.date]:
        """That day of each of the last twelve months and of this one."""
        today = self.world.today
        for back in range(12, -1, -1):
            year, month = divmod(today.year * 12 + today.month - 1 - back, 12)
            yield datetime.date(year, month + 1, day_of_month)


def populate(db: sqlite3.Connection, rng: random.Random) -> None:
    """Writes 3 accounts, 44 payees, up to 12 standing orders, 30 payment requests and about 800 transactions."""
    world = cast(db, rng)
    kinds = [kind for kind, _ in words.ACCOUNTS]
    accounts = dict(zip(kinds, ids(rng, "acc", len(kinds)), strict=True))
    names = {accounts[kind]: rng.choice(choices) for kind, choices in words.ACCOUNTS}
    bank = _Bank(world, accounts, names)
    payees, orders, requests = _payees(bank), _standing_orders(bank), _requests(bank)
    _purchases(bank)
    _income(bank)
    _transfers(bank)
    _accounts(db, bank)
    insert(db, "payees", payees)
    insert(db, "standing_orders", orders)
    insert(db, "payment_requests", requests)
    bank.bookings.sort(key=lambda booking: booking.day)
    keys = ids(rng, "txn", len(bank.bookings))
    insert(
        db,
        "transactions",
        [
            {
                "id": key,
                "account_id": booking.account,
                "amount": booking.amount,
                "counterparty": booking.counterparty,
                "reference": booking.reference,
                "booked_on": booking.day.isoformat(),
                "category": booking.category,
            }
            for key, booking in zip(keys, bank.bookings, strict=True)
        ],
    )


def iban(rng: random.Random) -> str:
    """A valid IBAN of an account that does not exist."""
    return with_check_digits(_COUNTRY, "".join(rng.choices("0123456789", k=_DIGITS)))


def _payees(bank: _Bank) -> list[dict[str, object]]:
    """Companies and contacts; a few contacts also with an account they no longer use."""
    rng = bank.world.rng
    people = rng.sample(bank.world.people, _PRIVATE_PAYEES)
    old = [(person.name + words.OLD_ENDING, person.id) for person in people[:_OLD_PAYEES]]
    named: list[tuple[str, str | None]] = [
        *((person.name, person.id) for person in people),
        *old,
        *((company.name, None) for company in words.COMPANIES),
    ]
    rng.shuffle(named)
    keys = ids(rng, "payee", len(named))
    bank.payees = {name: key for key, (name, _) in zip(keys, named, strict=True)}
    return [
        {"id": key, "name": name, "iban": iban(rng), "contact_id": contact}
        for key, (name, contact) in zip(keys, named, strict=True)
    ]


def _standing_orders(bank: _Bank) -> list[dict[str, object]]:
    """Monthly payments to eleven companies and one relative, and what they booked so far."""
    world, rng = bank.world, bank.world.rng
    companies = rng.sample(words.COMPANIES[1:], 10)
    named = [(company.name, company) for company in (words.COMPANIES[0], *companies)]
    everyone = [person.name for person in world.people]
    relatives = [one.name for one in world.of("family") if one.name in bank.payees and everyone.count(one.name) == 1]
    allowance = words.Company("", "family", 2_000, 20_000, "Pocket money")
    named += [(name, allowance) for name in relatives[:1]]
    stopped = {name for name, _ in rng.sample(named[1:], _INACTIVE)}
    rows: list[dict[str, object]] = []
    for key, (name, company) in zip(ids(rng, "so", len(named)), named, strict=True):
        amount, day = rng.randrange(company.low, company.high, 10), rng.randint(1, 28)
        reference = company.reference.format(**world.figures(world.today))
        kind = "joint" if company.category in ("rent", "utilities", "insurance") else "checking"
        last = world.today - datetime.timedelta(days=_YEAR // 2 if name in stopped else 0)
        for due in bank.months(day):
            if due <= last:
                bank.book(kind, -amount, name, reference, due, company.category)
        rows.append(
            {
                "id": key,
                "account_id": bank.accounts[kind],
                "payee_id": bank.payees[name],
                "amount": amount,
                "day_of_month": day,
                "reference": reference,
                "active": int(name not in stopped),
            }
        )
    return rows


def _reason(world: Cast) -> str:
    rng = world.rng
    return rng.choice(words.REASONS).format(
        place=rng.choice(PLACES),
        thing=rng.choice(THINGS),
        city=rng.choice(CITIES),
        other=rng.choice(world.people).name,
        number=world.figures(world.today)["number"],
    )


def _requests(bank: _Bank) -> list[dict[str, object]]:
    """Payment requests by date; the paid ones are booked."""
    world, rng = bank.world, bank.world.rng
    circle = world.of("friend", "family", "colleague", "neighbour")
    rows: list[dict[str, object]] = []
    for direction, count in _REQUESTS.items():
        for number in range(count):
            person, reason = rng.choice(circle), _reason(world)
            status = _STATUSES[number % len(_STATUSES)]
            created = world.day(-24, -1) if status == "open" else world.day(-200, -8)
            amount = rng.randrange(600, 24_000, 50)
            if status == "paid":
                sign = -1 if direction == "incoming" else 1
                paid = created + datetime.timedelta(days=rng.randint(0, 6))
                bank.book("checking", sign * amount, person.name, reason, paid, "transfers")
            rows.append(
                {
                    "contact_id": person.id,
                    "amount": amount,
                    "reason": reason,
                    "direction": direction,
                    "status": status,
                    "created_on": created.isoformat(),
                }
            )
    rows.sort(key=lambda row: str(row["created_on"]))
    return [{"id": key, **row} for key, row in zip(ids(rng, "req", len(rows)), rows, strict=True)]


def _purchases(bank: _Bank) -> None:
    world, rng = bank.world, bank.world.rng
    shops = rng.choices(words.SHOPS, [words.WEIGHTS[shop.category] for shop in words.SHOPS], k=_PURCHASES)
    for shop in shops:
        kind = "joint" if shop.category == "groceries" and chance(rng, 0.6) else "checking"
        day = world.day(-_YEAR, -1)
        reference = rng.choice(shop.references).format(**world.figures(day))
        amount = min(rng.randint(shop.low, shop.high), rng.randint(shop.low, shop.high))
        bank.book(kind, -amount, shop.name, reference, day, shop.category)


def _income(bank: _Bank) -> None:
    """Salary, shares for the joint account, what is put aside, and a tax refund."""
    world, rng = bank.world, bank.world.rng
    employer = world.of("colleague")[0].company
    salary, share, saving = rng.randrange(270_000, 330_000, 100), rng.randrange(88_000, 105_000, 500), 15_000
    partner = rng.choice(world.of("family"))
    for day in bank.months(27):
        bank.book("checking", salary, employer, f"Salary {day:%m/%Y}", day, "salary")
    for day in bank.months(28):
        _move(bank, "checking", "joint", share, day)
        _move(bank, "checking", "savings", saving + rng.randrange(0, 20_000, 500), day)
        bank.book("joint", share, partner.name, "My share", day, "transfers")
    bank.book("checking", rng.randrange(12_000, 90_000), "Tax Office", "Refund", world.day(-300, -20), "taxes")
    for day in bank.months(1):
        if day.month % 3 == 1:
            bank.book("savings", rng.randint(400, 2_900), "Interest", f"Interest {day:%m/%Y}", day, "interest")


def _move(bank: _Bank, source: str, target: str, amount: int, day: datetime.date) -> None:
    """Two bookings, as `bank_move_money` makes them."""
    from_name, to_name = bank.names[bank.accounts[source]], bank.names[bank.accounts[target]]
    bank.book(source, -amount, to_name, f"To {to_name}", day, "transfers")
    bank.book(target, amount, from_name, f"From {from_name}", day, "transfers")


def _transfers(bank: _Bank) -> None:
    """Money to and from people who are payees."""
    world, rng = bank.world, bank.world.rng
    people = [person for person in world.people if person.name in bank.payees]
    for _ in range(_TRANSFERS):
        sign = -1 if chance(rng, 0.65) else 1
        amount = sign * rng.randrange(500, 16_000, 50)
        bank.book("checking", amount, rng.choice(people).name, _reason(world), world.day(-_YEAR, -1), "transfers")


def _accounts(db: sqlite3.Connection, bank: _Bank) -> None:
    """Balances: an opening balance that never lets the account fall below zero, plus all bookings."""
    rng = bank.world.rng
    rows: list[dict[str, object]] = []
    for kind, key in bank.accounts.items():
        ordered = sorted((b for b in bank.bookings if b.account == key), key=lambda booking: booking.day)
        running = list(itertools.accumulate(booking.amount for booking in ordered))
        opening = max(-min(running), 0) + rng.randint(20_000, 240_000)
        rows.append({"id": key, "name": bank.names[key], "kind": kind, "balance": opening + running[-1]})
    insert(db, "bank_accounts", rows)
