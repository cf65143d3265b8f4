"""The shop's cart, addresses, coupons, checkout and orders."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from rebind.envs.apps.api.common import Row, booleans, matches, new_id, one_or_404, select, text_or_422, today
from rebind.envs.apps.api.common import page as page_of
from rebind.envs.apps.api.registry import ApiError, Db, api
from rebind.errors import did_you_mean

_SHORT = ("placed_on", "status", "total")
_PERCENT = 100


@api("shop")
def cart(db: Db) -> JsonValue:
    """The cart: its products at today's prices, and their sum before any coupon.

    Returns {items: [{product_id, name, brand, category, unit_price, quantity, stock}], total}; amounts in cents.
    """
    rows = _cart(db)
    return {"items": [*rows], "total": _sum(rows)}


@api("shop", writes=True)
def add_to_cart(db: Db, product_id: str, quantity: int = 1) -> JsonValue:
    """Adds pieces of a product to the cart, on top of those already there.

    Returns {product_id, quantity, total}: pieces of it now in the cart, and the cart's sum. 422 where stock is short.
    """
    one_or_404(db, "products", product_id, "product")
    if quantity < 1:
        raise ApiError(422, f"quantity must be at least 1, not {quantity}")
    there = select(db, "SELECT quantity FROM cart_items WHERE product_id = ?", (product_id,))
    return _put(db, product_id, quantity + sum(row["quantity"] for row in there))


@api("shop", writes=True)
def set_quantity(db: Db, product_id: str, quantity: int) -> JsonValue:
    """Sets how many pieces of a product the cart holds; 0 takes it out.

    Returns {product_id, quantity, total}, the cart's sum in cents. 404 where it is not in the cart.
    """
    one_or_404(db, "products", product_id, "product")
    if not select(db, "SELECT 1 FROM cart_items WHERE product_id = ?", (product_id,)):
        raise ApiError(404, f"{product_id} is not in the cart; shop_add_to_cart puts it there")
    if quantity < 0:
        raise ApiError(422, f"quantity must not be negative, not {quantity}")
    return _put(db, product_id, quantity)


@api("shop", writes=True)
def clear_cart(db: Db) -> JsonValue:
    """Takes everything out of the cart.

    Returns {removed}, the number of products taken out.
    """
    return {"removed": db.execute("DELETE FROM cart_items").rowcount}


@api("shop")
def list_addresses(db: Db) -> JsonValue:
    """The person's delivery addresses, the default one first.

    Returns a list of {address_id, label, street, city, is_default}.
    """
    rows = select(db, "SELECT * FROM addresses ORDER BY is_default DESC, label, id")
    return [{"address_id": row.pop("id"), **booleans(row, "is_default")} for row in rows]


@api("shop", writes=True)
def add_address(db: Db, label: str, street: str, city: str) -> JsonValue:
    """Adds a delivery address; it does not become the default.

    Returns {address_id}. 422 where another address has that label.
    """
    for name, value in (("label", label), ("street", street), ("city", city)):
        text_or_422(value, name)
    for row in select(db, "SELECT id FROM addresses WHERE lower(label) = lower(?)", (label,)):
        raise ApiError(422, f"there is already an address labelled {label!r}: {row['id']}")
    address_id = new_id(db, "addresses", "addr")
    db.execute("INSERT INTO addresses VALUES (?, ?, ?, ?, 0)", (address_id, label, street, city))
    return {"address_id": address_id}


@api("shop")
def list_coupons(db: Db) -> JsonValue:
    """All coupons, also expired ones, by code; one can be used per order.

    Returns a list of {code, percent, category, min_total, expires_on}: percent off the products of the category (null:
    of all), for carts of at least min_total cents, up to and including expires_on.
    """
    return [*select(db, "SELECT * FROM coupons ORDER BY code")]


@api("shop", writes=True)
def checkout(db: Db, address_id: str, coupon: str | None = None, gift_note: str | None = None) -> JsonValue:
    """Orders what is in the cart, to an address, with a coupon's code and a gift note where given; empties the cart.

    Returns {order_id, total, discount} in cents. 422 where the cart is empty, stock is short or the coupon unfit.
    """
    one_or_404(db, "addresses", address_id, "address")
    rows = _cart(db)
    if not rows:
        raise ApiError(422, "the cart is empty")
    for row in rows:
        _stock_or_422(row["product_id"], row["name"], row["stock"], row["quantity"])
    discount = _discount(db, coupon, rows) if coupon is not None else 0
    note = text_or_422(gift_note, "gift_note") if gift_note is not None else None
    order_id, total = new_id(db, "orders", "ord"), _sum(rows) - discount
    db.execute(
        "INSERT INTO orders (id, placed_on, status, address_id, total, coupon, gift_note)"
        " VALUES (?, ?, 'placed', ?, ?, ?, ?)",
        (order_id, today(db), address_id, total, coupon, note),
    )
    for row in rows:
        item = (order_id, row["product_id"], row["quantity"], row["unit_price"])
        db.execute("INSERT INTO order_items VALUES (?, ?, ?, ?)", item)
        db.execute("UPDATE products SET stock = stock - ? WHERE id = ?", (row["quantity"], row["product_id"]))
    db.execute("DELETE FROM cart_items")
    return {"order_id": order_id, "total": total, "discount": discount}


@api("shop")
def orders(
    db: Db,
    status: Literal["placed", "shipped", "delivered", "cancelled", "return-requested"] | None = None,
    query: str = "",
    page: int = 1,
    page_size: int = 10,
) -> JsonValue:
    """Orders by status and by words of their products' names and brands, newest first.

    Returns a page of {order_id, placed_on, status, total, products}; total in cents, products is their number.
    """
    texts: dict[str, list[str]] = {}
    for row in select(db, "SELECT order_id, name, brand FROM order_items JOIN products ON id = product_id"):
        texts.setdefault(row["order_id"], []).append(f"{row['brand']} {row['name']}")
    found = [
        {"order_id": row["id"], **{key: row[key] for key in _SHORT}, "products": len(texts[row["id"]])}
        for row in select(db, "SELECT * FROM orders ORDER BY placed_on DESC, rowid DESC")
        if status in (None, row["status"]) and any(matches(query, text) for text in texts[row["id"]])
    ]
    return page_of(found, page, page_size)


@api("shop")
def show_order(db: Db, order_id: str) -> JsonValue:
    """One order with its address and products.

    Returns {order_id, placed_on, status, address_id, total, coupon, gift_note, address: {label, street, city}, items:
    [{product_id, name, brand, category, quantity, unit_price}]}; amounts in cents.
    """
    order = one_or_404(db, "orders", order_id, "order")
    address = one_or_404(db, "addresses", order["address_id"], "address")
    items = select(
        db,
        "SELECT product_id, name, brand, category, quantity, unit_price FROM order_items"
        " JOIN products ON id = product_id WHERE order_id = ? ORDER BY name, product_id",
        (order_id,),
    )
    place: Row = {key: address[key] for key in ("label", "street", "city")}
    return {"order_id": order.pop("id"), **order, "address": place, "items": [*items]}


@api("shop", writes=True)
def cancel_order(db: Db, order_id: str) -> JsonValue:
    """Cancels an order that is placed and not yet shipped; its products go back into stock.

    Returns {order_id, status}.
    """
    _status_or_422(db, order_id, "placed", "cancelled")
    db.execute(
        "UPDATE products SET stock = stock + (SELECT quantity FROM order_items WHERE order_id = ? AND product_id = id)"
        " WHERE id IN (SELECT product_id FROM order_items WHERE order_id = ?)",
        (order_id, order_id),
    )
    return _set_status(db, order_id, "cancelled")


@api("shop", writes=True)
def return_order(db: Db, order_id: str) -> JsonValue:
    """Asks to return a delivered order.

    Returns {order_id, status}.
    """
    _status_or_422(db, order_id, "delivered", "returned")
    return _set_status(db, order_id, "return-requested")


def _cart(db: Db) -> list[Row]:
    return select(
        db,
        "SELECT product_id, name, brand, category, price AS unit_price, quantity, stock FROM cart_items"
        " JOIN products ON id = product_id ORDER BY name, product_id",
    )


def _sum(rows: list[Row]) -> int:
    return sum(row["unit_price"] * row["quantity"] for row in rows)


def _put(db: Db, product_id: str, quantity: int) -> JsonValue:
    product = one_or_404(db, "products", product_id, "product")
    _stock_or_422(product_id, product["name"], product["stock"], quantity)
    if quantity:
        db.execute("INSERT OR REPLACE INTO cart_items VALUES (?, ?)", (product_id, quantity))
    else:
        db.execute("DELETE FROM cart_items WHERE product_id = ?", (product_id,))
    return {"product_id": product_id, "quantity": quantity, "total": _sum(_cart(db))}


def _stock_or_422(product_id: str, name: str, stock: int, quantity: int) -> None:
    if quantity > stock:
        left = f"only {stock} left" if stock else "out of stock"
        raise ApiError(422, f"{name!r} ({product_id}): {left}, {quantity} wanted")


def _discount(db: Db, code: str, rows: list[Row]) -> int:
    """Cents off by a coupon, rounded down. Raises 404 for an unknown code, 422 where the coupon does not fit."""
    known = {row["code"]: row for row in select(db, "SELECT * FROM coupons")}
    if code not in known:
        raise ApiError(404, f"no coupon with code {code!r}{did_you_mean(code, known)}")
    coupon, total = known[code], _sum(rows)
    if coupon["expires_on"] < today(db):
        raise ApiError(422, f"coupon {code} expired on {coupon['expires_on']}")
    if total < coupon["min_total"]:
        raise ApiError(422, f"coupon {code} needs a cart of at least {coupon['min_total']} cents, this one has {total}")
    fitting = [row for row in rows if coupon["category"] in (None, row["category"])]
    if not fitting:
        raise ApiError(422, f"coupon {code} is for {coupon['category']} only; the cart has none of it")
    return _sum(fitting) * int(coupon["percent"]) // _PERCENT


def _status_or_422(db: Db, order_id: str, needed: str, what: str) -> None:
    status = one_or_404(db, "orders", order_id, "order")["status"]
    if status != needed:
        raise ApiError(422, f"{order_id} cannot be {what}: it is {status}, not {needed}")


def _set_status(db: Db, order_id: str, status: str) -> JsonValue:
    db.execute("UPDATE orders SET status = ? WHERE id = ?", (status, order_id))
    return {"order_id": order_id, "status": status}
