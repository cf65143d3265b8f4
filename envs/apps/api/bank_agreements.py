"""Standing orders and payment requests of the bank app."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from rebind.envs.apps.api.bank import pay, positive_or_422
from rebind.envs.apps.api.common import Row, booleans, new_id, one_or_404, select, text_or_422, today
from rebind.envs.apps.api.common import page as page_of
from rebind.envs.apps.api.registry import ApiError, Db, api

_LAST_DAY = 28
"""The last day of the month that every month has."""


@api("bank")
def list_standing_orders(db: Db) -> JsonValue:
    """All standing orders, by day of the month; amounts in cents.

    Returns a list of {standing_order_id, account_id, payee_id, amount, day_of_month, reference, active, payee_name}.
    """
    rows = select(
        db,
        "SELECT s.*, p.name AS payee_name FROM standing_orders s JOIN payees p ON p.id = payee_id"
        " ORDER BY day_of_month, s.id",
    )
    return [{"standing_order_id": row.pop("id"), **booleans(row, "active")} for row in rows]


@api("bank", writes=True)
def create_standing_order(
    db: Db, account_id: str, payee_id: str, amount: int, day_of_month: int, reference: str
) -> JsonValue:
    """Sets up a monthly payment to a payee; amount in cents, day_of_month 1 to 28. Nothing is paid today.

    Returns {standing_order_id}.
    """
    one_or_404(db, "bank_accounts", account_id, "account")
    one_or_404(db, "payees", payee_id, "payee")
    row: Row = {
        "account_id": account_id,
        "payee_id": payee_id,
        "amount": positive_or_422(amount),
        "day_of_month": _day_or_422(day_of_month),
        "reference": text_or_422(reference, "reference"),
        "id": new_id(db, "standing_orders", "so"),
    }
    db.execute(f"INSERT INTO standing_orders ({', '.join(row)}) VALUES (?, ?, ?, ?, ?, ?)", tuple(row.values()))
    return {"standing_order_id": row["id"]}


@api("bank", writes=True)
def update_standing_order(
    db: Db,
    standing_order_id: str,
    amount: int | None = None,
    day_of_month: int | None = None,
    active: bool | None = None,
) -> JsonValue:
    """Changes amount (cents) or day of a standing order, or stops it with active false; what is not given stays.

    Returns {standing_order_id}.
    """
    one_or_404(db, "standing_orders", standing_order_id, "standing order")
    changes: Row = {}
    if amount is not None:
        changes["amount"] = positive_or_422(amount)
    if day_of_month is not None:
        changes["day_of_month"] = _day_or_422(day_of_month)
    if active is not None:
        changes["active"] = active
    if not changes:
        raise ApiError(422, "nothing to change: give amount, day_of_month or active")
    assignments = ", ".join(f"{name} = ?" for name in changes)
    db.execute(f"UPDATE standing_orders SET {assignments} WHERE id = ?", (*changes.values(), standing_order_id))
    return {"standing_order_id": standing_order_id}


@api("bank")
def list_requests(
    db: Db,
    direction: Literal["incoming", "outgoing"] | None = None,
    status: Literal["open", "paid", "declined", "cancelled"] | None = None,
    page: int = 1,
    page_size: int = 10,
) -> JsonValue:
    """Payment requests, newest first; incoming ones ask the person to pay, outgoing ones a contact; in cents.

    Returns a page of {request_id, contact_id, amount, reason, direction, status, created_on, contact_name}.
    """
    rows = select(
        db,
        "SELECT r.*, first_name || ' ' || last_name AS contact_name FROM payment_requests r"
        " JOIN contacts c ON c.id = contact_id ORDER BY created_on DESC, r.rowid DESC",
    )
    found = [
        {"request_id": row.pop("id"), **row}
        for row in rows
        if direction in (None, row["direction"]) and status in (None, row["status"])
    ]
    return page_of(found, page, page_size)


@api("bank", writes=True)
def request_money(db: Db, contact_id: str, amount: int, reason: str) -> JsonValue:
    """Asks a contact for money; amount in cents.

    Returns {request_id}; the request is outgoing and open.
    """
    one_or_404(db, "contacts", contact_id, "contact")
    row = (contact_id, positive_or_422(amount), text_or_422(reason, "reason"), "outgoing", "open", today(db))
    request_id = new_id(db, "payment_requests", "req")
    db.execute("INSERT INTO payment_requests VALUES (?, ?, ?, ?, ?, ?, ?)", (request_id, *row))
    return {"request_id": request_id}


@api("bank", writes=True)
def answer_request(db: Db, request_id: str, accept: bool, account_id: str | None = None) -> JsonValue:
    """Pays an open incoming request from an account (accept true, account_id needed), or declines it (accept false).

    Returns {request_id, status, transaction_id}; transaction_id is null where it was declined.
    """
    request = _open_or_422(db, request_id, "incoming", "answered")
    transaction_id = None
    if accept:
        if account_id is None:
            raise ApiError(422, "account_id is needed to accept a request: the account that pays")
        one_or_404(db, "bank_accounts", account_id, "account")
        contact = one_or_404(db, "contacts", request["contact_id"], "contact")
        name = f"{contact['first_name']} {contact['last_name']}"
        transaction_id = pay(db, account_id, request["amount"], name, request["reason"])
    status = "paid" if accept else "declined"
    db.execute("UPDATE payment_requests SET status = ? WHERE id = ?", (status, request_id))
    return {"request_id": request_id, "status": status, "transaction_id": transaction_id}


@api("bank", writes=True)
def cancel_request(db: Db, request_id: str) -> JsonValue:
    """Takes back an open request of your own (outgoing).

    Returns {request_id, status}.
    """
    _open_or_422(db, request_id, "outgoing", "cancelled")
    db.execute("UPDATE payment_requests SET status = 'cancelled' WHERE id = ?", (request_id,))
    return {"request_id": request_id, "status": "cancelled"}


def _day_or_422(day: int) -> int:
    if not 1 <= day <= _LAST_DAY:
        raise ApiError(422, f"day_of_month must be between 1 and {_LAST_DAY}, not {day}")
    return day


def _open_or_422(db: Db, request_id: str, direction: str, what: str) -> Row:
    """The request. Raises 422 unless it is open and of that direction."""
    request = one_or_404(db, "payment_requests", request_id, "payment request")
    if request["direction"] != direction:
        raise ApiError(422, f"{request_id} cannot be {what}: it is {request['direction']}, not {direction}")
    if request["status"] != "open":
        raise ApiError(422, f"{request_id} cannot be {what}: it is {request['status']}")
    return request
