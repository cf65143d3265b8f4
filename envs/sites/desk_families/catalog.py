"""The service catalog and the requests made in it."""

from __future__ import annotations

import random
import re
from typing import ClassVar

from rebind.envs.apps.families.draw import choice, day, integer
from rebind.envs.apps.families.effects import Added, Changed, says
from rebind.envs.sites.desk_families.assets import SITES
from rebind.envs.sites.desk_families.tickets import COMMENT
from rebind.envs.sites.families.answers import Cents
from rebind.envs.sites.families.base import (
    Bound,
    Drawn,
    Expected,
    Family,
    Grounded,
    SiteView,
    saw,
    visited,
)
from rebind.envs.sites.families.draws import listed, lookup, queries, query
from rebind.envs.sites.families.flows import (
    Flow,
    Oracle,
    act,
    choose,
    click,
    done,
    fill,
    find_in_list,
    must,
    reads,
)


def _option(view: SiteView, rng: random.Random, b: Bound) -> str:
    options = view.column("SELECT options FROM inventory_catalogitem WHERE name = ?", b.item)
    return str(rng.choice(options[0].split("\n") if options else ["Small", "Large"]))


def order(name: str, quantity: int, needed: str, site: str) -> Flow[str]:
    """From the catalog to an item's filled form, but for its option and text."""
    yield from fill('searchbox "Search catalog"', name)
    page = yield from click('button "Find"')
    must(f'link "{name}"' in page, f"no item {name}")
    yield from click(f'link "{name}"')
    yield from fill('spinbutton "Quantity:"', quantity)
    yield from fill('date "Needed by:"', needed)
    return (yield from choose('combobox "Deliver to:"', site))


class OrderItem(Family):
    id = "desk/order-item"
    group = "5-10"
    account, start = "ada.fischer", "/office/catalog/"
    drawn = (
        Drawn(
            "item",
            "entity",
            query("SELECT name FROM inventory_catalogitem WHERE options <> '' ORDER BY id"),
            central=True,
        ),
        Drawn("option", "parameter", _option, needs=("item",)),
        Drawn("quantity", "parameter", integer(2, 9)),
        Drawn("needed", "date", day(14, 60)),
        Drawn("site", "location", choice(SITES)),
        Drawn("reason", "parameter", COMMENT),
    )
    grounded = (Grounded("item_id", "record", lookup("SELECT id FROM inventory_catalogitem WHERE name = ?", "item")),)
    absent: ClassVar = {"item": choice("Espresso machine | Company yacht | Fountain pen | Wind tunnel")}
    wordings = (
        'Order {quantity} of "{item}" (option "{option}") from the service catalog, needed by {needed}, '
        "delivered to {site}. "
        'The justification is "{reason}".',
        'Request the catalog item "{item}": option "{option}", quantity {quantity}, needed by {needed}, '
        "deliver to {site}, "
        'justification "{reason}"',
        'We need {quantity} × "{item}" in {site} by {needed}. Place the request with the option "{option}" and this '
        'justification: "{reason}"',
    )

    def oracle(self, b: Bound) -> Oracle:
        yield from order(b.item, b.quantity, b.needed, b.site)
        yield from choose('combobox "Option:"', b.option)
        yield from fill('textbox "Justification:"', b.reason)
        yield from click('button "Place request"')
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        made = Added(
            "inventory_itemrequest",
            item_id=b.item_id,
            option=b.option,
            quantity=b.quantity,
            needed_by=b.needed,
            deliver_to=b.site,
            justification=says(b.reason),
            urgent=0,
            mark="ordered: the request is there",
        )
        return Expected(effects=(made,), marks=(saw("found: opened the item", f"# {b.item}"),))


class OrderMany(Family):
    id = "desk/order-many-items"
    group = ">35"
    account, start = "ben.osei", "/office/catalog/"
    drawn = (
        Drawn(
            "items",
            "entity",
            queries(5, "SELECT name FROM inventory_catalogitem WHERE options = '' ORDER BY id"),
            central=True,
            show=listed,
        ),
        Drawn("quantity", "parameter", integer(2, 9)),
        Drawn("needed", "date", day(14, 60)),
        Drawn("site", "location", choice(SITES)),
    )
    grounded = (
        Grounded(
            "item_ids",
            "record",
            lambda v, b: [v.value("SELECT id FROM inventory_catalogitem WHERE name = ?", name) for name in b.items],
        ),
    )
    wordings = (
        "From the service catalog, order {quantity} each of {items}, all needed by {needed} and delivered to {site}.",
        "Place requests for {items} in the service catalog: {quantity} of each, to {site}, needed by {needed}.",
        "The branch in {site} needs {quantity} each of {items} by {needed}. Request them all.",
    )

    def oracle(self, b: Bound) -> Oracle:
        for n, name in enumerate(b.items):
            if n:
                yield from click('link "Service catalog"')
            yield from order(name, b.quantity, b.needed, b.site)
            yield from click('button "Place request"')
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        return Expected(
            effects=[
                Added(
                    "inventory_itemrequest",
                    item_id=one,
                    quantity=b.quantity,
                    needed_by=b.needed,
                    deliver_to=b.site,
                    mark=f"ordered-{n}: {name}",
                )
                for n, (one, name) in enumerate(zip(b.item_ids, b.items, strict=True), 1)
            ]
        )


_OPEN = (
    "FROM inventory_itemrequest r JOIN auth_user u ON u.id = r.requested_by_id JOIN inventory_catalogitem i ON i.id = "
    "r.item_id WHERE r.state = 'Requested'"
)


class DecideRequest(Family):
    id = "desk/decide-request"
    group = "5-10"
    account, start = "nora.lind", "/inventory/inventory/itemrequest/"
    drawn = (
        Drawn("user", "user", query(f"SELECT DISTINCT u.username {_OPEN} ORDER BY 1"), central=True),
        Drawn(
            "item",
            "entity",
            query(f"SELECT DISTINCT i.name {_OPEN} AND u.username = ? ORDER BY 1", "user"),
            needs=("user",),
        ),
        Drawn("decision", "state", choice("Approved | Rejected")),
    )
    grounded = (
        Grounded(
            "request_id", "record", lookup(f"SELECT r.id {_OPEN} AND u.username = ? AND i.name = ?", "user", "item")
        ),
    )
    wordings = (
        'The open request (state "Requested") of {user} for "{item}" is {decision}: set its state.',
        'Find the request for "{item}" that {user} made and that nobody has decided on, and set it to {decision}.',
        'Among all requests, change the state of the one by {user} for "{item}" from Requested to {decision}.',
    )

    def oracle(self, b: Bound) -> Oracle:
        page = yield from find_in_list(b.user)
        number = reads(
            rf'link "(\d+)" \| {re.escape(b.item)} \| \d+ \| \w+ \| Requested \| {b.user} ', page, "the request"
        )
        yield from click(f'link "{number}"')
        yield from choose('combobox "State:"', b.decision)
        yield from click('button "Save"')
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        decided = Changed("inventory_itemrequest", b.request_id, state=b.decision, mark="decided: it has its state")
        marks = (visited("found: opened the request", rf"/inventory/inventory/itemrequest/{b.request_id}/"),)
        return Expected(effects=(decided,), marks=marks)


class CatalogCost(Family):
    id = "desk/catalog-cost-question"
    group = "<5"
    account, start = "cora.silva", "/office/catalog/"
    drawn = (
        Drawn(
            "first", "entity", query("SELECT name FROM inventory_catalogitem WHERE price > 0 ORDER BY id"), central=True
        ),
        Drawn(
            "second",
            "entity",
            query("SELECT name FROM inventory_catalogitem WHERE price > 0 AND name <> ? ORDER BY id", "first"),
            central=True,
        ),
        Drawn("quantity", "parameter", integer(2, 9)),
    )
    grounded = tuple(
        Grounded(f"{which}_id", "record", lookup("SELECT id FROM inventory_catalogitem WHERE name = ?", which))
        for which in ("first", "second")
    )
    wordings = (
        'What would {quantity} of "{first}" and one "{second}" from the service catalog cost together, in dollars?',
        'Add up the prices in the service catalog: {quantity} × "{first}" plus 1 × "{second}". How many dollars?',
        'I think of ordering {quantity} pieces of "{first}" and a single "{second}". Total price in dollars?',
    )

    def oracle(self, b: Bound) -> Oracle:
        page = yield from act("noop", ms=0)
        prices = [
            float(reads(rf'link "{name}"[^\n]*\n\s*\w+, \$([\d.]+)', page, f"no item {name}"))
            for name in (b.first, b.second)
        ]
        yield from done(f"{b.quantity * prices[0] + prices[1]:.2f}")

    def expect(self, start: SiteView, b: Bound) -> Expected:
        one, two = (
            start.value("SELECT price FROM inventory_catalogitem WHERE id = ?", item)
            for item in (b.first_id, b.second_id)
        )
        answer = Cents(round((b.quantity * one + two) * 100))
        return Expected(answer=answer, marks=(saw("looked: saw both", f'link "{b.first}"', f'link "{b.second}"'),))
