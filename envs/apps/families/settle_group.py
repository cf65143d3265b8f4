"""Settle a trip with eight people one by one: ask for money or pay, and tell each of them."""

from __future__ import annotations

import re

from rebind.envs.apps.families.base import Drawn, Expected, Family, Grounded
from rebind.envs.apps.families.draw import Bound, choice, column, people, phrase
from rebind.envs.apps.families.effects import Added, has, paid
from rebind.envs.apps.families.evidence import called, saw
from rebind.envs.apps.families.oracle import Oracle, finish, login, only
from rebind.envs.apps.families.oracle import person as find_person
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import View
from rebind.envs.apps.iban import with_check_digits

TRIPS = (
    "Alps week | Bothy weekend | Canal cruise | Dolomites trek | Eclipse trip | Fjord tour | Gorge hike | Harbour "
    "regatta"
)
MESSAGES = (
    "We are square once the bank is through. | I have settled our trip, have a look. | That was it, see you soon! | "
    "All sorted on my side now. | The split is final, thank you."
)
LINE = re.compile(r"(?:(?P<debtor>.+) owes me|I owe (?P<creditor>.+)) (?P<cents>\d+) cents")


class SettleGroup(Family):
    id = "apps/settle-trip-one-by-one"
    group = ">35"
    tools = (
        "notes_search notes_show contacts_search bank_list_accounts bank_list_payees bank_transfer bank_request_money "
        "chat_list_chats chat_send"
    )
    drawn = (
        Drawn("trip", "entity", choice(TRIPS), central=True),
        Drawn("account", "entity", column("SELECT name FROM bank_accounts ORDER BY id")),
        Drawn(
            "reason",
            "parameter",
            phrase("{a} {b}", a="Travel | Trip | Shared | Group", b="costs | split | kitty | bill"),
        ),
        Drawn("message", "parameter", choice(MESSAGES)),
        Drawn("members", "user", people(8), central=True),
        Drawn("unit", "state", choice((310, 425, 530, 640, 715, 890))),
    )
    grounded = (
        Grounded("note", "record", lambda v, b: v.value("SELECT id FROM notes WHERE title = ?", final(b.trip))),
        Grounded(
            "account_id", "record", lambda v, b: v.value("SELECT id FROM bank_accounts WHERE name = ?", b.account)
        ),
    )
    wordings = (
        "Settle the {trip} by my note with the final split. Whoever owes me gets a money request with the reason "
        '"{reason}"; whom I owe I pay from my account "{account}" with the reference "{reason}", to the payee '
        'linked to that contact. Then send every person in the split this in our direct chat: "{message}"',
        "The final split of the {trip} is in my notes. For each person in it: request what they owe me (reason "
        '"{reason}") or transfer what I owe them (from "{account}", reference "{reason}", to the payee that is '
        'linked to the contact), and write "{message}" in our direct chat.',
        "Please square the {trip} with everybody, as my note with the final split has it: money requests with the "
        'reason "{reason}" to those who owe me, transfers from "{account}" with the reference "{reason}" to those '
        'I owe (use the payee linked to their contact), and to each of them the direct chat message "{message}"',
    )

    def setup(self, p: Plant, b: Bound) -> None:
        for title, unit, age in ((final(b.trip), b.unit, -9), (f"{b.trip}: split, not final", b.unit + 95, -3)):
            shares = owed(b.members, unit)
            lines = [f"{who} owes me {cents} cents" for who, cents in shares[:4]]
            lines += [f"I owe {who} {cents} cents" for who, cents in shares[4:]]
            p.add("notes", title=title, notebook="travel", body="\n".join(lines), updated_at=p.moment(age))
        p.run("UPDATE bank_accounts SET balance = max(balance, 300000)")
        for who in b.members:
            p.chat_with(who)
        for who in b.members[4:]:
            contact = p.person(who)["id"]
            p.run("UPDATE payees SET contact_id = NULL WHERE contact_id = ?", contact)
            for i, (name, linked) in enumerate(((who, None), (payee(who), contact))):
                iban = with_check_digits("DE", f"50010517{int(contact[4:]):09}{i}")
                p.add("payees", name=name, iban=iban, contact_id=linked)

    def oracle(self, b: Bound) -> Oracle:
        notes = yield from login("notes")
        found = yield from notes.every("search", query=f"{b.trip} final split")
        note = only([n for n in found if n["title"] == final(b.trip)], b.trip)
        body = (yield from notes("show", note_id=note["note_id"]))["body"]
        contacts, bank, chat = (yield from login("contacts")), (yield from login("bank")), (yield from login("chat"))
        accounts = yield from bank("list_accounts")
        account = only([a for a in accounts if a["name"] == b.account], b.account)["account_id"]
        for line in LINE.finditer(body):
            name, cents = line["debtor"] or line["creditor"], int(line["cents"])
            contact = (yield from find_person(contacts, name))["contact_id"]
            if line["debtor"]:
                yield from bank("request_money", contact_id=contact, amount=cents, reason=b.reason)
            else:
                payees = yield from bank.every("list_payees", query=name)
                to = only([p for p in payees if p["contact_id"] == contact], name)["payee_id"]
                yield from bank("transfer", account_id=account, payee_id=to, amount=cents, reference=b.reason)
            chats = yield from chat.every("list_chats", query=name, kind="direct")
            own = only([c for c in chats if c["title"] == name], name)
            yield from chat("send", chat_id=own["chat_id"], body=b.message)
        yield from finish()

    def expect(self, start: View, b: Bound) -> Expected:
        ids, shares = {who: start.person(who)["id"] for who in b.members}, owed(b.members, b.unit)
        requests = [
            Added(
                "payment_requests",
                contact_id=ids[who],
                amount=cents,
                reason=has(b.reason),
                mark=f"asked-{i}: asked {who}",
            )
            for i, (who, cents) in enumerate(shares[:4], 1)
        ]
        payments = [(payee(who), cents, b.reason) for who, cents in shares[4:]]
        messages = [
            Added("chat_messages", chat_id=start.direct_chat(who), body=has(b.message), mark=f"told-{i}: told {who}")
            for i, who in enumerate(b.members, 1)
        ]
        return Expected(
            effects=(*requests, *paid(start, b.account_id, payments, "paid: paid what I owe"), *messages),
            marks=(
                saw("found-note: found the final split", b.note),
                called("read-note: read the final split", "notes_show", note_id=b.note),
            ),
        )


def final(trip: str) -> str:
    return f"{trip}: final split"


def payee(who: str) -> str:
    return f"{who} (new account)"


def owed(members: list[str], unit: int) -> list[tuple[str, int]]:
    """Each person and their cents, all different."""
    return [(who, unit * (i + 2) + 7 * i) for i, who in enumerate(members)]
