"""The shop's dashboard: stock and coupons."""

from __future__ import annotations

from typing import Any, ClassVar

from rebind.envs.apps.families.draw import choice, day, integer, listing, phrase
from rebind.envs.apps.families.effects import Added, Changed, Part, says
from rebind.envs.sites.content.people import MANAGER
from rebind.envs.sites.families.account import WITH_STOCK, ids_of
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
from rebind.envs.sites.families.draws import NO_PRODUCT, PRODUCT, dollars, listed, lookup, money, queries
from rebind.envs.sites.families.flows import (
    Flow,
    Oracle,
    click,
    dashboard,
    done,
    fill,
    form,
    must,
    pick,
)


def open_stock(title: str) -> Flow[str]:
    """From a list of products to the stock of one."""
    yield from fill('textbox "Product title:"', title)
    page = yield from click('button "Search"')
    must(f'link "{title}"' in page, f"no product {title}")
    return (yield from click(f'link "{title}"', 'link "Stock and pricing"'))


STOCK_ID = lookup(
    "SELECT s.id FROM partner_stockrecord s JOIN catalogue_product p ON p.id = s.product_id WHERE title = ?", "product"
)


class Restock(Family):
    id = "sites/restock-product"
    group = "11-20"
    account, start = MANAGER, "/shop/dashboard/"
    drawn = (
        Drawn("product", "entity", PRODUCT, central=True),
        Drawn("pieces", "parameter", integer(101, 180)),
        Drawn("low", "parameter", integer(6, 20)),
        Drawn("cents", "parameter", integer(2_050, 39_950, 25), show=lambda cents: dollars(cents / 100)),
    )
    grounded = (Grounded("stock_id", "record", STOCK_ID),)
    absent: ClassVar = {"product": NO_PRODUCT}
    wordings = (
        'New stock of "{product}" has come: set the number in stock to {pieces}, the low stock threshold to '
        "{low}, and the "
        "price to {cents}.",
        'Update "{product}" in the catalogue: price {cents}, {pieces} in stock, low stock threshold {low}.',
        'For the product "{product}", enter {pieces} pieces in stock with a low stock threshold of {low}; it sells for '
        "{cents} now.",
    )

    def oracle(self, b: Bound) -> Oracle:
        yield from dashboard("Catalog", "Products")
        yield from open_stock(b.product)
        yield from fill('spinbutton "stockrecords 0 num in stock"', b.pieces)
        yield from fill('spinbutton "stockrecords 0 low stock threshold"', b.low)
        yield from fill('spinbutton "stockrecords 0 price"', f"{b.cents / 100:.2f}")
        yield from click('button "Save" #1')
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        stocked = Changed(
            "partner_stockrecord",
            b.stock_id,
            num_in_stock=b.pieces,
            low_stock_threshold=b.low,
            price=money(b.cents / 100),
            mark="stocked: stock and price are as asked",
        )
        return Expected(effects=(stocked,), marks=(saw("found: opened the product", f"# {b.product}"),))


def _amounts(count: int) -> Any:
    return lambda _view, rng, _bound: rng.sample(range(101, 200), count)


class RestockMany(Family):
    id = "sites/restock-many-products"
    group = ">35"
    account, start = MANAGER, "/shop/dashboard/"
    drawn = (
        Drawn("products", "entity", queries(6, WITH_STOCK), central=True, show=listed),
        Drawn("amounts", "parameter", _amounts(6), show=lambda amounts: listing([str(n) for n in amounts])),
        Drawn("low", "parameter", integer(6, 20)),
    )
    grounded = (
        Grounded("product_ids", "record", lambda v, b: ids_of(v, b.products)),
        Grounded(
            "skus",
            "record",
            lambda v, b: [
                v.value("SELECT partner_sku FROM partner_stockrecord WHERE product_id = ?", one)
                for one in b.product_ids
            ],
        ),
    )
    wordings = (
        "Set the numbers in stock of {products} to {amounts}, in this order, and the low stock threshold of each to "
        "{low}.",
        "The stock was counted. For {products} the numbers in stock are, in the same order, {amounts}: enter them, "
        "each with a low stock threshold of {low}.",
        "Please update the stock of {products}; the new numbers are {amounts}, respectively. All have the low stock "
        "threshold {low}.",
    )

    def oracle(self, b: Bound) -> Oracle:
        yield from dashboard("Catalog", "Products")
        for title, pieces in zip(b.products, b.amounts, strict=True):
            yield from open_stock(title)
            yield from fill('spinbutton "stockrecords 0 num in stock"', pieces)
            yield from fill('spinbutton "stockrecords 0 low stock threshold"', b.low)
            yield from click('button "Save" #1')
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        key = "SELECT id FROM partner_stockrecord WHERE product_id = ?"
        return Expected(
            effects=[
                Changed(
                    "partner_stockrecord",
                    start.value(key, product),
                    num_in_stock=pieces,
                    low_stock_threshold=b.low,
                    mark=f"stocked-{n}: {title}",
                )
                for n, (product, pieces, title) in enumerate(zip(b.product_ids, b.amounts, b.products, strict=True), 1)
            ]
        )


USAGES = {
    "once in all": "Can be used once by one customer",
    "any number of times": "Can be used multiple times by multiple customers",
    "once by every customer": "Can only be used once per customer",
}
_KEPT = {"once in all": "Single use", "any number of times": "Multi-use", "once by every customer": "Once per customer"}


class MakeCoupon(Family):
    id = "sites/make-coupon"
    group = "11-20"
    account, start = MANAGER, "/shop/dashboard/"
    drawn = (
        Drawn(
            "name",
            "parameter",
            phrase("{a} {b}", a="Easter | Spring | May | Opening", b="thanks | sale | gift | bonus"),
        ),
        Drawn(
            "code",
            "parameter",
            phrase("{a}{n}", a="HELLO | TULIP | GREEN | LAMB", n="15 | 22 | 37 | 48 | 96"),
            central=True,
        ),
        Drawn("until", "date", day(20, 90)),
        Drawn("usage", "parameter", choice(tuple(USAGES))),
        Drawn("percent", "parameter", choice((5, 10, 20))),
    )
    wordings = (
        'Create the coupon "{name}" with the code {code}. It gives {percent} percent off, can be used '
        "{usage}, and ends on "
        "{until} at midnight (00:00).",
        'We need a coupon named "{name}", code {code}, for {percent} percent. Usage: {usage}. End: {until} 00:00.',
        'Set up a coupon with code {code} and name "{name}". It ends on {until} at 00:00, can be used '
        "{usage}, and takes "
        "{percent} percent off.",
    )

    def oracle(self, b: Bound) -> Oracle:
        yield from dashboard("Offers", "Coupons")
        yield from click('link "Create new coupon"')
        yield from form(Name=b.name, Code=b.code, End_datetime=f"{b.until} 00:00:00")
        yield from pick(USAGES["any number of times"], USAGES[b.usage])
        yield from pick("", f"Voucher {b.percent} percent")
        yield from click('button "Save"')
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        offer = start.value("SELECT id FROM offer_conditionaloffer WHERE name = ?", f"Voucher {b.percent} percent")
        coupon = Added(
            "voucher_voucher",
            name=says(b.name),
            code=b.code,
            usage=_KEPT[b.usage],
            end_datetime=f"{b.until} 00:00:00",
            parts=(Part("voucher_voucher_offers", "voucher_id", conditionaloffer_id=offer),),
            mark="made: the coupon is there",
        )
        form_open = visited("form: opened the form", "/shop/dashboard/vouchers/create/")
        return Expected(effects=(coupon,), marks=(form_open,))
