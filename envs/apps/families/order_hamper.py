"""Order what a note lists for a hamper, several times over, to the current address and with the best coupon."""

from __future__ import annotations

import re

from rebind.envs.apps.families.base import Drawn, Expected, Family, Grounded
from rebind.envs.apps.families.coupons import Item, best, only_best
from rebind.envs.apps.families.draw import Bound, choice, integer, phrase, several
from rebind.envs.apps.families.effects import Added, Changed, Part, says
from rebind.envs.apps.families.evidence import called, saw
from rebind.envs.apps.families.oracle import Oracle, call, finish, login, only
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import View

HOUSEHOLDS = "the Aldens | the Birches | the Corbetts | the Dunns | the Easterlys | the Fosters"
STREETS = ("Basin Street", "Chapel Row", "Drovers Lane")
GOODS = {
    "Apricot jam": "kitchen",
    "Birthday candles": "home",
    "Crossword book": "books",
    "Herbal soap": "health",
    "Linen napkins": "home",
    "Oat biscuits": "kitchen",
    "Olive tapenade": "kitchen",
    "Pepper mustard": "kitchen",
    "Puzzle book": "books",
    "Scented candle": "home",
}
BRANDS = ("Hollis", "Orme & Sons")
COUPONS = (
    ("HAMPER12", 12, None, 2_000, 30), ("PANTRY36", 36, "kitchen", 0, 20), ("HOMELY34", 34, "home", 3_000, 9),
    ("LAPSED50", 50, None, 0, -3), ("WHOLESALE45", 45, None, 400_000, 60),
)  # fmt: skip
"""Code, percent, category, least total, days until it expires."""
LINE = re.compile(r"(\d+) x (.+) \((.+)\)")


class OrderHamper(Family):
    id = "apps/order-list-with-best-coupon"
    group = "11-20"
    tools = (
        "supervisor_profile notes_search notes_show shop_search shop_show_product shop_add_to_cart shop_cart "
        "shop_list_coupons shop_list_addresses shop_add_address shop_checkout"
    )
    drawn = (
        Drawn("household", "entity", choice(HOUSEHOLDS), central=True),
        Drawn("count", "parameter", integer(2, 5)),
        Drawn(
            "gift_note",
            "parameter",
            phrase(
                "{what} {whom}!",
                what="Enjoy it | Warm greetings | Thank you so much | A small surprise",
                whom="from all of us | from next door | from the whole choir | from the old house",
            ),
        ),
        Drawn("goods", "state", several(4, " | ".join(GOODS))),
        Drawn("street", "location", choice(STREETS)),
    )
    grounded = (
        Grounded("note", "record", lambda v, b: v.value("SELECT id FROM notes WHERE title = ?", title(b.household))),
        Grounded("address", "record", lambda v, b: v.value(
            "SELECT id FROM addresses WHERE label = ?", label(b.household, b.street)
        )),
        Grounded("coupon", "record", lambda v, b: only_best(v, [item for _, item in listed(v, b)])[0]),
    )  # fmt: skip
    wordings = (
        'Order hampers for {household} by my note "Hamper for {household}": everything it lists, {count} times the '
        "quantities in the note, all in one order. It goes to the one of their addresses in the shop that the note "
        'calls the present one. Use the coupon that saves me most today and the gift note "{gift_note}"',
        'My note titled "Hamper for {household}" lists what goes into one hamper and where {household} live at '
        "present. Please order {count} hampers at once (so multiply each quantity by {count}), to that address, "
        'which the shop knows. Gift note: "{gift_note}" Choose the coupon with the highest saving today.',
        'Please buy {count} times what the note "Hamper for {household}" has in it, as one order to their present '
        'address according to that note (it is among my addresses in the shop), with the gift note "{gift_note}" '
        "and whichever coupon takes most off the price today.",
    )

    def setup(self, p: Plant, b: Bound) -> None:
        for name, shelf in GOODS.items():
            for brand in BRANDS:
                p.add("products", name=name, brand=brand, category=shelf, price=p.rng.randrange(450, 2_900, 50))
        names = list(GOODS)
        for heading, goods, street, age in (
            (title(b.household), b.goods, b.street, -8),
            (f"{title(b.household)}, last year", names[2:6], STREETS[STREETS.index(b.street) - 1], -380),
            (f"{title(b.household)}: ideas", names[5:9], STREETS[STREETS.index(b.street) - 2], -1),
        ):
            lines = [f"{p.rng.randrange(1, 4)} x {one} ({p.rng.choice(BRANDS)})" for one in goods]
            lines += [f"Present address: {street}"]
            p.add("notes", title=heading, body="\n".join(lines), updated_at=p.moment(age))
        for street in STREETS:
            place = {"street": f"{p.rng.randrange(2, 90)} {street}", "city": "Millbrook"}
            p.add("addresses", label=label(b.household, street), **place)
        for code, percent, category, least, expires in COUPONS:
            columns = {"category": category, "min_total": least, "expires_on": p.day(expires)}
            p.add("coupons", code=code, percent=percent, **columns)

    def oracle(self, b: Bound) -> Oracle:
        today = (yield from call("supervisor_profile"))["today"]
        notes = yield from login("notes")
        found = yield from notes.every("search", query=title(b.household))
        note = only([n for n in found if n["title"] == title(b.household)], b.household)["note_id"]
        body = (yield from notes("show", note_id=note))["body"]
        shop = yield from login("shop")
        items = list[Item]()
        for quantity, name, brand in LINE.findall(body):
            products = yield from shop.every("search", query=name, brand=brand)
            product, pieces = only([p for p in products if p["name"] == name], name), int(quantity) * b.count
            yield from shop("add_to_cart", product_id=product["product_id"], quantity=pieces)
            items.append((product["category"], product["price"], pieces))
        coupon, _ = best((yield from shop("list_coupons")), items, today)
        street = body.split("Present address: ")[1]
        addresses = yield from shop("list_addresses")
        address = only([a for a in addresses if a["label"] == label(b.household, street)], street)["address_id"]
        yield from shop("checkout", address_id=address, coupon=coupon, gift_note=b.gift_note)
        yield from finish()

    def expect(self, start: View, b: Bound) -> Expected:
        bought = listed(start, b)
        items = [item for _, item in bought]
        total = sum(price * quantity for _, price, quantity in items) - only_best(start, items)[1]
        parts = tuple(Part("order_items", "order_id", product_id=id_, quantity=item[2]) for id_, item in bought)
        order = Added(
            "orders",
            address_id=b.address,
            coupon=b.coupon,
            gift_note=says(b.gift_note),
            total=total,
            parts=parts,
            mark="ordered: the right things go to the right address, with the best coupon",
        )
        stocks = {id_: start.value("SELECT stock FROM products WHERE id = ?", id_) for id_, _ in bought}
        left = [Changed("products", id_, stock=stocks[id_] - item[2]) for id_, item in bought]
        in_cart = [
            called(f"cart-{i}: put product {i} of the list into the cart", "shop_add_to_cart", product_id=id_)
            for i, (id_, _) in enumerate(bought, 1)
        ]
        return Expected(
            effects=(order, *left),
            marks=(
                called("read-note: read the list", "notes_show", note_id=b.note),
                *in_cart,
                saw("found-coupon: found the best coupon", b.coupon),
                saw("found-address: found the address", b.address),
            ),
        )


def title(household: str) -> str:
    return f"Hamper for {household}"


def label(household: str, street: str) -> str:
    return f"{household[0].upper()}{household[1:]}, {street}"


def listed(view: View, b: Bound) -> list[tuple[str, Item]]:
    """Product and item for each line of the note."""
    body = view.value("SELECT body FROM notes WHERE title = ?", title(b.household))
    bought = list[tuple[str, Item]]()
    for quantity, name, brand in LINE.findall(body):
        row = view.row("SELECT id, category, price FROM products WHERE name = ? AND brand = ?", name, brand)
        bought.append((row["id"], (row["category"], row["price"], int(quantity) * b.count)))
    return bought
