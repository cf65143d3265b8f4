"""Return one of several delivered orders of a product, review it, and leave a task to send it back."""

from __future__ import annotations

from rebind.envs.apps.families.base import Drawn, Expected, Family, Grounded
from rebind.envs.apps.families.draw import Bound, choice, column, day, integer, phrase, words
from rebind.envs.apps.families.effects import Added, Changed, says
from rebind.envs.apps.families.evidence import called, saw
from rebind.envs.apps.families.oracle import Oracle, finish, login, only
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import View

THINGS = (
    "dough mixer | heated blanket | juice press | ladder stool | patio lamp | rain barrel | shoe rack | soda maker | "
    "steam cleaner | yoghurt maker"
)
BRANDS = words("Arbour & Co | Belcroft | Castellan | Driftmark | Eastwell")
ORDER = (
    "SELECT o.id FROM orders o JOIN addresses a ON a.id = address_id JOIN order_items ON order_id = o.id JOIN products "
    "p ON p.id = product_id WHERE a.label = ? AND p.name = ? AND status = 'delivered'"
)


class ReturnOrder(Family):
    id = "apps/return-order-and-review"
    group = "11-20"
    tools = (
        "shop_orders shop_show_order shop_return_order shop_cancel_order shop_write_review shop_reviews "
        "todo_list_lists todo_create"
    )
    drawn = (
        Drawn("thing", "entity", choice(THINGS), central=True),
        Drawn("address", "location", column("SELECT label FROM addresses ORDER BY id")),
        Drawn("stars", "parameter", integer(1, 5)),
        Drawn(
            "review",
            "parameter",
            phrase(
                "{what} {when}, and {then}.",
                what="It broke | It leaked | It came apart | The handle bent",
                when="after a day | after two weeks | at first use | within the month",
                then="nobody answered | it smells of glue | the manual is no help | the colour is another one",
            ),
        ),
        Drawn("list", "entity", column("SELECT name FROM todo_lists ORDER BY id")),
        Drawn("due", "date", day(3, 30)),
        Drawn("brand", "state", choice(BRANDS)),
    )
    grounded = (
        Grounded("order", "record", lambda v, b: v.value(ORDER, b.address, b.thing.capitalize())),
        Grounded("product", "record", lambda v, b: v.value(
            "SELECT id FROM products WHERE name = ? AND brand = ?", b.thing.capitalize(), b.brand
        )),
    )  # fmt: skip
    wordings = (
        'I have ordered a {thing} several times. The one that was delivered to my address "{address}" goes back: '
        'ask for the return of that order, and review the product that was in it with the text "{review}" (stars: '
        '{stars}). Then add the task "Send back the {thing}" to my to-do list "{list}", due {due}.',
        'Please return the order with the {thing} that has been delivered to the address "{address}". Write a '
        'review of exactly that product: number of stars {stars}, text "{review}". And so that I do not forget to '
        'post it, put "Send back the {thing}" on the list "{list}" with the due date {due}.',
        'Of my orders of a {thing}, the delivered one for the address "{address}" was a mistake. Request its '
        'return, give the product from this order a review (stars {stars}; "{review}") and create the task "Send '
        'back the {thing}", due on {due}, in "{list}".',
    )

    def setup(self, p: Plant, b: Bound) -> None:
        name, start = b.thing.capitalize(), BRANDS.index(b.brand)
        products = {brand: p.add("products", name=name, brand=brand, price=500 * len(brand)) for brand in BRANDS}
        extras = p.column("SELECT id FROM products WHERE name != ? ORDER BY id", name)
        turned = [*BRANDS[start + 1 :], *BRANDS[:start]]
        addresses = p.rows("SELECT id, label FROM addresses ORDER BY id")
        for i, address in enumerate(addresses):
            brand = b.brand if address["label"] == b.address else turned[i % len(turned)]
            self._order(p, address["id"], "delivered", [products[brand], p.rng.choice(extras)])
        there = p.value("SELECT id FROM addresses WHERE label = ?", b.address)
        for status, brand in (("shipped", turned[0]), ("return-requested", turned[1])):
            self._order(p, there, status, [products[brand]])

    def _order(self, p: Plant, address: str, status: str, products: list[str]) -> None:
        prices = [p.value("SELECT price FROM products WHERE id = ?", product) for product in products]
        placed = p.day(-p.rng.randrange(8, 60))
        order = p.add("orders", address_id=address, status=status, placed_on=placed, total=sum(prices))
        for product, price in zip(products, prices, strict=True):
            p.add("order_items", order_id=order, product_id=product, quantity=1, unit_price=price)

    def oracle(self, b: Bound) -> Oracle:
        shop = yield from login("shop")
        found = yield from shop.every("orders", status="delivered", query=b.thing)
        shown = []
        for one in found:
            shown.append((yield from shop("show_order", order_id=one["order_id"])))
        order = only([o for o in shown if o["address"]["label"] == b.address], b.address)
        product = only([i for i in order["items"] if i["name"].lower() == b.thing], b.thing)["product_id"]
        yield from shop("return_order", order_id=order["order_id"])
        yield from shop("write_review", product_id=product, stars=b.stars, body=b.review)
        todo = yield from login("todo")
        lists = yield from todo("list_lists")
        target = only([one for one in lists if one["name"] == b.list], b.list)["list_id"]
        yield from todo("create", list_id=target, title=f"Send back the {b.thing}", due_on=b.due)
        yield from finish()

    def expect(self, start: View, b: Bound) -> Expected:
        target = start.value("SELECT id FROM todo_lists WHERE name = ?", b.list)
        mark = "reviewed: the product that was in it has the review"
        review = Added("reviews", product_id=b.product, stars=b.stars, body=says(b.review), mark=mark)
        title, mark = says(f"Send back the {b.thing}"), "task: the task is on its list"
        return Expected(
            effects=(
                Changed("orders", b.order, status="return-requested", mark="returned: the right order goes back"),
                review,
                Added("todos", list_id=target, title=title, due_on=b.due, assignee=None, done=0, mark=mark),
            ),
            marks=(
                saw("found-order: found the order", b.order),
                called("read-order: read where it went and what was in it", "shop_show_order", order_id=b.order),
            ),
        )
