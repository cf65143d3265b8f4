"""Which coupon saves most, from coupons and items as the shop lists them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rebind.envs.apps.families.view import CannotBuild, View

Item = tuple[str, int, int]
"""Category, unit price in cents, quantity."""


def saving(coupon: Mapping[str, Any], items: Iterable[Item], today: str) -> int:
    """Cents that a coupon takes off an order today, rounded down; 0 where it cannot be used."""
    amounts = [(category, price * quantity) for category, price, quantity in items]
    usable = coupon["expires_on"] >= today and sum(amount for _, amount in amounts) >= coupon["min_total"]
    fitting = sum(amount for category, amount in amounts if coupon["category"] in (None, category))
    return fitting * int(coupon["percent"]) // 100 if usable else 0


def best(coupons: Sequence[Mapping[str, Any]], items: Sequence[Item], today: str) -> tuple[str, int]:
    """Code and saving of the coupon that saves most; the first by code among equals."""
    savings = {str(c["code"]): saving(c, items, today) for c in coupons}
    code = min(savings, key=lambda one: (-savings[one], one))
    return code, savings[code]


def only_best(view: View, items: Sequence[Item]) -> tuple[str, int]:
    """`best` in a state. Raises `CannotBuild` where two coupons save the same: either would be right."""
    coupons = view.rows("SELECT * FROM coupons")
    code, cents = best(coupons, items, view.today)
    if sum(saving(c, items, view.today) == cents for c in coupons) > 1:
        raise CannotBuild("no coupon is better than all others")
    return code, cents
