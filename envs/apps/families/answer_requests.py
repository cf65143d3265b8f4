"""Pay one of a contact's two open payment requests, decline the other, and ask for money in turn."""

from __future__ import annotations

import random

from rebind.envs.apps.families.base import Drawn, Expected, Family, Grounded
from rebind.envs.apps.families.draw import Bound, cents, choice, column, integer, one_of, person, phrase, words
from rebind.envs.apps.families.effects import Added, Changed, has, paid
from rebind.envs.apps.families.evidence import saw
from rebind.envs.apps.families.oracle import Oracle, finish, login, only
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import View

REASONS = words(
    "Canoe hire | Cheese platter | Ferry crossing | Karaoke room | Museum entry | Parking fine | Pizza evening | Tent "
    "repair"
)
OPEN = (
    "SELECT id FROM payment_requests WHERE contact_id = ? AND reason = ? AND direction = 'incoming' AND status = 'open'"
)


def another_reason(_view: View, rng: random.Random, bound: Bound) -> str:
    return one_of(rng, [reason for reason in REASONS if reason != bound.reason], "other reason")


class AnswerRequests(Family):
    id = "apps/answer-two-payment-requests"
    group = "5-10"
    tools = "bank_list_requests bank_list_accounts bank_answer_request bank_request_money bank_transfer contacts_search"
    drawn = (
        Drawn("person", "user", person(), central=True),
        Drawn("reason", "entity", choice(REASONS)),
        Drawn("account", "entity", column("SELECT name FROM bank_accounts ORDER BY id")),
        Drawn("amount", "parameter", integer(650, 5_450, 50), show=cents),
        Drawn(
            "purpose",
            "parameter",
            phrase(
                "{what} {whose}",
                what="Battery | Bread knife | Helmet | Lantern | Raincoat",
                whose="you kept | you borrowed | you broke | from last year",
            ),
        ),
        Drawn("other_reason", "state", another_reason, needs=("reason",)),
    )
    grounded = (
        Grounded("request", "record", lambda v, b: v.value(OPEN, v.person(b.person)["id"], b.reason)),
        Grounded("other_request", "record", lambda v, b: v.value(OPEN, v.person(b.person)["id"], b.other_reason)),
        Grounded(
            "account_id", "record", lambda v, b: v.value("SELECT id FROM bank_accounts WHERE name = ?", b.account)
        ),
    )
    wordings = (
        '{person} has sent me two payment requests that are still open. Pay the one for "{reason}" from my account '
        '"{account}", decline the other one, and request {amount} from {person} with the reason "{purpose}".',
        'Please deal with the open payment requests from {person}: "{reason}" is paid from "{account}", the other '
        'one is declined. Then ask them for {amount} yourself; the reason is "{purpose}".',
        'Of the two open requests that {person} made, I accept only "{reason}": pay it out of "{account}" and turn '
        "the other down. And {person} owes me {amount}, so send a money request for that, with the reason "
        '"{purpose}".',
    )

    def setup(self, p: Plant, b: Bound) -> None:
        contact = p.person(b.person)
        p.run("UPDATE bank_accounts SET balance = max(balance, 100000)")
        withdrawn = "UPDATE payment_requests SET status = 'cancelled' WHERE status = 'open' AND contact_id = ?"
        p.run(withdrawn, contact["id"])
        for reason in REASONS:  # in one order, whatever the reasons asked for: each has an id of its own
            past = p.rng.choice(("declined", "cancelled"))
            status = "open" if reason in (b.reason, b.other_reason) else past
            asked = {"amount": p.rng.randrange(700, 6_000, 10), "created_on": p.day(-p.rng.randrange(2, 30))}
            p.add("payment_requests", contact_id=contact["id"], reason=reason, status=status, **asked)
        others = "SELECT id FROM contacts WHERE id != ? ORDER BY first_name != ?, id"
        rival = p.column(others, contact["id"], contact["first_name"])[0]
        for who, direction in ((rival, "incoming"), (contact["id"], "outgoing")):
            amount = p.rng.randrange(700, 6_000, 10)
            p.add("payment_requests", contact_id=who, reason=b.reason, amount=amount, direction=direction)

    def oracle(self, b: Bound) -> Oracle:
        bank = yield from login("bank")
        found = yield from bank.every("list_requests", direction="incoming", status="open")
        requests = {one["reason"]: one for one in found if one["contact_name"] == b.person}
        accounts = yield from bank("list_accounts")
        account = only([a for a in accounts if a["name"] == b.account], b.account)["account_id"]
        accepted = requests.pop(b.reason)
        other = only(list(requests.values()), "other request")
        yield from bank("answer_request", request_id=accepted["request_id"], accept=True, account_id=account)
        yield from bank("answer_request", request_id=other["request_id"], accept=False)
        yield from bank("request_money", contact_id=accepted["contact_id"], amount=b.amount, reason=b.purpose)
        yield from finish()

    def expect(self, start: View, b: Bound) -> Expected:
        contact = start.person(b.person)["id"]
        owed = start.value("SELECT amount FROM payment_requests WHERE id = ?", b.request)
        asked = Added(
            "payment_requests",
            contact_id=contact,
            amount=b.amount,
            reason=has(b.purpose),
            direction="outgoing",
            mark="asked: asked them for money in turn",
        )
        return Expected(
            effects=(
                Changed("payment_requests", b.request, status="paid", mark="accepted: the right request is paid"),
                Changed("payment_requests", b.other_request, status="declined", mark="declined: the other is declined"),
                *paid(start, b.account_id, [(b.person, owed, b.reason)], "paid: the right account paid"),
                asked,
            ),
            marks=(
                saw("found-requests: found both requests", b.request, b.other_request),
                saw("found-account: found the account", b.account_id),
            ),
        )
