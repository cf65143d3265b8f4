"""Looking for products and buying them."""

from __future__ import annotations

from typing import ClassVar

from rebind.envs.apps.families.answers import Answer
from rebind.envs.apps.families.draw import choice, integer
from rebind.envs.apps.families.effects import Added, Part
from rebind.envs.sites.families.account import PRODUCT_ID, WITH_STOCK, ids_of
from rebind.envs.sites.families.answers import Cents, Number
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
from rebind.envs.sites.families.draws import NO_PRODUCT, PRODUCT, listed, money, queries, query
from rebind.envs.sites.families.flows import Flow, Oracle, choose, click, done, fill, must, open_product, reads

DEFAULT, OTHER = "my default shipping address", "the other address in my address book"


def checkout(address: str) -> Flow[str]:
    """From the cart to a placed order."""
    yield from click('link "Proceed to checkout"')
    way = "Ship to your default shipping address" if address == DEFAULT else "Ship to this address"
    return (yield from click(f'button "{way}"', 'link "Continue"', 'button "Place order"'))


def placed(start: SiteView, account: str, address: str, goods: list[tuple[int, int]]) -> tuple[Added, Added]:
    """The effects of an order for these products (id, quantity)."""
    price = "SELECT price FROM partner_stockrecord WHERE product_id = ?"
    total = sum(start.value(price, product) * quantity for product, quantity in goods)
    user = start.value("SELECT id FROM auth_user WHERE username = ?", account)
    lines = tuple(
        Part(
            "order_line", "order_id", product_id=product, quantity=quantity, parts=(Part("order_lineprice", "line_id"),)
        )
        for product, quantity in goods
    )
    order = Added(
        "order_order",
        user_id=user,
        total_incl_tax=money(total),
        status="Pending",
        parts=lines,
        mark="ordered: the order was placed",
    )
    known = "SELECT line1, postcode FROM address_useraddress WHERE user_id = ? AND is_default_for_shipping = ?"
    where = start.row(known, user, int(address == DEFAULT))
    shipped = Added(
        "order_shippingaddress",
        line1=where["line1"],
        postcode=where["postcode"],
        mark="address: it goes to the right address",
    )
    return order, shipped


class BuyProduct(Family):
    id = "sites/buy-product"
    group = "11-20"
    account, start = "dan.keller", "/shop/catalogue/"
    drawn = (
        Drawn("product", "entity", PRODUCT, central=True),
        Drawn("quantity", "parameter", integer(2, 5)),
        Drawn("address", "location", choice((DEFAULT, OTHER))),
    )
    grounded = (Grounded("product_id", "record", PRODUCT_ID),)
    absent: ClassVar = {"product": NO_PRODUCT}
    wordings = (
        'Order {quantity} of "{product}" and have them shipped to {address}.',
        'Buy the product "{product}", quantity {quantity}. Ship to {address}, and place the order.',
        'I need {quantity} pieces of "{product}". Please check out with shipping to {address}.',
    )

    def oracle(self, b: Bound) -> Oracle:
        yield from open_product(b.product)
        yield from click('button "Add to cart" #1', 'link "View cart"')
        yield from fill('spinbutton "form 0 quantity"', b.quantity)
        yield from click('button "Update"')
        yield from checkout(b.address)
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        effects = placed(start, self.account, b.address, [(b.product_id, b.quantity)])
        return Expected(
            effects=effects,
            marks=(
                saw("found: found the product", f"# {b.product}"),
                visited("cart: opened the cart", "/shop/basket/"),
            ),
        )


class BuyMany(Family):
    id = "sites/buy-many-products"
    group = ">35"
    account, start = "eva.marsh", "/shop/catalogue/"
    drawn = (
        Drawn("products", "entity", queries(8, WITH_STOCK), central=True, show=listed),
        Drawn("address", "location", choice((DEFAULT, OTHER))),
    )
    grounded = (
        Grounded("product_ids", "record", lambda v, b: ids_of(v, b.products)),
        Grounded(
            "total",
            "state",
            lambda v, b: sum(
                v.value("SELECT price FROM partner_stockrecord WHERE product_id = ?", one) for one in b.product_ids
            ),
        ),
    )
    wordings = (
        "Order one each of {products}, all in one order, shipped to {address}.",
        "Please buy {products} (one of each) in a single order and ship it to {address}.",
        "Put one {products} into my cart and place the order, with shipping to {address}.",
    )

    def oracle(self, b: Bound) -> Oracle:
        for title in b.products:
            yield from open_product(title)
            yield from click('button "Add to cart" #1')
        yield from click('link "View cart"')
        yield from checkout(b.address)
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        effects = placed(start, self.account, b.address, [(one, 1) for one in b.product_ids])
        return Expected(
            effects=effects,
            marks=(
                saw("first: found the first product", f"# {b.products[0]}"),
                saw("last: found the last product", f"# {b.products[-1]}"),
            ),
        )


class ProductQuestion(Family):
    id = "sites/product-question"
    group = "<5"
    account, start = "ada.fischer", "/shop/catalogue/"
    drawn = (
        Drawn("product", "entity", PRODUCT, central=True),
        Drawn("what", "parameter", choice("the UPC | the price | the number of pieces in stock")),
    )
    grounded = (
        Grounded("product_id", "record", PRODUCT_ID),
        Grounded(
            "sku",
            "record",
            lambda v, b: v.value("SELECT partner_sku FROM partner_stockrecord WHERE product_id = ?", b.product_id),
        ),
    )
    absent: ClassVar = {"product": NO_PRODUCT}
    wordings = (
        'Tell me {what} of the product "{product}".',
        'What does the shop say about {what} of "{product}"?',
        'Look up "{product}" in the shop and report {what}.',
    )

    def oracle(self, b: Bound) -> Oracle:
        page = yield from open_product(b.product)
        patterns = {"the UPC": r"row: UPC \| (\d+)", "the price": r"row: Price \(incl\. tax\) \| (\S+)"}
        yield from done(reads(patterns.get(b.what, r"row: Availability \| In stock \((\d+) available"), page))

    def expect(self, start: SiteView, b: Bound) -> Expected:
        stock = start.row("SELECT * FROM partner_stockrecord WHERE product_id = ?", b.product_id)
        if b.what == "the UPC":
            answer: Answer = Number(int(start.value("SELECT upc FROM catalogue_product WHERE id = ?", b.product_id)))
        else:
            answer = Cents(round(stock["price"] * 100)) if b.what == "the price" else Number(stock["num_in_stock"])
        return Expected(answer=answer, marks=(saw("found: found the product", f"# {b.product}"),))


class PriceExtreme(Family):
    id = "sites/cheapest-in-stock-question"
    group = "5-10"
    account, start = "ben.osei", "/shop/catalogue/"
    drawn = (
        Drawn(
            "kind",
            "entity",
            query("SELECT DISTINCT substr(title, instr(title, ' ') + 1) FROM catalogue_product ORDER BY 1"),
            central=True,
        ),
        Drawn("extreme", "parameter", choice("cheapest | most expensive")),
        Drawn("what", "parameter", choice("how many customer reviews it has | how many pieces are in stock")),
    )
    grounded = (Grounded("product_id", "record", lambda v, b: _extreme(v, b.kind, b.extreme)),)
    wordings = (
        'Find the {extreme} product whose name ends with "{kind}" and tell me {what}.',
        'Among all products called "… {kind}", which is the {extreme} one? I only need to know {what}.',
        'Search the shop for "{kind}", take the {extreme} of them, and report {what}.',
    )

    def oracle(self, b: Bound) -> Oracle:
        yield from fill('textbox "Search"', b.kind)
        yield from click('button "Search"')
        order = "Price low to high" if b.extreme == "cheapest" else "Price high to low"
        page = yield from choose('combobox "Sort by"', order)
        must(b.kind in page, f"no {b.kind}")
        title = reads(rf'### \[\d+\] link "([^"]* {b.kind})"', page)
        page = yield from click(f'link "{title}" #1')
        reviews = r"row: Number of reviews \| (\d+)"
        yield from done(reads(reviews if "reviews" in b.what else r"In stock \((\d+) available", page))

    def expect(self, start: SiteView, b: Bound) -> Expected:
        if "reviews" in b.what:
            value = start.value(
                "SELECT count(*) FROM reviews_productreview WHERE product_id = ? AND status = 1", b.product_id
            )
        else:
            value = start.value("SELECT num_in_stock FROM partner_stockrecord WHERE product_id = ?", b.product_id)
        title = start.value("SELECT title FROM catalogue_product WHERE id = ?", b.product_id)
        return Expected(answer=Number(value), marks=(saw("found: opened the right product", f"# {title}"),))


def _extreme(view: SiteView, kind: str, extreme: str) -> int:
    rows = view.rows(
        "SELECT p.id, s.price, s.num_in_stock FROM catalogue_product p JOIN partner_stockrecord s ON "
        "s.product_id = p.id "
        "WHERE p.title LIKE '%' || ? ORDER BY s.price",
        kind,
    )
    rows = rows if extreme == "cheapest" else rows[::-1]
    if len(rows) < 2 or rows[0]["price"] == rows[1]["price"] or not rows[0]["num_in_stock"]:
        raise CannotBuild(f"no single {extreme} {kind} in stock")
    return int(rows[0]["id"])
