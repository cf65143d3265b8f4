"""Put some pieces of a product into the cart: several brands sell it under one name, in more than one size."""

from __future__ import annotations

from rebind.envs.apps.families.base import Drawn, Expected, Family, Grounded
from rebind.envs.apps.families.draw import Bound, choice, integer, words
from rebind.envs.apps.families.effects import Added
from rebind.envs.apps.families.evidence import called, saw
from rebind.envs.apps.families.oracle import Oracle, finish, login, only
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import View

GOODS = (
    "Apple corer | Bamboo tray | Cake stand | Doorstop | Egg timer | Fire blanket | Hall mirror | Ink pad | Jam "
    "funnel | Laundry basket | Oil lamp | Paper lantern | Shoe rack | Wall clock"
)
BRANDS = "Ashgrove | Bellhouse | Castletown | Driftline"


class FillCart(Family):
    id = "apps/put-brand-product-in-cart"
    group = "<5"
    tools = "shop_search shop_show_product shop_cart shop_add_to_cart shop_set_quantity"
    drawn = (
        Drawn("product", "entity", choice(GOODS), central=True),
        Drawn("brand", "entity", choice(BRANDS)),
        Drawn("quantity", "parameter", integer(2, 9)),
    )
    grounded = (
        Grounded("product_id", "record", lambda v, b: v.value(
            "SELECT id FROM products WHERE name = ? AND brand = ?", b.product, b.brand
        )),
    )  # fmt: skip
    wordings = (
        'Put {quantity} pieces of the "{product}" by {brand} into my shopping cart. Do not order yet.',
        'I need {quantity} of the product "{product}" in the shop, the one from {brand}. Just add them to the '
        "cart, without ordering.",
        'Please add {quantity} times the "{product}" by {brand} to my cart. Other brands sell it too, so mind the '
        "brand; I will check out myself.",
        'From the shop I would like {quantity} of the {brand} "{product}", the plain one. Only put them in the '
        "cart; I order later.",
    )

    def setup(self, p: Plant, b: Bound) -> None:
        price, brands = p.rng.randrange(900, 3900, 50), words(BRANDS)
        for i, brand in enumerate(brands):  # in one order, whatever the brand asked for: each has an id of its own
            p.add("products", name=b.product, brand=brand, price=price + 150 * i, rating=(4.5, 4.3, 4.1, 3.8)[i])
        p.add("products", name=f"{b.product}, large", brand=b.brand, price=price + 900)
        rival = next(brand for brand in brands if brand != b.brand)
        p.run("INSERT INTO cart_items SELECT id, 1 FROM products WHERE name = ? AND brand = ?", b.product, rival)

    def oracle(self, b: Bound) -> Oracle:
        shop = yield from login("shop")
        found = yield from shop.every("search", query=b.product, brand=b.brand)
        product = only([p for p in found if p["name"] == b.product], b.product)["product_id"]
        yield from shop("add_to_cart", product_id=product, quantity=b.quantity)
        yield from finish()

    def expect(self, start: View, b: Bound) -> Expected:
        mark = "in-cart: as many pieces as asked are in the cart"
        return Expected(
            effects=(Added("cart_items", product_id=b.product_id, quantity=b.quantity, mark=mark),),
            marks=(
                saw("found-product: found the product of that brand", b.product_id),
                called("right-product: put that product into the cart", "shop_add_to_cart", product_id=b.product_id),
            ),
        )
