"""What several pieces of the cheapest well-rated product of a category cost with the best coupon."""

from __future__ import annotations

from typing import Any

from rebind.envs.apps.families.answers import Cents
from rebind.envs.apps.families.base import Drawn, Expected, Family, Grounded
from rebind.envs.apps.families.coupons import best, only_best
from rebind.envs.apps.families.draw import Bound, choice, column, integer
from rebind.envs.apps.families.evidence import called, saw
from rebind.envs.apps.families.oracle import App, Asks, Oracle, OracleFailed, call, finish, login
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import View

RATINGS = "3.9 | 4.1 | 4.3 | 4.5 | 4.7"
OFFERS = ((4.9, 0), (4.9, 2), (3.2, 40), (4.8, 1), (3.9, 40), (4.1, 40), (4.3, 40), (4.5, 40), (4.7, 40))
"""Rating and stock of the products on offer, the cheapest first: the cheapest of all will not do."""
CHEAPEST = "SELECT id FROM products WHERE category = ? AND rating >= ? AND stock >= ? ORDER BY price, id"


class CostWithCoupon(Family):
    id = "apps/cost-of-cheapest-rated-question"
    group = "5-10"
    tools = "supervisor_profile shop_search shop_show_product shop_reviews shop_list_coupons shop_cart"
    drawn = (
        Drawn("category", "entity", column("SELECT category FROM products GROUP BY category"), central=True),
        Drawn("rating", "parameter", choice(RATINGS)),
        Drawn("quantity", "parameter", integer(10, 24)),
        Drawn("level", "state", integer(50, 70)),
    )
    grounded = (
        Grounded("product", "record", lambda v, b: v.column(CHEAPEST, b.category, float(b.rating), b.quantity)[0]),
        Grounded("coupon", "record", lambda v, b: only_best(v, [priced(v, b)])[0]),
    )
    wordings = (
        "What would I pay for {quantity} pieces of the cheapest product in the shop's category {category} that is "
        "rated {rating} or better and has at least that many pieces in stock, with the one coupon that saves me "
        "most today? Answer in cents, and do not order anything.",
        "I need {quantity} of one and the same product of the category {category}: the cheapest with a rating of "
        "at least {rating} of which the shop has that many in stock. How many cents does it come to after the best "
        "coupon that I can use on it today? Just tell me, I am not buying yet.",
        "Tell me the price in cents of an order that I may place later today: {quantity} pieces of the "
        "lowest-priced {category} product whose rating is {rating} or more and whose stock is sufficient, less "
        "what the most favourable coupon takes off.",
    )

    def setup(self, p: Plant, b: Bound) -> None:
        models = p.rows("SELECT name, brand, price FROM products WHERE category = ? ORDER BY id", b.category)
        lowest = min(model["price"] for model in models)
        for i, (model, (rating, stock)) in enumerate(zip(models, OFFERS, strict=False)):
            price = lowest * (b.level + 3 * i) // 100
            columns = {"category": b.category, "brand": model["brand"], "rating": rating, "stock": stock}
            p.add("products", name=f"{model['name']}, opened box", price=price, **columns)
        for code, percent, category, least, expires in (
            ("OPENBOX17", 17, b.category, 0, 20), ("OPENBOX35", 35, b.category, 0, -1), ("BULK40", 40, None, 250_000, 9)
        ):  # fmt: skip
            columns = {"category": category, "min_total": least, "expires_on": p.day(expires)}
            p.add("coupons", code=code, percent=percent, **columns)

    def oracle(self, b: Bound) -> Oracle:
        today = (yield from call("supervisor_profile"))["today"]
        shop = yield from login("shop")
        filters = {"category": b.category, "in_stock": True, "sort": "price", "page_size": 20}
        found = yield from shop("search", **filters)
        rated = [p["product_id"] for p in found["items"] if p["rating"] >= float(b.rating)]
        price = (yield from first_in_stock(shop, rated, b.quantity))["price"]
        coupons = yield from shop("list_coupons")
        _, off = best(coupons, [(b.category, price, b.quantity)], today)
        yield from finish(str(price * b.quantity - off))

    def expect(self, start: View, b: Bound) -> Expected:
        item = priced(start, b)
        _, price, quantity = item
        return Expected(
            answer=Cents(price * quantity - only_best(start, [item])[1]),
            marks=(
                saw("found-product: found the product in question", b.product),
                called("read-stock: read how many of it are in stock", "shop_show_product", product_id=b.product),
                saw("found-coupon: found the best coupon", b.coupon),
            ),
        )


def priced(view: View, b: Bound) -> tuple[str, int, int]:
    """The order's only item."""
    product = view.column(CHEAPEST, b.category, float(b.rating), b.quantity)[0]
    return b.category, view.value("SELECT price FROM products WHERE id = ?", product), b.quantity


def first_in_stock(shop: App, products: list[str], quantity: int) -> Asks[Any]:
    """The first product with enough pieces in stock. Raises `OracleFailed` where there is none."""
    for product in products:
        shown = yield from shop("show_product", product_id=product)
        if shown["stock"] >= quantity:
            return shown
    raise OracleFailed(f"none of {products} has {quantity} pieces in stock")
