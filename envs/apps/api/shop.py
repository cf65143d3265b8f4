"""The shop's products, their reviews, and the wishlist. Cart, checkout and orders are in `shop_orders`."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from rebind.envs.apps.api.common import (
    Row,
    choice_or_422,
    matches,
    new_id,
    one_or_404,
    select,
    text_or_422,
    today,
)
from rebind.envs.apps.api.common import page as page_of
from rebind.envs.apps.api.registry import ApiError, Db, api

_SHORT = ("name", "category", "brand", "price", "rating")
_MAX_STARS = 5


@api("shop")
def search(  # noqa: PLR0913  (an API's parameters are its contract)
    db: Db,
    *,
    query: str = "",
    category: str | None = None,
    brand: str | None = None,
    max_price: int | None = None,
    in_stock: bool | None = None,
    sort: Literal["relevance", "price", "rating"] = "relevance",
    page: int = 1,
    page_size: int = 10,
) -> JsonValue:
    """Products by words of name, brand and description, by category, brand (exact name), price in cents and stock.

    Sorted by relevance (name before description), price (lowest first) or rating (best first).
    Returns a page of {product_id, name, category, brand, price, rating, in_stock}; price in cents, rating 1 to 5.
    """
    rows = select(db, "SELECT * FROM products ORDER BY name, brand, id")
    if category is not None:
        choice_or_422(category, "category", [row["category"] for row in rows])
    found = [
        row
        for row in rows
        if category in (None, row["category"])
        and (brand is None or brand.casefold() == row["brand"].casefold())
        and (max_price is None or row["price"] <= max_price)
        and in_stock in (None, row["stock"] > 0)
        and matches(query, row["name"], row["brand"], row["description"])
    ]
    if sort == "relevance":
        found.sort(key=lambda row: not matches(query, row["name"], row["brand"]))
    else:
        found.sort(key=lambda row: row["price"] if sort == "price" else -row["rating"])
    return page_of([_brief(row) for row in found], page, page_size)


@api("shop")
def show_product(db: Db, product_id: str) -> JsonValue:
    """One product with its description, stock, and number of reviews; price in cents.

    Returns {product_id, name, category, brand, price, stock, rating, description, reviews}.
    """
    row = one_or_404(db, "products", product_id, "product")
    (count,) = db.execute("SELECT COUNT(*) FROM reviews WHERE product_id = ?", (product_id,)).fetchone()
    return {"product_id": row.pop("id"), **row, "reviews": count}


@api("shop")
def reviews(db: Db, product_id: str, page: int = 1, page_size: int = 10) -> JsonValue:
    """The reviews of a product, newest first.

    Returns a page of {review_id, author, stars, body, written_on}.
    """
    one_or_404(db, "products", product_id, "product")
    rows = select(
        db,
        "SELECT id AS review_id, author, stars, body, written_on FROM reviews WHERE product_id = ?"
        " ORDER BY written_on DESC, rowid DESC",
        (product_id,),
    )
    return page_of(rows, page, page_size)


@api("shop", writes=True)
def write_review(db: Db, product_id: str, stars: int, body: str) -> JsonValue:
    """Reviews a product under the person's name; stars 1 to 5, one review a product.

    Returns {review_id}.
    """
    one_or_404(db, "products", product_id, "product")
    if not 1 <= stars <= _MAX_STARS:
        raise ApiError(422, f"stars must be between 1 and {_MAX_STARS}, not {stars}")
    text_or_422(body, "body")
    (author,) = db.execute("SELECT value FROM profile WHERE key = 'name'").fetchone()
    for row in select(db, "SELECT id FROM reviews WHERE product_id = ? AND author = ?", (product_id, author)):
        raise ApiError(422, f"you have reviewed {product_id} already: {row['id']}")
    review_id = new_id(db, "reviews", "rev")
    db.execute("INSERT INTO reviews VALUES (?, ?, ?, ?, ?, ?)", (review_id, product_id, author, stars, body, today(db)))
    return {"review_id": review_id}


@api("shop")
def wishlist(db: Db) -> JsonValue:
    """The products on the wishlist, the latest first.

    Returns a list of {product_id, name, category, brand, price, rating, in_stock, added_on}.
    """
    rows = select(
        db,
        "SELECT p.*, added_on FROM wishlist JOIN products p ON p.id = product_id ORDER BY added_on DESC, p.id",
    )
    return [_brief(row) | {"added_on": row["added_on"]} for row in rows]


@api("shop", writes=True)
def add_to_wishlist(db: Db, product_id: str) -> JsonValue:
    """Puts a product on the wishlist.

    Returns {product_id}.
    """
    one_or_404(db, "products", product_id, "product")
    if select(db, "SELECT 1 FROM wishlist WHERE product_id = ?", (product_id,)):
        raise ApiError(422, f"{product_id} is on the wishlist already")
    db.execute("INSERT INTO wishlist VALUES (?, ?)", (product_id, today(db)))
    return {"product_id": product_id}


@api("shop", writes=True)
def remove_from_wishlist(db: Db, product_id: str) -> JsonValue:
    """Takes a product off the wishlist.

    Returns {product_id}.
    """
    one_or_404(db, "products", product_id, "product")
    if not db.execute("DELETE FROM wishlist WHERE product_id = ?", (product_id,)).rowcount:
        raise ApiError(404, f"{product_id} is not on the wishlist")
    return {"product_id": product_id}


def _brief(row: Row) -> Row:
    return {"product_id": row["id"], **{key: row[key] for key in _SHORT}, "in_stock": row["stock"] > 0}
