"""How much of a budget is left, from the approved note and the transactions of one account and period."""

from __future__ import annotations

from rebind.envs.apps.families.answers import Cents
from rebind.envs.apps.families.base import Drawn, Expected, Family, Grounded
from rebind.envs.apps.families.draw import Bound, choice, column, day, integer, one_of, words
from rebind.envs.apps.families.evidence import called, saw
from rebind.envs.apps.families.oracle import Oracle, finish, login, only
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import View

PROJECTS = (
    "attic conversion | boat repair | choir tour | garden wall | kitchen renovation | piano restoration | "
    "summer festival | van conversion | wedding party | workshop move"
)
SHOPS = words("Timber Yard | Paint & Co | Hire Centre | Fixings Direct | Corner Bakery | Sound Rental")
SPENT = (
    "SELECT coalesce(sum(amount), 0) FROM transactions WHERE account_id = ? AND reference = ? AND booked_on "
    "BETWEEN ? AND ?"
)


class BudgetLeft(Family):
    id = "apps/budget-left-question"
    group = "5-10"
    tools = "notes_search notes_show bank_list_accounts bank_transactions"
    drawn = (
        Drawn("project", "entity", choice(PROJECTS), central=True),
        Drawn("account", "entity", column("SELECT name FROM bank_accounts ORDER BY id")),
        Drawn("since", "date", day(-80, -56)),
        Drawn("until", "date", day(-20, -4)),
        Drawn("budget", "state", integer(180_000, 420_000, 2_500)),
    )
    grounded = (
        Grounded("note", "record", lambda v, b: v.value("SELECT id FROM notes WHERE title = ?", approved(b.project))),
        Grounded(
            "account_id", "record", lambda v, b: v.value("SELECT id FROM bank_accounts WHERE name = ?", b.account)
        ),
    )
    wordings = (
        "How much of the approved budget for the {project} is left, in cents? The approved budget is in my notes. "
        'Count what the account "{account}" paid with the reference {project} from {since} to {until}, both '
        "included; refunds (money that came back) go back into the budget.",
        "My notes have an approved budget for the {project}. Subtract everything paid for it (reference {project}) "
        'from the account "{account}" between {since} and {until}, first and last day included, add what was '
        "refunded in that time, and tell me how many cents remain.",
        "Tell me what remains, in cents, of the budget approved for the {project} (see my notes) after the "
        'payments with that reference out of "{account}" from {since} up to and including {until}. Refunds count '
        "as money back.",
    )

    def setup(self, p: Plant, b: Bound) -> None:
        title = b.project.capitalize()
        p.add("notes", title=approved(b.project), body=f"Agreed with everyone.\nApproved budget: {b.budget} cents.")
        draft = f"A proposal, not approved yet.\nBudget: {b.budget + 37_500} cents."
        p.add("notes", title=f"{title}: budget, first draft", body=draft, updated_at=p.moment(-1))
        for account in p.column("SELECT id FROM bank_accounts ORDER BY id"):
            for age in sorted(p.rng.sample(range(2, 86), 26), reverse=True):
                amount = p.rng.randrange(900, 3_000) if p.rng.random() < 0.15 else -p.rng.randrange(1_200, 9_900)
                booked = {"amount": amount, "booked_on": p.day(-age), "counterparty": one_of(p.rng, SHOPS, "shop")}
                p.add("transactions", account_id=account, reference=title, category="home", **booked)

    def oracle(self, b: Bound) -> Oracle:
        notes = yield from login("notes")
        found = yield from notes.every("search", query=f"{b.project} approved budget")
        note = only([n for n in found if n["title"] == approved(b.project)], b.project)
        body = (yield from notes("show", note_id=note["note_id"]))["body"]
        budget = int(body.split("Approved budget: ")[1].split()[0])
        bank = yield from login("bank")
        accounts = yield from bank("list_accounts")
        account = only([a for a in accounts if a["name"] == b.account], b.account)["account_id"]
        period = {"since": b.since, "until": b.until}
        booked = yield from bank.every("transactions", account_id=account, query=b.project, **period)
        yield from finish(str(budget + sum(t["amount"] for t in booked)))

    def expect(self, start: View, b: Bound) -> Expected:
        spent = start.value(SPENT, b.account_id, b.project.capitalize(), b.since, b.until)
        return Expected(
            answer=Cents(b.budget + spent),
            marks=(
                called("read-budget: read the approved budget", "notes_show", note_id=b.note),
                saw("found-account: found the account", b.account_id),
                called("read-payments: read what that account paid", "bank_transactions", account_id=b.account_id),
            ),
        )


def approved(project: str) -> str:
    return f"{project.capitalize()}: approved budget"
