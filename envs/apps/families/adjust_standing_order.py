"""Set a standing order to the premium of the insurer's newest letter about one of several policies."""

from __future__ import annotations

from rebind.envs.apps.families.base import Drawn, Expected, Family, Grounded
from rebind.envs.apps.families.draw import Bound, cents, choice, integer, words
from rebind.envs.apps.families.effects import Added, Changed
from rebind.envs.apps.families.evidence import called, saw
from rebind.envs.apps.families.oracle import Oracle, finish, login, only
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import View
from rebind.envs.apps.iban import with_check_digits

INSURERS = (
    "Amber Mutual | Bastion Cover | Cartwright Assurance | Dovetail Insurance | Everline Mutual | Fairweather Cover | "
    "Gatehouse Insurance"
)
POLICIES = "Bicycle policy | Car policy | Dental policy | Home policy | Travel policy"
NEWEST = "SELECT id FROM mails WHERE sender = ? AND subject = ? ORDER BY sent_at DESC"
ORDER = (
    "SELECT s.id FROM standing_orders s JOIN payees p ON p.id = payee_id WHERE p.name = ? AND reference LIKE ? || ' %'"
)


class AdjustStandingOrder(Family):
    id = "apps/adjust-standing-order-by-letter"
    group = "5-10"
    tools = (
        "mail_search mail_show mail_add_label bank_list_standing_orders bank_update_standing_order "
        "bank_create_standing_order bank_list_payees"
    )
    drawn = (
        Drawn("insurer", "entity", choice(INSURERS), central=True),
        Drawn("policy", "entity", choice(POLICIES)),
        Drawn("day", "parameter", integer(2, 28)),
        Drawn("label", "parameter", choice("adjusted | booked | handled | in-order | settled | updated")),
        Drawn("premium", "state", integer(1_900, 8_900, 10)),
    )
    grounded = (
        Grounded("order", "record", lambda v, b: v.value(ORDER, b.insurer, b.policy)),
        Grounded("letter", "record", lambda v, b: v.column(NEWEST, service(b.insurer), subject(b.policy))[0]),
    )
    wordings = (
        'My insurer {insurer} has changed the premium of my "{policy}". Set my standing order for that policy to '
        "the monthly premium in their newest letter about it, let it run on day {day} of the month, and put the "
        'label "{label}" on that letter. It came by mail; advertising does not count as a letter about the premium.',
        'Please bring the standing order that pays {insurer} for the "{policy}" up to date: the amount as in the '
        "most recent mail in which they tell me my new premium for it (not what they offer elsewhere), the day of "
        'the month becomes {day}. Label that mail "{label}".',
        '{insurer} wrote again about what my "{policy}" costs a month. Change the standing order of this policy to '
        "the amount their latest premium letter in my mail gives, paid on day {day} of each month, and label the "
        'letter "{label}". I have other policies with them, and they send offers too: leave those alone.',
    )

    def setup(self, p: Plant, b: Bound) -> None:
        account = p.column("SELECT id FROM bank_accounts ORDER BY id")[0]
        policies = words(POLICIES)
        for i, insurer in enumerate((b.insurer, f"{b.insurer} Brokers")):
            iban = with_check_digits("DE", f"50010517{p.rng.randrange(10**8):09}{i}")
            payee = p.add("payees", name=insurer, iban=iban)
            for policy in policies:
                chosen, now = (insurer, policy) == (b.insurer, b.policy), p.rng.randrange(1_900, 8_900, 10)
                amount, day = (b.premium - 340 if chosen else now), b.day % 28 + 1
                number = f"{policy} {p.rng.randrange(10_000, 99_999)}"
                paid = {"account_id": account, "day_of_month": day, "reference": number}
                p.add("standing_orders", payee_id=payee, amount=amount, **paid)
                for age, premium in ((370, amount), (4 if chosen else 2, b.premium if chosen else amount + 270)):
                    self._write(p, insurer, subject(policy), f"your premium is {cents(premium)} a month", age)
        offer = f"the {b.policy} Plus costs you no more than {cents(b.premium + 150)} a month"
        self._write(p, b.insurer, f"{b.policy} Plus: a better premium for you", offer, 1)

    def _write(self, p: Plant, insurer: str, about: str, text: str, age: int) -> None:
        body = f"Dear customer,\n\nfrom the first of next month {text}.\n\n{insurer}"
        p.add("mails", sender=service(insurer), subject=about, body=body, sent_at=p.moment(-age))

    def oracle(self, b: Bound) -> Oracle:
        mail = yield from login("mail")
        found = yield from mail.every("search", query=subject(b.policy), sender=service(b.insurer))  # newest first
        letter = next(m for m in found if m["subject"] == subject(b.policy))["mail_id"]
        body = (yield from mail("show", mail_id=letter))["body"]
        premium = round(float(body.split("your premium is $")[1].split()[0]) * 100)
        bank = yield from login("bank")
        orders = yield from bank("list_standing_orders")
        paying = [o for o in orders if o["payee_name"] == b.insurer and o["reference"].startswith(f"{b.policy} ")]
        order = only(paying, b.policy)["standing_order_id"]
        yield from bank("update_standing_order", standing_order_id=order, amount=premium, day_of_month=b.day)
        yield from mail("add_label", mail_id=letter, label=b.label)
        yield from finish()

    def expect(self, start: View, b: Bound) -> Expected:
        return Expected(
            effects=(
                Changed("standing_orders", b.order, amount=b.premium, mark="amount: the order has the new premium"),
                Changed("standing_orders", b.order, day_of_month=b.day, mark="day: the order runs on its new day"),
                Added("mail_labels", mail_id=b.letter, label=b.label, mark="labelled: the letter has its label"),
            ),
            marks=(
                saw("found-letter: found the newest letter about the policy", b.letter),
                called("read-letter: read what it says", "mail_show", mail_id=b.letter),
                saw("found-order: found the standing order of the policy", b.order),
            ),
        )


def service(insurer: str) -> str:
    return f"service@{insurer.lower().replace(' ', '-')}.example"


def subject(policy: str) -> str:
    return f"{policy}: your new premium"
