"""The shop's dashboard: orders, reviews, customers."""

from __future__ import annotations

import random
from typing import ClassVar

from rebind.envs.apps.families.draw import choice, phrase
from rebind.envs.apps.families.effects import Added, Changed, says
from rebind.envs.sites.content.people import MANAGER
from rebind.envs.sites.families.answers import Number, Person
from rebind.envs.sites.families.base import (
    Bound,
    CannotBuild,
    Drawn,
    Expected,
    Family,
    Grounded,
    SiteView,
    saw,
    visited,
)
from rebind.envs.sites.families.draws import lookup, query
from rebind.envs.sites.families.flows import (
    Oracle,
    click,
    dashboard,
    done,
    fill,
    form,
    must,
    open_order,
    pick,
    reads,
)

_NEXT = {"Pending": ("Being processed", "Cancelled"), "Being processed": ("Shipped", "Cancelled")}
ORDER_ID = lookup("SELECT id FROM order_order WHERE number = ?", "number")
NO_ORDER = lambda _view, rng, _bound: str(rng.randrange(200_000, 300_000))  # noqa: E731  (a draw, like its neighbours)


def _next_status(view: SiteView, rng: random.Random, bound: Bound) -> str:
    found = view.column("SELECT status FROM order_order WHERE number = ?", bound.number)
    return rng.choice(_NEXT[found[0] if found else "Pending"])


class MoveOrder(Family):
    id = "sites/move-order-on"
    group = "11-20"
    account, start = MANAGER, "/shop/dashboard/"
    drawn = (
        Drawn(
            "number",
            "record",
            query("SELECT number FROM order_order WHERE status IN ('Pending', 'Being processed') ORDER BY id"),
            central=True,
        ),
        Drawn("status", "state", _next_status, needs=("number",)),
        Drawn(
            "note",
            "parameter",
            phrase(
                "{a} {b}",
                a="Customer phoned: | By mail: | From the warehouse:",
                b="please hurry. | wrong colour. | address is fine. | will collect it.",
            ),
        ),
    )
    grounded = (Grounded("order_id", "record", ORDER_ID),)
    absent: ClassVar = {"number": NO_ORDER}
    wordings = (
        'Change the status of order {number} to "{status}" and add the note "{note}" to it.',
        'Order {number} is to be "{status}" from now on. Also save this note with the order: "{note}"',
        'In the dashboard, set order {number} to "{status}", and note down "{note}" on that order.',
    )

    def oracle(self, b: Bound) -> Oracle:
        page = yield from open_order(b.number)
        shown = reads(r'### Change order status:\n\s*\[\d+\] combobox "([^"]*)"', page)
        yield from pick(shown, b.status)
        yield from click('button "Change status"', 'link "Notes"')
        yield from fill('textbox "Message"', b.note)
        yield from click('button "Save note"')
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        old = start.value("SELECT status FROM order_order WHERE id = ?", b.order_id)
        logged = f"Order status changed from '{old}' to '{b.status}'"
        return Expected(
            effects=(
                Changed("order_order", b.order_id, status=b.status, mark="moved: the order has its status"),
                Added("order_orderstatuschange", order_id=b.order_id, new_status=b.status),
                Added("order_ordernote", order_id=b.order_id, note_type="System", message=logged),
                Added("order_ordernote", order_id=b.order_id, message=says(b.note), mark="noted: the note is there"),
            ),
            marks=(saw("found: opened the order", f"# Order #{b.number}"),),
        )


class OrderCustomer(Family):
    id = "sites/order-customer-question"
    group = "5-10"
    account, start = MANAGER, "/shop/dashboard/"
    drawn = (
        Drawn("number", "record", query("SELECT number FROM order_order ORDER BY id"), central=True),
        Drawn("what", "parameter", choice("who placed it | how many different products it has")),
    )
    grounded = (
        Grounded("order_id", "record", ORDER_ID),
        Grounded(
            "address_id", "record", lookup("SELECT shipping_address_id FROM order_order WHERE number = ?", "number")
        ),
    )
    absent: ClassVar = {"number": NO_ORDER}
    wordings = (
        "Look up order {number} in the dashboard: {what}?",
        "About order {number}: I need to know {what}.",
        "Tell me {what}, for order {number}.",
    )

    def oracle(self, b: Bound) -> Oracle:
        page = yield from open_order(b.number)
        if b.what == "who placed it":
            answer = reads(r"row: Name \| Email address\n\s*row: ([^|\n]+) \|", page)
        else:
            answer = str(page.count('checkbox "selected line"'))
        yield from done(answer)

    def expect(self, start: SiteView, b: Bound) -> Expected:
        user = start.value(
            "SELECT username FROM auth_user u JOIN order_order o ON o.user_id = u.id WHERE o.id = ?", b.order_id
        )
        lines = start.value("SELECT count(*) FROM order_line WHERE order_id = ?", b.order_id)
        answer = Person(user) if b.what == "who placed it" else Number(lines)
        return Expected(answer=answer, marks=(saw("found: opened the order", f"# Order #{b.number}"),))


_REVIEW = (
    "SELECT r.id FROM reviews_productreview r JOIN auth_user u ON u.id = r.user_id WHERE r.title = ? AND "
    "u.first_name || ' ' || u.last_name = ?"
)


class ModerateReview(Family):
    id = "sites/moderate-review"
    group = "11-20"
    account, start = MANAGER, "/shop/dashboard/"
    drawn = (
        Drawn(
            "customer",
            "user",
            query(
                "SELECT DISTINCT first_name || ' ' || last_name FROM auth_user u JOIN reviews_productreview r ON "
                "r.user_id = u.id WHERE r.status = 0 ORDER BY 1"
            ),
            central=True,
        ),
        Drawn(
            "title",
            "record",
            query(
                "SELECT r.title FROM reviews_productreview r JOIN auth_user u ON u.id = r.user_id WHERE "
                "first_name || ' ' || last_name = ? GROUP BY r.title HAVING count(*) = 1 AND max(r.status) = 0 "
                "ORDER BY 1",
                "customer",
            ),
            needs=("customer",),
        ),
        Drawn("status", "state", choice("Approved | Rejected")),
    )
    grounded = (Grounded("review_id", "record", lookup(_REVIEW, "title", "customer")),)
    wordings = (
        'Set the status of the review "{title}" by {customer} to "{status}".',
        '{customer} wrote a review titled "{title}", which waits for moderation. Its status must become "{status}".',
        'Among the reviews by {customer} that require moderation, find "{title}" and change its status to "{status}".',
    )

    def oracle(self, b: Bound) -> Oracle:
        yield from dashboard("Content", "Reviews")
        yield from form(**{"Customer_name:": b.customer, "Keyword:": b.title})
        page = yield from click('button "Search"')
        must(f'link "{b.title}"' in page, f"no review {b.title}")
        yield from click(f'button "Actions" in row "{b.title}"', 'link "Edit"')
        yield from pick("Approved", b.status)
        yield from click('button "Save"')
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        status = {"Approved": 1, "Rejected": 2}[b.status]
        changed = Changed("reviews_productreview", b.review_id, status=status, mark="set: the review has its status")
        return Expected(
            effects=(changed,), marks=(visited("list: searched the reviews", r"/shop/dashboard/reviews/\?"),)
        )


def _orders_of(view: SiteView, name: str) -> int:
    return int(
        view.value(
            "SELECT count(*) FROM order_order o JOIN auth_user u ON u.id = o.user_id WHERE "
            "first_name || ' ' || last_name = ?",
            name,
        )
    )


class CompareCustomers(Family):
    id = "sites/customers-orders-question"
    group = "5-10"
    account, start = MANAGER, "/shop/dashboard/"
    drawn = (
        Drawn(
            "first",
            "user",
            query("SELECT first_name || ' ' || last_name FROM auth_user WHERE is_staff = 0 ORDER BY id"),
            central=True,
        ),
        Drawn(
            "second",
            "user",
            query(
                "SELECT first_name || ' ' || last_name FROM auth_user WHERE is_staff = 0 AND first_name || ' ' || "
                "last_name <> ? "
                "ORDER BY id",
                "first",
            ),
            central=True,
        ),
        Drawn(
            "what", "parameter", choice("in total (both together) | by how many they differ (a number without sign)")
        ),
    )
    grounded = tuple(
        Grounded(
            f"{which}_id", "record", lookup("SELECT id FROM auth_user WHERE first_name || ' ' || last_name = ?", which)
        )
        for which in ("first", "second")
    )
    wordings = (
        "How many orders have the customers {first} and {second} placed? I want to know: {what}.",
        "Compare the numbers of orders of {first} and {second}: {what}?",
        "Look at the orders that {first} and {second} have placed so far and tell me {what}.",
    )

    def oracle(self, b: Bound) -> Oracle:
        yield from dashboard("Customers", "Customers")
        counts = []
        for name in (b.first, b.second):
            yield from fill('textbox "Name:"', name)
            page = yield from click('button "Search"')
            counts.append(int(reads(rf"\| {name} \| True \| False \| [^|]*\| (\d+) \|", page, f"no customer {name}")))
        yield from done(str(sum(counts) if "total" in b.what else abs(counts[0] - counts[1])))

    def expect(self, start: SiteView, b: Bound) -> Expected:
        one, two = _orders_of(start, b.first), _orders_of(start, b.second)
        if one == two:
            raise CannotBuild("both have the same number")
        return Expected(
            answer=Number(one + two if "total" in b.what else abs(one - two)),
            marks=(
                saw("first: saw the first customer", f"| {b.first} |"),
                saw("second: saw the other", f"| {b.second} |"),
            ),
        )
