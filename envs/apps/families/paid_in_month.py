"""How much one account paid in a month to all bank details of one person."""

from __future__ import annotations

import random
from datetime import date, timedelta

from rebind.envs.apps.families.answers import Cents
from rebind.envs.apps.families.base import Drawn, Expected, Family, Grounded
from rebind.envs.apps.families.draw import Bound, column, integer, person
from rebind.envs.apps.families.evidence import called, saw
from rebind.envs.apps.families.oracle import Oracle, finish, login, only
from rebind.envs.apps.families.oracle import person as find_person
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import View
from rebind.envs.apps.iban import with_check_digits

MONTHS = 4
"""The last so many whole months have payments to be asked about."""
PAID = (
    "SELECT -coalesce(sum(amount), 0) FROM transactions WHERE account_id = ? AND booked_on LIKE ? || '-%' AND "
    "amount < 0 AND counterparty IN (SELECT name FROM payees WHERE contact_id = ?)"
)


def month(back: int, today: str) -> date:
    """The first day of the month so many months before today's."""
    first = date.fromisoformat(today).replace(day=1)
    for _ in range(back):
        first = (first - timedelta(days=1)).replace(day=1)
    return first


def past_month(view: View, rng: random.Random, _bound: Bound) -> str:
    return f"{month(rng.randint(1, MONTHS), view.today):%Y-%m}"


class PaidInMonth(Family):
    id = "apps/paid-to-person-in-month-question"
    group = "5-10"
    tools = "contacts_search bank_list_accounts bank_list_payees bank_transactions"
    drawn = (
        Drawn("person", "user", person(), central=True),
        Drawn("account", "entity", column("SELECT name FROM bank_accounts ORDER BY id")),
        Drawn("month", "date", past_month, show=lambda value: f"{date.fromisoformat(value + '-01'):%B %Y}"),
        Drawn("rate", "state", integer(2_000, 6_000, 50)),
    )
    grounded = (
        Grounded("contact", "user", lambda v, b: v.person(b.person)["id"]),
        Grounded(
            "account_id", "record", lambda v, b: v.value("SELECT id FROM bank_accounts WHERE name = ?", b.account)
        ),
    )
    wordings = (
        'How much did my account "{account}" pay to {person} in {month} altogether, in cents? Count every payee '
        "that is linked to the contact {person}, and only what was paid to them, not what came back.",
        'I would like to know the sum of all payments from "{account}" to {person} in {month}. They have more than '
        "one payee in my bank: count those linked to their contact, ignore money they sent me, and answer in cents.",
        'In {month}, what did {person} get from my "{account}" in all? Add up the outgoing payments to each payee '
        "linked to that contact, leaving incoming ones aside, and give me the total in cents.",
    )

    def setup(self, p: Plant, b: Bound) -> None:
        contact = p.person(b.person)["id"]
        p.run("UPDATE payees SET contact_id = NULL WHERE contact_id = ?", contact)
        kinds = (("joint account", contact), ("new account", contact), ("closed account", None))
        for i, (kind, linked) in enumerate(kinds):
            iban = with_check_digits("DE", f"50010517{int(contact[4:]):09}{i}")
            p.add("payees", name=f"{b.person} ({kind})", iban=iban, contact_id=linked)
        for account in p.column("SELECT id FROM bank_accounts ORDER BY id"):
            for kind, _ in kinds:
                for back in range(1, MONTHS + 1):
                    self._book(p, account, f"{b.person} ({kind})", month(back, p.today), b.rate)

    def _book(self, p: Plant, account: str, payee: str, first: date, rate: int) -> None:
        """A month's transactions with one payee: on its first and last day, in between, and one the other way."""
        last = (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
        days = [first, last, first.replace(day=p.rng.randrange(3, 27)), first.replace(day=p.rng.randrange(3, 27))]
        amounts = [*(-rate - p.rng.randrange(100, 1_900) for _ in days[1:]), p.rng.randrange(500, 1_900)]
        for day, amount in zip(days, amounts, strict=True):
            columns = {"amount": amount, "booked_on": day.isoformat(), "category": "transfers", "reference": "Lessons"}
            p.add("transactions", account_id=account, counterparty=payee, **columns)

    def oracle(self, b: Bound) -> Oracle:
        contacts = yield from login("contacts")
        contact = (yield from find_person(contacts, b.person))["contact_id"]
        bank = yield from login("bank")
        payees = yield from bank.every("list_payees", query=b.person)
        accounts = yield from bank("list_accounts")
        account = only([a for a in accounts if a["name"] == b.account], b.account)["account_id"]
        first = date.fromisoformat(f"{b.month}-01")
        last = (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
        period = {"since": first.isoformat(), "until": last.isoformat()}
        total = 0
        for payee in [p["name"] for p in payees if p["contact_id"] == contact]:
            booked = yield from bank.every("transactions", account_id=account, query=payee, **period)
            total -= sum(t["amount"] for t in booked if t["counterparty"] == payee and t["amount"] < 0)
        yield from finish(str(total))

    def expect(self, start: View, b: Bound) -> Expected:
        return Expected(
            answer=Cents(start.value(PAID, b.account_id, b.month, b.contact)),
            marks=(
                saw("found-contact: found the person", b.contact),
                saw("found-payees: found the payees linked to them", *start.column(
                    "SELECT id FROM payees WHERE contact_id = ?", b.contact
                )),
                saw("found-account: found the account", b.account_id),
                called("read-payments: read what that account paid", "bank_transactions", account_id=b.account_id),
            ),
        )  # fmt: skip
