"""The APIs of the shop app: products, reviews, wishlist, cart, addresses, coupons, orders."""

from __future__ import annotations

import pytest


@pytest.fixture
def lamp(agent) -> str:
    """A product of the category home, 20.00, five in stock."""
    agent.db.execute("INSERT INTO products VALUES ('prod_1', 'Harbour lamp', 'home', 'Quill', 2000, 5, 4.5, 'Brass.')")
    return "prod_1"


@pytest.fixture
def oar(agent) -> str:
    """A product of the category sports, 30.01, one in stock; its description names a lamp."""
    row = ("prod_2", "Oar", "sports", "Quill", 3001, 1, 3.0, "No harbour lamp.")
    agent.db.execute("INSERT INTO products VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    return "prod_2"


@pytest.fixture
def home(agent) -> str:
    return agent.ok("shop_list_addresses")[0]["address_id"]


def coupon(agent, *, percent: int = 10, category: str | None = None, least: int = 0, days: int = 0) -> str:
    """A coupon that expires so many days from today."""
    agent.db.execute(
        "INSERT INTO coupons SELECT 'LAKE', ?, ?, ?, date(value, ?) FROM profile WHERE key = 'today'",
        (percent, category, least, f"{days} days"),
    )
    return "LAKE"


def stock(agent, product: str) -> int:
    return agent.ok("shop_show_product", product_id=product)["stock"]


def test_search_puts_names_before_descriptions(agent, lamp: str, oar: str) -> None:
    found = agent.ok("shop_search", query="lamp HARBOUR")["items"]
    assert [one["product_id"] for one in found] == [lamp, oar]
    assert found[0] == {
        "product_id": lamp, "name": "Harbour lamp", "category": "home", "brand": "Quill", "price": 2000, "rating": 4.5,
        "in_stock": True,
    }  # fmt: skip


def test_search_filters_by_category_brand_price_and_stock(agent, lamp: str, oar: str) -> None:
    agent.db.execute("UPDATE products SET stock = 0 WHERE id = ?", (oar,))
    for filters, expected in (
        ({"brand": "quill"}, [lamp, oar]), ({"brand": "Quill", "category": "sports"}, [oar]),
        ({"brand": "Quill", "max_price": 2000}, [lamp]), ({"brand": "Quill", "in_stock": True}, [lamp]),
        ({"brand": "Quill", "in_stock": False}, [oar]), ({"brand": "Qu"}, []),
    ):  # fmt: skip
        assert sorted(one["product_id"] for one in agent.every("shop_search", **filters)) == expected, filters
    status, reason = agent.refused("shop_search", category="sport")
    assert (status, "did you mean 'sports'?" in reason) == (422, True)


def test_search_sorts_by_price_upwards_and_by_rating_downwards(agent) -> None:
    for sort, backwards in (("price", False), ("rating", True)):
        values = [one[sort] for one in agent.every("shop_search", sort=sort)]
        assert values == sorted(values, reverse=backwards), sort


def test_a_review_is_written_once_under_the_persons_name(agent, lamp: str) -> None:
    key = agent.ok("shop_write_review", product_id=lamp, stars=4, body="Bright.")["review_id"]
    me = agent.ok("supervisor_profile")
    assert agent.ok("shop_reviews", product_id=lamp)["items"] == [
        {"review_id": key, "author": me["name"], "stars": 4, "body": "Bright.", "written_on": me["today"]}
    ]
    assert agent.ok("shop_show_product", product_id=lamp)["reviews"] == 1
    assert agent.refused("shop_write_review", product_id=lamp, stars=5, body="x") == (
        422,
        f"you have reviewed {lamp} already: {key}",
    )


def test_a_review_needs_one_to_five_stars_and_a_text(agent, lamp: str) -> None:
    for bad in ({"stars": 0}, {"stars": 6}, {"body": ""}):
        assert agent.refused("shop_write_review", **{"product_id": lamp, "stars": 3, "body": "x"} | bad)[0] == 422


def test_reviews_are_newest_first(agent) -> None:
    product = agent.value("SELECT product_id FROM reviews GROUP BY product_id ORDER BY count(*) DESC LIMIT 1")
    days = [one["written_on"] for one in agent.every("shop_reviews", product_id=product)]
    assert len(days) > 1
    assert days == sorted(days, reverse=True)


def test_the_wishlist_takes_a_product_once(agent, lamp: str) -> None:
    agent.ok("shop_add_to_wishlist", product_id=lamp)
    first = agent.ok("shop_wishlist")[0]
    assert (first["product_id"], first["price"], first["in_stock"]) == (lamp, 2000, True)
    assert agent.refused("shop_add_to_wishlist", product_id=lamp)[0] == 422
    agent.ok("shop_remove_from_wishlist", product_id=lamp)
    assert agent.refused("shop_remove_from_wishlist", product_id=lamp) == (404, f"{lamp} is not on the wishlist")


def test_the_cart_adds_up_and_never_exceeds_stock(agent, lamp: str, oar: str) -> None:
    assert agent.ok("shop_add_to_cart", product_id=lamp, quantity=2)["total"] == 4000
    assert agent.ok("shop_add_to_cart", product_id=lamp) == {"product_id": lamp, "quantity": 3, "total": 6000}
    agent.ok("shop_add_to_cart", product_id=oar)
    shown = agent.ok("shop_cart")
    assert shown["total"] == 9001
    assert [(one["product_id"], one["quantity"], one["unit_price"]) for one in shown["items"]] == [
        (lamp, 3, 2000),
        (oar, 1, 3001),
    ]
    assert agent.refused("shop_add_to_cart", product_id=lamp, quantity=3) == (
        422,
        f"'Harbour lamp' ({lamp}): only 5 left, 6 wanted",
    )
    assert agent.refused("shop_set_quantity", product_id=oar, quantity=2)[0] == 422
    assert agent.refused("shop_add_to_cart", product_id=lamp, quantity=0)[0] == 422
    assert stock(agent, lamp) == 5


def test_set_quantity_replaces_and_zero_takes_out(agent, lamp: str, oar: str) -> None:
    agent.ok("shop_add_to_cart", product_id=lamp, quantity=5)
    assert agent.ok("shop_set_quantity", product_id=lamp, quantity=2)["total"] == 4000
    assert agent.refused("shop_set_quantity", product_id=lamp, quantity=-1)[0] == 422
    assert agent.ok("shop_set_quantity", product_id=lamp, quantity=0)["total"] == 0
    assert agent.ok("shop_cart")["items"] == []
    assert agent.refused("shop_set_quantity", product_id=oar, quantity=1)[0] == 404


def test_a_sold_out_product_cannot_be_put_into_the_cart(agent) -> None:
    key, name = agent.rows("SELECT id, name FROM products WHERE stock = 0 LIMIT 1")[0]
    assert agent.refused("shop_add_to_cart", product_id=key) == (422, f"{name!r} ({key}): out of stock, 1 wanted")


def test_clear_cart_says_how_many_products_it_took_out(agent, lamp: str, oar: str) -> None:
    agent.ok("shop_add_to_cart", product_id=lamp, quantity=2)
    agent.ok("shop_add_to_cart", product_id=oar)
    assert agent.ok("shop_clear_cart") == {"removed": 2}
    assert agent.ok("shop_clear_cart") == {"removed": 0}


def test_an_address_is_added_under_a_new_label_and_not_as_default(agent) -> None:
    key = agent.ok("shop_add_address", label="Boat house", street="1 Pier", city="Lakeside")["address_id"]
    added = {"address_id": key, "label": "Boat house", "street": "1 Pier", "city": "Lakeside", "is_default": False}
    addresses = agent.ok("shop_list_addresses")
    assert added in addresses
    assert [one["is_default"] for one in addresses] == [True] + [False] * (len(addresses) - 1)
    assert agent.refused("shop_add_address", label="boat HOUSE", street="2 Pier", city="Lakeside")[0] == 422
    for name in ("label", "street", "city"):
        bad = {"label": "l", "street": "s", "city": "c"} | {name: " "}
        assert agent.refused("shop_add_address", **bad) == (422, f"{name} must not be empty")


def test_checkout_makes_the_order_lowers_stock_empties_the_cart_and_charges_nothing(
    agent, home: str, lamp: str, oar: str
) -> None:
    balances = agent.rows("SELECT * FROM bank_accounts")
    agent.ok("shop_add_to_cart", product_id=lamp, quantity=2)
    agent.ok("shop_add_to_cart", product_id=oar)
    made = agent.ok("shop_checkout", address_id=home, gift_note="Enjoy!")
    assert (made["total"], made["discount"]) == (7001, 0)
    shown = agent.ok("shop_show_order", order_id=made["order_id"])
    assert (shown["status"], shown["gift_note"], shown["coupon"]) == ("placed", "Enjoy!", None)
    assert shown["placed_on"] == agent.ok("supervisor_profile")["today"]
    assert shown["address"]["label"] == "Home"
    assert [(one["product_id"], one["quantity"], one["unit_price"]) for one in shown["items"]] == [
        (lamp, 2, 2000),
        (oar, 1, 3001),
    ]
    assert (stock(agent, lamp), stock(agent, oar)) == (3, 0)
    assert agent.ok("shop_cart") == {"items": [], "total": 0}
    assert agent.rows("SELECT * FROM bank_accounts") == balances
    assert agent.ok("shop_orders")["items"][0]["order_id"] == made["order_id"]


def test_a_coupon_takes_its_percent_off_its_category_rounded_down(agent, home: str, lamp: str, oar: str) -> None:
    agent.ok("shop_add_to_cart", product_id=lamp)
    agent.ok("shop_add_to_cart", product_id=oar)
    made = agent.ok("shop_checkout", address_id=home, coupon=coupon(agent, percent=15, category="sports", least=5001))
    assert (made["discount"], made["total"]) == (450, 5001 - 450)
    assert agent.ok("shop_show_order", order_id=made["order_id"])["coupon"] == "LAKE"


@pytest.mark.parametrize(
    ("terms", "reason"),
    [
        ({"days": -1}, "expired on"), ({"least": 2001}, "needs a cart of at least 2001 cents, this one has 2000"),
        ({"category": "books"}, "is for books only; the cart has none of it"),
    ],
)  # fmt: skip
def test_a_coupon_that_does_not_fit_is_refused(agent, home: str, lamp: str, terms: dict, reason: str) -> None:
    agent.ok("shop_add_to_cart", product_id=lamp)
    status, said = agent.refused("shop_checkout", address_id=home, coupon=coupon(agent, **terms))
    assert (status, reason in said) == (422, True), said
    assert stock(agent, lamp) == 5


def test_checkout_refuses_an_empty_cart_unknown_ids_and_stock_that_ran_out(agent, home: str, lamp: str) -> None:
    assert agent.refused("shop_checkout", address_id=home) == (422, "the cart is empty")
    agent.ok("shop_add_to_cart", product_id=lamp, quantity=2)
    assert agent.refused("shop_checkout", address_id="addr_1")[0] == 404
    coupon(agent)
    status, reason = agent.refused("shop_checkout", address_id=home, coupon="LAKES")
    assert (status, reason) == (404, "no coupon with code 'LAKES'; did you mean 'LAKE'?")
    assert agent.refused("shop_checkout", address_id=home, gift_note="")[0] == 422
    agent.db.execute("UPDATE products SET stock = 1 WHERE id = ?", (lamp,))
    assert agent.refused("shop_checkout", address_id=home)[1].endswith("only 1 left, 2 wanted")


def test_list_coupons_shows_valid_and_expired_ones(agent) -> None:
    today = agent.ok("supervisor_profile")["today"]
    dates = [one["expires_on"] for one in agent.ok("shop_list_coupons")]
    assert min(dates) < today <= max(dates)


def test_orders_filter_by_status_and_by_words_of_one_product(agent) -> None:
    every = agent.every("shop_orders")
    assert [one["placed_on"] for one in every] == sorted((one["placed_on"] for one in every), reverse=True)
    for status in ("placed", "shipped", "delivered", "cancelled", "return-requested"):
        found = agent.every("shop_orders", status=status)
        assert found == [one for one in every if one["status"] == status] != []
    order, name, brand = agent.rows("SELECT order_id, name, brand FROM order_items JOIN products ON id = product_id")[0]
    assert order in [one["order_id"] for one in agent.every("shop_orders", query=f"{name} {brand.upper()}")]


def test_cancelling_a_placed_order_puts_its_products_back_into_stock(agent, home: str, lamp: str) -> None:
    agent.ok("shop_add_to_cart", product_id=lamp, quantity=2)
    order = agent.ok("shop_checkout", address_id=home)["order_id"]
    others = agent.rows("SELECT id, stock FROM products WHERE id <> ?", lamp)
    assert agent.ok("shop_cancel_order", order_id=order) == {"order_id": order, "status": "cancelled"}
    assert stock(agent, lamp) == 5
    assert agent.rows("SELECT id, stock FROM products WHERE id <> ?", lamp) == others
    assert agent.refused("shop_cancel_order", order_id=order)[0] == 422


def test_only_a_placed_order_is_cancelled_and_only_a_delivered_one_returned(agent) -> None:
    keys = dict(agent.rows("SELECT status, id FROM orders"))
    assert agent.refused("shop_cancel_order", order_id=keys["shipped"]) == (
        422,
        f"{keys['shipped']} cannot be cancelled: it is shipped, not placed",
    )
    for status in ("placed", "shipped", "cancelled", "return-requested"):
        assert agent.refused("shop_return_order", order_id=keys[status])[0] == 422
    assert agent.ok("shop_return_order", order_id=keys["delivered"])["status"] == "return-requested"
    assert agent.ok("shop_show_order", order_id=keys["delivered"])["status"] == "return-requested"


def test_unknown_products_and_orders_are_404s(agent) -> None:
    for verb, more in (
        ("show_product", {}), ("reviews", {}), ("write_review", {"stars": 3, "body": "x"}), ("add_to_cart", {}),
        ("set_quantity", {"quantity": 1}), ("add_to_wishlist", {}), ("remove_from_wishlist", {}),
    ):  # fmt: skip
        assert agent.refused(f"shop_{verb}", product_id="prod_0", **more)[0] == 404
    for verb in ("show_order", "cancel_order", "return_order"):
        assert agent.refused(f"shop_{verb}", order_id="ord_0")[0] == 404
