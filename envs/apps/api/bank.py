"""Bank accounts, transactions, payees, transfers. Standing orders and payment requests are in modules of their own.

Amounts are whole cents; a transaction's amount is negative where money leaves the account.
"""

from __future__ import annotations

from pydantic import JsonValue

from rebind.envs.apps.api.common import (
    Row,
    choice_or_422,
    date_or_422,
    matches,
    new_id,
    one_or_404,
    select,
    text_or_422,
    today,
)
from rebind.envs.apps.api.common import page as page_of
from rebind.envs.apps.api.registry import ApiError, Db, api
from rebind.envs.apps.iban import is_iban

TRANSFERS = "transfers"
"""Category of what is booked through the APIs."""


@api("bank")
def list_accounts(db: Db) -> JsonValue:
    """The person's bank accounts with their balances.

    Returns a list of {account_id, name, kind, balance}; kind: checking, savings or joint, balance in cents.
    """
    return [*select(db, "SELECT id AS account_id, name, kind, balance FROM bank_accounts ORDER BY name, id")]


@api("bank")
def transactions(
    db: Db,
    account_id: str | None = None,
    query: str = "",
    category: str | None = None,
    since: str | None = None,
    until: str | None = None,
    page: int = 1,
    page_size: int = 10,
) -> JsonValue:
    """Booked transactions by account, words of counterparty and reference, category and date; newest first.

    since and until: dates, both included. amount is in cents, negative where money went out.
    Returns a page of {transaction_id, account_id, amount, counterparty, reference, booked_on, category}.
    """
    first, last = date_or_422(since or "0001-01-01", "since"), date_or_422(until or "9999-12-31", "until")
    if account_id is not None:
        one_or_404(db, "bank_accounts", account_id, "account")
    columns = "id AS transaction_id, account_id, amount, counterparty, reference, booked_on, category"
    rows = select(db, f"SELECT {columns} FROM transactions ORDER BY booked_on DESC, rowid DESC")
    if category is not None:
        choice_or_422(category, "category", [row["category"] for row in rows])
    found = [
        row
        for row in rows
        if account_id in (None, row["account_id"])
        and category in (None, row["category"])
        and first <= row["booked_on"] <= last
        and matches(query, row["counterparty"], row["reference"])
    ]
    return page_of(found, page, page_size)


@api("bank", writes=True)
def transfer(db: Db, account_id: str, payee_id: str, amount: int, reference: str) -> JsonValue:
    """Pays a payee from an account; amount in cents.

    Returns {transaction_id, balance}, the account's new balance. 422 where the balance does not cover the amount.
    """
    one_or_404(db, "bank_accounts", account_id, "account")
    payee = one_or_404(db, "payees", payee_id, "payee")
    text_or_422(reference, "reference")
    transaction_id = pay(db, account_id, amount, payee["name"], reference)
    return {"transaction_id": transaction_id, "balance": _balance(db, account_id)}


@api("bank", writes=True)
def move_money(db: Db, from_account_id: str, to_account_id: str, amount: int) -> JsonValue:
    """Moves money between two of the person's own accounts; amount in cents.

    Returns {from_transaction_id, to_transaction_id, from_balance, to_balance}.
    """
    source = one_or_404(db, "bank_accounts", from_account_id, "account")
    target = one_or_404(db, "bank_accounts", to_account_id, "account")
    if from_account_id == to_account_id:
        raise ApiError(422, "from_account_id and to_account_id must be two different accounts")
    out = pay(db, from_account_id, amount, target["name"], f"To {target['name']}")
    into = _book(db, to_account_id, amount, source["name"], f"From {source['name']}")
    return {
        "from_transaction_id": out,
        "to_transaction_id": into,
        "from_balance": _balance(db, from_account_id),
        "to_balance": _balance(db, to_account_id),
    }


@api("bank")
def list_payees(db: Db, query: str = "", page: int = 1, page_size: int = 10) -> JsonValue:
    """Payees by words of name or IBAN, sorted by name.

    Returns a page of {payee_id, name, iban, contact_id}; contact_id is null where the payee is no contact.
    """
    rows = select(db, "SELECT id AS payee_id, name, iban, contact_id FROM payees ORDER BY name, id")
    return page_of([row for row in rows if matches(query, row["name"], row["iban"])], page, page_size)


@api("bank", writes=True)
def add_payee(db: Db, name: str, iban: str, contact_id: str | None = None) -> JsonValue:
    """Adds a payee, linked to a contact where contact_id is given.

    Returns {payee_id}. 422 where the IBAN's check digits are wrong or another payee has it.
    """
    text_or_422(name, "name")
    if contact_id is not None:
        one_or_404(db, "contacts", contact_id, "contact")
    compact = iban.replace(" ", "")
    if not is_iban(compact):
        raise ApiError(422, f"iban {iban!r} is no valid IBAN: check its length and digits")
    for row in select(db, "SELECT id, name FROM payees WHERE iban = ?", (compact,)):
        raise ApiError(422, f"payee {row['id']} ({row['name']}) has that iban already")
    payee_id = new_id(db, "payees", "payee")
    db.execute("INSERT INTO payees VALUES (?, ?, ?, ?)", (payee_id, name, compact, contact_id))
    return {"payee_id": payee_id}


@api("bank", writes=True)
def delete_payee(db: Db, payee_id: str) -> JsonValue:
    """Deletes a payee; refused while a standing order, active or not, pays it.

    Returns {payee_id, deleted}.
    """
    one_or_404(db, "payees", payee_id, "payee")
    for row in select(db, "SELECT id FROM standing_orders WHERE payee_id = ?", (payee_id,)):
        raise ApiError(422, f"{payee_id} cannot be deleted: standing order {row['id']} pays it")
    db.execute("DELETE FROM payees WHERE id = ?", (payee_id,))
    return {"payee_id": payee_id, "deleted": True}


def positive_or_422(amount: int) -> int:
    """An amount of at least one cent, as given."""
    if amount < 1:
        raise ApiError(422, f"amount must be a positive number of cents, not {amount}")
    return amount


def pay(db: Db, account_id: str, amount: int, counterparty: str, reference: str) -> str:
    """Books an outgoing amount (positive cents) and lowers the balance; returns the transaction's id.

    Raises 422 where the amount is not positive or the balance does not cover it.
    """
    balance = _balance(db, account_id)
    if positive_or_422(amount) > balance:
        raise ApiError(422, f"insufficient funds: account {account_id} holds {balance} cents, {amount} are needed")
    return _book(db, account_id, -amount, counterparty, reference)


def _book(db: Db, account_id: str, amount: int, counterparty: str, reference: str) -> str:
    transaction_id = new_id(db, "transactions", "txn")
    row: Row = {
        "id": transaction_id,
        "account_id": account_id,
        "amount": amount,
        "counterparty": counterparty,
        "reference": reference,
        "booked_on": today(db),
        "category": TRANSFERS,
    }
    db.execute(f"INSERT INTO transactions ({', '.join(row)}) VALUES (?, ?, ?, ?, ?, ?, ?)", tuple(row.values()))
    db.execute("UPDATE bank_accounts SET balance = balance + ? WHERE id = ?", (amount, account_id))
    return transaction_id


def _balance(db: Db, account_id: str) -> int:
    return int(one_or_404(db, "bank_accounts", account_id, "account")["balance"])
