"""The APIs of the bank app."""

from __future__ import annotations

import pytest

from rebind.envs.apps.iban import with_check_digits

IBAN = with_check_digits("DE", "370400440532013000")
OTHER_IBAN = with_check_digits("FR", "2" * 23)


@pytest.fixture
def account(agent) -> str:
    """The checking account, holding 1,000.00."""
    key = agent.value("SELECT id FROM bank_accounts WHERE kind = 'checking'")
    agent.db.execute("UPDATE bank_accounts SET balance = 100000 WHERE id = ?", (key,))
    return key


@pytest.fixture
def payee(agent) -> str:
    """A payee that no standing order pays."""
    return agent.value("SELECT id FROM payees WHERE id NOT IN (SELECT payee_id FROM standing_orders) ORDER BY id")


def balance(agent, account: str) -> int:
    return next(one["balance"] for one in agent.ok("bank_list_accounts") if one["account_id"] == account)


def request(agent, direction: str, status: str) -> str:
    return agent.value("SELECT id FROM payment_requests WHERE direction = ? AND status = ?", direction, status)


def test_list_accounts_shows_one_of_each_kind(agent) -> None:
    assert sorted(one["kind"] for one in agent.ok("bank_list_accounts")) == ["checking", "joint", "savings"]


def test_transactions_filter_by_account_words_category_and_dates_newest_first(agent) -> None:
    every = agent.every("bank_transactions")
    assert [one["booked_on"] for one in every] == sorted((one["booked_on"] for one in every), reverse=True)
    one = every[len(every) // 2]
    for name in ("account_id", "category"):
        found = agent.every("bank_transactions", **{name: one[name]})
        assert one in found
        assert {row[name] for row in found} == {one[name]}
    assert one in agent.every("bank_transactions", query=f"{one['reference']} {one['counterparty'].upper()}")
    days = agent.every("bank_transactions", since=one["booked_on"], until=one["booked_on"])
    assert one in days
    assert {row["booked_on"] for row in days} == {one["booked_on"]}


def test_transactions_refuse_an_unknown_account_category_or_date(agent) -> None:
    assert agent.refused("bank_transactions", account_id="acc_1")[0] == 404
    assert agent.refused("bank_transactions", since="yesterday")[0] == 422
    status, reason = agent.refused("bank_transactions", category="grocery")
    assert (status, "did you mean 'groceries'?" in reason) == (422, True)


def test_a_transfer_books_one_transaction_and_lowers_the_balance(agent, account: str, payee: str) -> None:
    before = set(agent.rows("SELECT * FROM transactions"))
    made = agent.ok("bank_transfer", account_id=account, payee_id=payee, amount=12345, reference="Invoice 7")
    assert made["balance"] == balance(agent, account) == 100000 - 12345
    name, today = agent.value("SELECT name FROM payees WHERE id = ?", payee), agent.ok("supervisor_profile")["today"]
    booked = (made["transaction_id"], account, -12345, name, "Invoice 7", today, "transfers")
    assert set(agent.rows("SELECT * FROM transactions")) - before == {booked}
    assert agent.ok("bank_transactions", account_id=account)["items"][0]["transaction_id"] == made["transaction_id"]


def test_a_transfer_needs_funds_a_positive_amount_and_a_reference(agent, account: str, payee: str) -> None:
    good = {"account_id": account, "payee_id": payee, "amount": 100, "reference": "x"}
    assert agent.refused("bank_transfer", **good | {"amount": 100001}) == (
        422,
        f"insufficient funds: account {account} holds 100000 cents, 100001 are needed",
    )
    for bad in ({"amount": 0}, {"amount": -5}, {"reference": " "}):
        assert agent.refused("bank_transfer", **good | bad)[0] == 422
    for unknown in ({"account_id": "acc_1"}, {"payee_id": "payee_1"}):
        assert agent.refused("bank_transfer", **good | unknown)[0] == 404
    assert agent.ok("bank_transfer", **good | {"amount": 100000})["balance"] == 0


def test_moving_money_books_two_transactions_and_keeps_the_sum(agent, account: str) -> None:
    target = agent.value("SELECT id FROM bank_accounts WHERE kind = 'savings'")
    total = agent.value("SELECT sum(balance) FROM bank_accounts")
    made = agent.ok("bank_move_money", from_account_id=account, to_account_id=target, amount=2500)
    rows = agent.rows(
        "SELECT account_id, amount FROM transactions WHERE id IN (?, ?) ORDER BY amount",
        made["from_transaction_id"],
        made["to_transaction_id"],
    )
    assert rows == [(account, -2500), (target, 2500)]
    assert made["from_balance"] == 97500
    assert made["to_balance"] == balance(agent, target)
    assert agent.value("SELECT sum(balance) FROM bank_accounts") == total


def test_moving_money_needs_two_accounts_and_funds(agent, account: str) -> None:
    target = agent.value("SELECT id FROM bank_accounts WHERE kind = 'savings'")
    for args, status in (
        ((account, account, 1), 422), ((account, target, 100001), 422), ((account, target, 0), 422),
        ((account, "acc_1", 1), 404), (("acc_1", target, 1), 404),
    ):  # fmt: skip
        names = ("from_account_id", "to_account_id", "amount")
        assert agent.refused("bank_move_money", **dict(zip(names, args, strict=True)))[0] == status


def test_payees_are_found_by_name_or_iban(agent) -> None:
    key, name, iban = agent.rows("SELECT id, name, iban FROM payees LIMIT 1")[0]
    for query in (name.upper(), iban):
        assert key in [one["payee_id"] for one in agent.every("bank_list_payees", query=query)]
    names = [one["name"] for one in agent.every("bank_list_payees")]
    assert names == sorted(names)


def test_a_payee_is_added_with_a_valid_new_iban(agent) -> None:
    contact = agent.value("SELECT id FROM contacts LIMIT 1")
    spaced = f"{IBAN[:4]} {IBAN[4:8]} {IBAN[8:]}"
    key = agent.ok("bank_add_payee", name="Boat Hire", iban=spaced, contact_id=contact)["payee_id"]
    assert agent.rows("SELECT name, iban, contact_id FROM payees WHERE id = ?", key) == [("Boat Hire", IBAN, contact)]
    assert agent.refused("bank_add_payee", name="Other", iban=IBAN) == (
        422,
        f"payee {key} (Boat Hire) has that iban already",
    )
    for bad in ("", "DE12", IBAN[:-1] + str((int(IBAN[-1]) + 1) % 10), IBAN.lower()):
        assert agent.refused("bank_add_payee", name="Other", iban=bad)[0] == 422
    assert agent.refused("bank_add_payee", name="Other", iban=OTHER_IBAN, contact_id="x")[0] == 404
    assert agent.refused("bank_add_payee", name=" ", iban=OTHER_IBAN)[0] == 422


def test_a_payee_is_deleted_unless_a_standing_order_pays_it(agent, payee: str) -> None:
    assert agent.ok("bank_delete_payee", payee_id=payee) == {"payee_id": payee, "deleted": True}
    assert agent.refused("bank_delete_payee", payee_id=payee)[0] == 404
    order, used = agent.rows("SELECT id, payee_id FROM standing_orders WHERE NOT active LIMIT 1")[0]
    assert agent.refused("bank_delete_payee", payee_id=used) == (
        422,
        f"{used} cannot be deleted: standing order {order} pays it",
    )


def test_a_standing_order_is_created_active_and_pays_nothing_today(agent, account: str, payee: str) -> None:
    before = agent.value("SELECT count(*) FROM transactions")
    args = {"account_id": account, "payee_id": payee, "amount": 5000, "day_of_month": 3, "reference": "Choir"}
    key = agent.ok("bank_create_standing_order", **args)["standing_order_id"]
    found = [one for one in agent.ok("bank_list_standing_orders") if one["standing_order_id"] == key]
    name = agent.value("SELECT name FROM payees WHERE id = ?", payee)
    assert found == [{"standing_order_id": key, **args, "active": True, "payee_name": name}]
    assert agent.value("SELECT count(*) FROM transactions") == before
    assert balance(agent, account) == 100000
    for bad in ({"amount": 0}, {"day_of_month": 0}, {"day_of_month": 29}, {"reference": ""}):
        assert agent.refused("bank_create_standing_order", **args | bad)[0] == 422
    for unknown in ({"account_id": "acc_1"}, {"payee_id": "payee_1"}):
        assert agent.refused("bank_create_standing_order", **args | unknown)[0] == 404


def test_a_standing_order_is_changed_and_stopped(agent) -> None:
    key = agent.value("SELECT id FROM standing_orders WHERE active LIMIT 1")
    agent.ok("bank_update_standing_order", standing_order_id=key, amount=777)
    agent.ok("bank_update_standing_order", standing_order_id=key, day_of_month=28, active=False)
    row = "SELECT amount, day_of_month, active FROM standing_orders WHERE id = ?"
    assert agent.rows(row, key) == [(777, 28, 0)]
    for bad in ({}, {"amount": -1}, {"day_of_month": 31}):
        assert agent.refused("bank_update_standing_order", standing_order_id=key, **bad)[0] == 422
    assert agent.refused("bank_update_standing_order", standing_order_id="so_1", amount=1)[0] == 404


def test_requests_filter_by_direction_and_status_newest_first(agent) -> None:
    every = agent.every("bank_list_requests")
    assert [one["created_on"] for one in every] == sorted((one["created_on"] for one in every), reverse=True)
    found = agent.every("bank_list_requests", direction="incoming", status="open")
    assert found == [one for one in every if (one["direction"], one["status"]) == ("incoming", "open")] != []
    one = found[0]
    name = agent.value("SELECT first_name || ' ' || last_name FROM contacts WHERE id = ?", one["contact_id"])
    assert one["contact_name"] == name


def test_money_is_requested_from_a_contact(agent) -> None:
    contact = agent.value("SELECT id FROM contacts LIMIT 1")
    key = agent.ok("bank_request_money", contact_id=contact, amount=1500, reason="Boat hire")["request_id"]
    newest = agent.ok("bank_list_requests")["items"][0]
    shown = (newest["request_id"], newest["direction"], newest["status"], newest["amount"], newest["reason"])
    assert shown == (key, "outgoing", "open", 1500, "Boat hire")
    assert agent.refused("bank_request_money", contact_id="con_1", amount=1, reason="x")[0] == 404
    for bad in ({"amount": 0}, {"reason": ""}):
        args = {"contact_id": contact, "amount": 1, "reason": "x"} | bad
        assert agent.refused("bank_request_money", **args)[0] == 422


def test_accepting_a_request_pays_it_from_the_account(agent, account: str) -> None:
    key = request(agent, "incoming", "open")
    amount, reason, name = agent.rows(
        "SELECT amount, reason, first_name || ' ' || last_name FROM payment_requests r JOIN contacts c"
        " ON c.id = contact_id WHERE r.id = ?",
        key,
    )[0]
    made = agent.ok("bank_answer_request", request_id=key, accept=True, account_id=account)
    assert made["status"] == "paid"
    assert balance(agent, account) == 100000 - amount
    booked = "SELECT amount, counterparty, reference FROM transactions WHERE id = ?"
    assert agent.rows(booked, made["transaction_id"]) == [(-amount, name, reason)]
    assert agent.refused("bank_answer_request", request_id=key, accept=False) == (
        422,
        f"{key} cannot be answered: it is paid",
    )


def test_declining_a_request_books_nothing(agent) -> None:
    key = request(agent, "incoming", "open")
    before = agent.value("SELECT count(*) FROM transactions")
    assert agent.ok("bank_answer_request", request_id=key, accept=False) == {
        "request_id": key,
        "status": "declined",
        "transaction_id": None,
    }
    assert agent.value("SELECT count(*) FROM transactions") == before


def test_accepting_a_request_needs_an_account_with_funds(agent, account: str) -> None:
    key = request(agent, "incoming", "open")
    assert agent.refused("bank_answer_request", request_id=key, accept=True)[0] == 422
    assert agent.refused("bank_answer_request", request_id=key, accept=True, account_id="acc_1")[0] == 404
    agent.db.execute("UPDATE bank_accounts SET balance = 5 WHERE id = ?", (account,))
    status, reason = agent.refused("bank_answer_request", request_id=key, accept=True, account_id=account)
    assert (status, reason.startswith("insufficient funds")) == (422, True)
    assert agent.value("SELECT status FROM payment_requests WHERE id = ?", key) == "open"


def test_only_incoming_requests_are_answered_and_only_outgoing_ones_cancelled(agent, account: str) -> None:
    mine, theirs = request(agent, "outgoing", "open"), request(agent, "incoming", "open")
    assert agent.refused("bank_answer_request", request_id=mine, accept=True, account_id=account) == (
        422,
        f"{mine} cannot be answered: it is outgoing, not incoming",
    )
    assert agent.refused("bank_cancel_request", request_id=theirs)[0] == 422
    assert agent.ok("bank_cancel_request", request_id=mine) == {"request_id": mine, "status": "cancelled"}
    assert agent.refused("bank_cancel_request", request_id=mine)[1] == f"{mine} cannot be cancelled: it is cancelled"
    for verb, more in (("answer_request", {"accept": False}), ("cancel_request", {})):
        assert agent.refused(f"bank_{verb}", request_id="req_1", **more)[0] == 404
