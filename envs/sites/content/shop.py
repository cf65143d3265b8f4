"""The shop: a category tree, products with stock and reviews, orders, addresses, vouchers."""

from __future__ import annotations

import datetime
import random
from decimal import Decimal
from typing import Any

from rebind.envs.sites.content import words
from rebind.envs.sites.project.clock import START

_STATES = ("Pending", "Pending", "Being processed", "Shipped", "Complete", "Complete", "Cancelled")


def shop(rng: random.Random, customers: list[Any]) -> None:
    from oscar.core.loading import get_model

    country = get_model("address", "Country")
    for code, name in (("US", "United States"), ("GB", "United Kingdom"), ("NO", "Norway")):
        country.objects.create(
            iso_3166_1_a2=code, printable_name=name, name=name, is_shipping_country=True, display_order=code == "US"
        )
    products = _catalogue(rng)
    _reviews(rng, products, customers)
    _addresses(rng, customers)
    _orders(rng, products, customers)
    _vouchers()


def _catalogue(rng: random.Random) -> list[Any]:
    from oscar.apps.catalogue.categories import create_from_breadcrumbs
    from oscar.core.loading import get_model

    product, link = get_model("catalogue", "Product"), get_model("catalogue", "ProductCategory")
    stock = get_model("partner", "StockRecord")
    kind = get_model("catalogue", "ProductClass").objects.create(name="Goods", slug="goods")
    partners = [get_model("partner", "Partner").objects.create(name=n, code=n.lower()) for n in ("Northgate", "Ostara")]
    goods: list[Any] = []
    homes: list[Any] = []
    for top, subs in words.TREE.items():
        for sub, things in subs.items():
            category = create_from_breadcrumbs(f"{top} > {sub}")
            for thing in things.split("|"):
                for series in rng.sample(words.SERIES, 8):
                    goods.append(_product(rng, product, kind, series, thing, len(goods)))
                    homes.append(category)
    product.objects.bulk_create(goods)
    link.objects.bulk_create([link(product=p, category=c) for p, c in zip(goods, homes, strict=True)])
    records = [
        stock(
            product=p,
            partner=partners[n % 5 == 0],
            partner_sku=f"NG-{2000 + n}",
            price_currency="USD",
            price=Decimal(rng.randrange(900, 39_900, 50)) / 100,
            num_in_stock=0 if n % 17 == 3 else rng.randrange(2, 90),
            low_stock_threshold=5,
        )
        for n, p in enumerate(goods)
    ]
    stock.objects.bulk_create(records)
    return goods


def _product(rng: random.Random, model: Any, kind: Any, series: str, thing: str, n: int) -> Any:
    title = f"{series} {thing}"
    text = ". ".join(rng.sample(words.QUALITIES, 3))
    colour = rng.choice(words.COLOURS)
    return model(
        structure="standalone",
        product_class=kind,
        title=title,
        slug=title.lower().replace(" ", "-"),
        upc=f"{4_000_000 + 7 * n}",
        description=f"<p>Colour: {colour}. {text}.</p>",
        is_discountable=True,
        meta_title="",
        meta_description="",
    )


def _reviews(rng: random.Random, products: list[Any], customers: list[Any]) -> None:
    from oscar.core.loading import get_model

    review = get_model("reviews", "ProductReview")
    made = [
        review(
            product=product,
            user=user,
            score=rng.choice((1, 2, 3, 3, 4, 4, 5, 5)),
            title=rng.choice(words.REVIEWS),
            body=" ".join(rng.sample(words.SENTENCES, 2)),
            status=rng.choice((0, 1, 1, 1)),
        )
        for product in rng.sample(products, 180)
        for user in rng.sample(customers, rng.randrange(1, 5))
    ]
    review.objects.bulk_create(made)
    for product in {r.product for r in made}:
        product.update_rating()


def _addresses(rng: random.Random, customers: list[Any]) -> None:
    from oscar.core.loading import get_model

    address = get_model("address", "UserAddress")
    for user in customers:
        for place in range(2):
            made = address(user=user, **_address(rng, user), is_default_for_shipping=place == 0)
            made.save()


def _address(rng: random.Random, user: Any) -> dict[str, Any]:
    return {
        "first_name": user.first_name,
        "last_name": user.last_name,
        "line1": f"{rng.randrange(1, 90)} {rng.choice(words.STREETS)}",
        "line4": rng.choice(words.TOWNS),
        "postcode": str(rng.randrange(10_000, 99_000)),
        "country_id": "US",
    }


def _orders(rng: random.Random, products: list[Any], customers: list[Any]) -> None:
    from oscar.core.loading import get_model

    order, line, shipping = (
        get_model("order", "Order"), get_model("order", "Line"), get_model("order", "ShippingAddress"),
    )  # fmt: skip
    stocks = {s.product_id: s for s in get_model("partner", "StockRecord").objects.select_related("partner")}
    places = sorted(rng.randrange(24 * 60, 24 * 60 * 240) for _ in range(260))
    orders, lines, addresses = [], [], []
    for n, minutes in enumerate(reversed(places)):
        user = rng.choice(customers)
        bought = [(p, rng.randrange(1, 4)) for p in rng.sample(products, rng.randrange(1, 5))]
        total = sum(stocks[p.pk].price * q for p, q in bought)
        addresses.append(shipping(**_address(rng, user)))
        placed = START - datetime.timedelta(minutes=minutes)
        orders.append(_order(order, n, user, total, _STATES[n % 7] if n < 200 else _STATES[n % 3], placed))
        lines += [(n, p, q) for p, q in bought]
    shipping.objects.bulk_create(addresses)
    for made, at in zip(orders, addresses, strict=True):
        made.shipping_address = at
    order.objects.bulk_create(orders)
    line.objects.bulk_create([_line(line, orders[n], p, stocks[p.pk], q) for n, p, q in lines])
    _records(customers, orders)


def _records(customers: list[Any], orders: list[Any]) -> None:
    """What the dashboard's list of customers shows of their orders."""
    from oscar.core.loading import get_model

    record = get_model("analytics", "UserRecord")
    made = []
    for user in customers:
        own = [order for order in orders if order.user == user]
        spent = sum((order.total_incl_tax for order in own), Decimal(0))
        last = max((order.date_placed for order in own), default=None)
        made.append(record(user=user, num_orders=len(own), total_spent=spent, date_last_order=last))
    record.objects.bulk_create(made)


def _order(model: Any, n: int, user: Any, total: Decimal, state: str, placed: datetime.datetime) -> Any:
    return model(
        number=str(100_101 + n),
        site_id=1,
        user=user,
        currency="USD",
        total_incl_tax=total,
        total_excl_tax=total,
        shipping_incl_tax=0,
        shipping_excl_tax=0,
        shipping_method="Free shipping",
        shipping_code="free-shipping",
        status=state,
        date_placed=placed,
    )


def _line(model: Any, order: Any, product: Any, stock: Any, quantity: int) -> Any:
    total = stock.price * quantity
    return model(
        order=order,
        partner=stock.partner,
        partner_name=stock.partner.name,
        partner_sku=stock.partner_sku,
        product=product,
        stockrecord=stock,
        title=product.title,
        upc=product.upc,
        quantity=quantity,
        line_price_incl_tax=total,
        line_price_excl_tax=total,
        line_price_before_discounts_incl_tax=total,
        line_price_before_discounts_excl_tax=total,
        unit_price_incl_tax=stock.price,
        unit_price_excl_tax=stock.price,
        num_allocated=0,
        status=order.status,
    )


def _vouchers() -> None:
    from oscar.core.loading import get_model

    parts = get_model("offer", "Range"), get_model("offer", "Condition"), get_model("offer", "Benefit")
    everything = parts[0].objects.create(name="Everything", slug="everything", includes_all_products=True)
    for percent in (5, 10, 20):
        condition = parts[1].objects.create(type="Count", value=1, range=everything)
        benefit = parts[2].objects.create(type="Percentage", value=percent, range=everything)
        offer = get_model("offer", "ConditionalOffer").objects.create(
            name=f"Voucher {percent} percent", slug=f"voucher-{percent}", offer_type="Voucher", condition=condition,
            benefit=benefit,
        )  # fmt: skip
        voucher = get_model("voucher", "Voucher").objects.create(
            name=f"Welcome {percent}", code=f"WELCOME{percent}", usage="Multi-use",
            start_datetime=START - datetime.timedelta(days=30), end_datetime=START + datetime.timedelta(days=90),
        )  # fmt: skip
        voucher.offers.add(offer)
