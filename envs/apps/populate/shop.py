"""The shop: its range of goods, coupons and reviews, and the person's addresses, orders and wishlist. The cart is
empty."""

from __future__ import annotations

import datetime
import random
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from rebind.envs.apps.populate import chance, ids, insert
from rebind.envs.apps.populate import shop_goods as goods
from rebind.envs.apps.populate.cast import Cast, cast
from rebind.envs.apps.populate.names import CITIES, FIRST_NAMES, STREETS

Row = dict[str, object]

_REVIEWS, _OWN_REVIEWS, _WISHES = 230, 5, 11
_ORDERS = {  # status: how many, placed between so many days ago
    "placed": (7, -3, -1),
    "shipped": (7, -8, -2),
    "delivered": (26, -330, -6),
    "cancelled": (5, -200, -4),
    "return-requested": (5, -60, -8),
}


@dataclass(frozen=True)
class _Product:
    id: str
    name: str
    category: str
    brand: str
    price: int
    stock: int
    rating: float
    description: str


@dataclass(frozen=True)
class _Coupon:
    code: str
    percent: int
    category: str | None
    min_total: int
    expires_on: str

    def saving(self, items: list[tuple[_Product, int, int]], day: str) -> int:
        """Cents off by the rule of `shop_checkout`; 0 where it does not fit. Items: product, quantity, unit price."""
        total = sum(quantity * price for _, quantity, price in items)
        if self.expires_on < day or total < self.min_total:
            return 0
        fitting = (quantity * price for one, quantity, price in items if self.category in (None, one.category))
        return sum(fitting) * self.percent // 100


def populate(db: sqlite3.Connection, rng: random.Random) -> None:
    """Writes about 310 products, 16 coupons, 5 addresses, 50 orders, 235 reviews and 11 wishes."""
    world = cast(db, rng)
    products = _products(rng)
    coupons = _coupons(world)
    addresses = _addresses(world)
    insert(db, "products", [vars(product) for product in products])
    insert(db, "coupons", [vars(coupon) for coupon in coupons])
    insert(db, "addresses", addresses)
    bought = _orders(db, world, products, coupons, [str(row["id"]) for row in addresses])
    _reviews(db, world, products, bought)
    wishes = rng.sample(products, _WISHES)
    insert(db, "wishlist", [{"product_id": one.id, "added_on": world.day(-150, -1).isoformat()} for one in wishes])


def _products(rng: random.Random) -> list[_Product]:
    """Every good of every category, from several brands."""
    made = [
        (category, good, usual, brand, variant)
        for category in goods.CATEGORIES
        for good, usual in category.goods
        for brand in rng.sample(category.brands, rng.choice((2, 2, 3, 3, 4)))
        for variant in sorted(set(rng.sample(category.variants, rng.choice((1, 1, 1, 2)))))
    ]
    rng.shuffle(made)
    return [
        _Product(
            id=key,
            name=good + variant,
            category=category.name,
            brand=brand,
            price=max(round(usual * rng.uniform(0.65, 1.45) / 50) * 50 - rng.choice((0, 1, 10)), 199),
            stock=rng.choice((0, *range(1, 4), *range(5, 60))) if chance(rng, 0.9) else 0,
            rating=round(min(max(rng.gauss(4.0, 0.5), 1.8), 5.0), 1),
            description=f"{good} by {brand}. {'. '.join(rng.sample(category.remarks, 2))}.",
        )
        for key, (category, good, usual, brand, variant) in zip(ids(rng, "prod", len(made)), made, strict=True)
    ]


def _coupons(world: Cast) -> list[_Coupon]:
    """Every other coupon has expired; which ones differs between worlds."""
    rng = world.rng
    valid = rng.sample([code for code, *_ in goods.COUPONS], len(goods.COUPONS) // 2)
    return [
        _Coupon(code, percent, category, lowest, world.day(*(3, 90) if code in valid else (-120, -2)).isoformat())
        for code, percent, category, lowest in goods.COUPONS
    ]


def _addresses(world: Cast) -> list[Row]:
    """Home, the default, is where the profile says; one address is outdated, one that of relatives."""
    rng = world.rng
    relative = rng.choice(world.of("family"))
    places = (
        ("Home", world.profile["address"], world.profile["city"]),
        ("Old flat", f"{rng.randint(1, 148)} {rng.choice(STREETS)}", rng.choice(CITIES)),
        ("Office", f"{rng.randint(1, 148)} {rng.choice(STREETS)}", world.profile["city"]),
        (f"{relative.first}'s place", relative.street, relative.city),
        ("Parcel shop", f"{rng.randint(1, 148)} {rng.choice(STREETS)}", world.profile["city"]),
    )
    return [
        {"id": key, "label": label, "street": street, "city": city, "is_default": int(label == "Home")}
        for key, (label, street, city) in zip(ids(rng, "addr", len(places)), places, strict=True)
    ]


def _orders(
    db: sqlite3.Connection, world: Cast, products: list[_Product], coupons: list[_Coupon], addresses: list[str]
) -> dict[str, str]:
    """Writes the orders by date; returns the ids of the products delivered, and when they were last ordered."""
    rng = world.rng
    placed = sorted(
        (world.day(first, last).isoformat(), status)
        for status, (count, first, last) in _ORDERS.items()
        for _ in range(count)
    )
    orders: list[Row] = []
    parts: list[Row] = []
    delivered: dict[str, str] = {}
    for key, (day, status) in zip(ids(rng, "ord", len(placed)), placed, strict=True):
        items = list(_items(rng, products))
        usable = [(coupon.code, off) for coupon in coupons if (off := coupon.saving(items, day))]
        code, off = rng.choice(usable) if usable and chance(rng, 0.3) else (None, 0)
        orders.append(
            {
                "id": key,
                "placed_on": day,
                "status": status,
                "address_id": rng.choice(addresses[:1] * 4 + addresses),
                "total": sum(quantity * price for _, quantity, price in items) - off,
                "coupon": code,
                "gift_note": rng.choice(goods.GIFT_NOTES) if chance(rng, 0.12) else None,
            }
        )
        parts += [
            {"order_id": key, "product_id": product.id, "quantity": quantity, "unit_price": price}
            for product, quantity, price in items
        ]
        if status == "delivered":
            delivered |= {product.id: day for product, _, _ in items}
    insert(db, "orders", orders)
    insert(db, "order_items", parts)
    return delivered


def _items(rng: random.Random, products: list[_Product]) -> Iterator[tuple[_Product, int, int]]:
    """One to four products; some were cheaper or dearer then."""
    for product in rng.sample(products, rng.choice((1, 1, 2, 2, 3, 4))):
        price = round(product.price * rng.uniform(0.85, 1.1)) if chance(rng, 0.3) else product.price
        yield product, rng.choice((1, 1, 1, 2, 3)), price


def _reviews(db: sqlite3.Connection, world: Cast, products: list[_Product], bought: dict[str, str]) -> None:
    """Reviews by strangers, around a product's rating, and a few by the person on what they got."""
    rng = world.rng
    own = rng.sample(sorted(bought), _OWN_REVIEWS)
    ratings = {product.id: product.rating for product in products}
    written = [(key, world.profile["name"]) for key in own]
    written += [
        (product.id, f"{rng.choice(FIRST_NAMES)} {rng.choice('ABCDEFGHKLMNPRSTW')}.")
        for product in rng.choices(products, k=_REVIEWS)
    ]
    rows: list[Row] = []
    for product_id, author in dict.fromkeys(written):
        stars = min(max(round(rng.gauss(ratings[product_id], 0.9)), 1), 5)
        texts = goods.COMPLAINTS if stars < 3 else goods.MIXED if stars == 3 else goods.PRAISE
        day = world.day(-400, -1)
        if author == world.profile["name"]:
            ordered = datetime.date.fromisoformat(bought[product_id])
            day = min(ordered + datetime.timedelta(days=rng.randint(4, 20)), world.day(-1, -1))
        rows.append(
            {
                "product_id": product_id,
                "author": author,
                "stars": stars,
                "body": " ".join(rng.sample(texts, rng.choice((1, 1, 2)))).format(**world.figures(day)),
                "written_on": day.isoformat(),
            }
        )
    rows.sort(key=lambda row: str(row["written_on"]))
    insert(db, "reviews", [{"id": key, **row} for key, row in zip(ids(rng, "rev", len(rows)), rows, strict=True)])
