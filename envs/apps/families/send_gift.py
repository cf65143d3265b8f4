"""Order a present for one of several namesakes, to where they live now."""

from __future__ import annotations

from rebind.envs.apps.families.base import Drawn, Expected, Family, Grounded
from rebind.envs.apps.families.draw import Bound, choice, integer, namesake, words
from rebind.envs.apps.families.effects import Added, Changed, Part, Removed, says
from rebind.envs.apps.families.evidence import called, saw
from rebind.envs.apps.families.oracle import Oracle, finish, login, person
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import View

THINGS = (
    "storm kettle | bread crock | felt slippers | star lantern | picnic hamper | garden trowel | tea caddy | wool "
    "throw | brass compass | travel chess set"
)
NOTES = "Happy birthday! | With many thanks | Get well soon | Congratulations to you both | Enjoy the new home"
BRANDS = "Acorn & Sons | Birchline | Corvid Works | Dunmore"


class SendGift(Family):
    id = "apps/send-gift-to-current-address"
    group = "11-20"
    tools = (
        "contacts_search contacts_show shop_search shop_show_product shop_cart shop_clear_cart shop_add_to_cart "
        "shop_list_addresses shop_add_address shop_checkout"
    )
    drawn = (
        Drawn("thing", "entity", choice(THINGS), central=True),
        Drawn("recipient", "user", namesake("company", "previous_street IS NOT NULL")),
        Drawn("quantity", "parameter", integer(2, 6)),
        Drawn("gift_note", "parameter", choice(NOTES)),
        Drawn("cheapest", "state", choice(BRANDS)),
    )
    grounded = (
        Grounded("product", "record", lambda v, b: v.value(
            "SELECT id FROM products WHERE name = ? AND brand = ?", b.thing.capitalize(), b.cheapest
        )),
        Grounded("street", "location", lambda v, b: v.person(b.recipient)["street"]),
    )  # fmt: skip
    wordings = (
        'Order {quantity} of the cheapest "{thing}" that the shop has in stock and rates at least 4, as a present '
        'for {recipient}, with the gift note "{gift_note}". It goes to the address in my contacts where they live '
        "now; add it to the shop's addresses. Order nothing else: whatever is in the cart has to go first.",
        '{recipient} gets a present from me: {quantity} pieces of the shop\'s "{thing}", the cheapest that is in '
        'stock with a rating of 4 or more. Gift note: "{gift_note}". Deliver to their current address from my '
        "contacts (add it as an address in the shop), and empty the cart first, so that nothing else is ordered.",
        'Please send {quantity} × "{thing}" to {recipient}, with the gift note "{gift_note}". Pick the lowest '
        "price among those in stock and rated 4 or better, throw out what is in the cart, and use the address they "
        "live at now according to my contacts, which the shop does not know yet.",
    )

    def setup(self, p: Plant, b: Bound) -> None:
        name, price = b.thing.capitalize(), p.rng.randrange(1900, 4900, 50)
        sold_out, poor, dear = (brand for brand in words(BRANDS) if brand != b.cheapest)
        p.add("products", name=name, brand=b.cheapest, price=price, rating=4.3)
        p.add("products", name=name, brand=sold_out, price=price - 400, rating=4.8, stock=0)
        p.add("products", name=name, brand=poor, price=price - 700, rating=3.1)
        p.add("products", name=name, brand=dear, price=price + 300, rating=4.9)
        who = p.person(b.recipient)
        p.add("addresses", label=who["first_name"], street=who["previous_street"], city=who["previous_city"])
        p.run("DELETE FROM cart_items")
        p.add("cart_items", product_id=p.add("products", name="Gift wrap", brand="Papery", price=350), quantity=2)

    def oracle(self, b: Bound) -> Oracle:
        contacts = yield from login("contacts")
        found = yield from person(contacts, b.recipient)
        who = yield from contacts("show", contact_id=found["contact_id"])
        shop = yield from login("shop")
        found = yield from shop("search", query=b.thing, in_stock=True, sort="price")
        product = next(p for p in found["items"] if p["name"].lower() == b.thing and p["rating"] >= 4)
        if (yield from shop("cart"))["items"]:
            yield from shop("clear_cart")
        yield from shop("add_to_cart", product_id=product["product_id"], quantity=b.quantity)
        taken = [address["label"] for address in (yield from shop("list_addresses"))]
        label = f"{b.recipient} (current, {len(taken)})"
        address = yield from shop("add_address", label=label, street=who["street"], city=who["city"])
        yield from shop("checkout", address_id=address["address_id"], gift_note=b.gift_note)
        yield from finish()

    def expect(self, start: View, b: Bound) -> Expected:
        who, product = start.person(b.recipient), start.row("SELECT * FROM products WHERE id = ?", b.product)
        total, note, left = product["price"] * b.quantity, says(b.gift_note), product["stock"] - b.quantity
        item = Part("order_items", "order_id", product_id=b.product, quantity=b.quantity)
        order = Part("orders", "address_id", status="placed", gift_note=note, total=total, coupon=None, parts=(item,))
        mark = "ordered: the present is on its way to the current address, and nothing else"
        return Expected(
            effects=(
                Added("addresses", street=says(b.street), city=says(who["city"]), parts=(order,), mark=mark),
                Changed("products", b.product, stock=left),
                Removed(
                    "cart_items", start.value("SELECT product_id FROM cart_items"), mark="emptied: the cart is empty"
                ),
            ),
            marks=(
                saw("found-address: found where the recipient lives now", b.street),
                saw("found-product: found the product to order", b.product),
                called("in-cart: put the right product into the cart", "shop_add_to_cart", product_id=b.product),
            ),
        )
