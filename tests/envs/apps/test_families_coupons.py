"""Which coupon saves most: category, least total, last day, rounding, and equals."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebind.envs.apps.api import registry
from rebind.envs.apps.families.coupons import best, only_best, saving
from rebind.envs.apps.families.view import CannotBuild, View
from rebind.envs.apps.state import snapshots

TODAY = "2026-03-14"
ITEMS = [("kitchen", 999, 3), ("books", 1_500, 2)]


def coupon(code: str = "A", percent: int = 10, **columns: Any) -> dict[str, Any]:
    return {"code": code, "percent": percent, "category": None, "min_total": 0, "expires_on": TODAY, **columns}


@pytest.mark.parametrize(
    ("columns", "cents"),
    [
        ({}, 599),
        ({"category": "kitchen"}, 299),
        ({"category": "garden"}, 0),
        ({"min_total": 5_997}, 599),
        ({"min_total": 5_998}, 0),
        ({"category": "kitchen", "min_total": 5_997}, 299),
        ({"expires_on": "2026-03-13"}, 0),
    ],
)
def test_a_coupon_takes_its_percent_off_its_category_where_it_can_be_used(columns: dict[str, Any], cents: int) -> None:
    assert saving(coupon(**columns), ITEMS, TODAY) == cents


def test_the_best_coupon_is_not_the_one_with_the_highest_percent() -> None:
    coupons = [coupon("A", 60, expires_on="2026-03-13"), coupon("B", 30, category="books"), coupon("C", 20)]
    assert best(coupons, ITEMS, TODAY) == ("C", 1_199)


def test_two_equal_coupons_leave_no_single_best_one(db: sqlite3.Connection) -> None:
    view = View(db)
    db.execute("DELETE FROM coupons")
    db.executemany("INSERT INTO coupons VALUES (?, ?, NULL, 0, '9999-12-31')", [("A", 10), ("B", 20)])
    assert only_best(view, ITEMS) == ("B", 1_199)
    db.execute("INSERT INTO coupons VALUES ('C', 20, NULL, 0, '9999-12-31')")
    with pytest.raises(CannotBuild, match="no coupon is better"):
        only_best(view, ITEMS)


@given(st.integers(0, 315), st.integers(1, 20), st.integers(0, 15))
def test_the_shop_takes_off_what_the_saving_says(place: int, quantity: int, which: int) -> None:
    db = snapshots().restore(3)
    view = View(db)
    product = view.rows("SELECT * FROM products ORDER BY id")[place]
    one = view.rows("SELECT * FROM coupons ORDER BY code")[which]
    token = registry.call(db, "supervisor_login", {"app": "shop"}).result
    assert isinstance(token, dict)
    added = registry.call(db, "shop_add_to_cart", {**token, "product_id": product["id"], "quantity": quantity})
    address = view.column("SELECT id FROM addresses")[0]
    ordered = registry.call(db, "shop_checkout", {**token, "address_id": address, "coupon": one["code"]})
    expected = saving(one, [(product["category"], product["price"], quantity)], view.today)
    if added.ok:
        assert ordered.ok == (expected > 0)
        assert not ordered.ok or (isinstance(ordered.result, dict) and ordered.result["discount"] == expected)
    db.close()
