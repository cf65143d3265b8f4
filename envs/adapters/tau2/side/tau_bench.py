"""τ-bench's airline and retail, as they were when its runs were recorded, on the tools of τ².

τ² changed τ-bench. `Recorded` undoes what it changed, and only that (docs/originals.md lists it): the subclasses here
override the tools whose effect differs, `_spoken` gives refusals τ-bench's words, `_lifted` and `_lowered` carry a
database there and back.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from pathlib import Path
from typing import Any

from tau2.domains.airline.data_model import FlightDB
from tau2.domains.airline.tools import AirlineTools
from tau2.domains.retail.data_model import OrderPayment, RetailDB
from tau2.domains.retail.tools import RetailTools
from tau2.environment.environment import Environment
from tau2.environment.toolkit import ToolType, is_tool

from .tables import Table


class _Airline(AirlineTools):
    @is_tool(ToolType.WRITE)
    def book_reservation(self, **given: Any) -> Any:
        """τ-bench leaves the seats of a flight as they are."""
        flown = [self.db.flights[f["flight_number"]] for f in given["flights"] if f["flight_number"] in self.db.flights]
        open_days = [day for flight in flown for day in flight.dates.values() if hasattr(day, "available_seats")]
        before = [dict(day.available_seats) for day in open_days]
        try:
            return super().book_reservation(**given)
        finally:
            for day, seats in zip(open_days, before, strict=True):
                day.available_seats = seats

    @is_tool(ToolType.WRITE)
    def update_reservation_flights(self, reservation_id: str, cabin: str, flights: list[Any], payment_id: str) -> Any:
        """τ-bench keeps the cabin of a reservation that it moves to another."""
        kept = self.db.reservations[reservation_id].cabin if reservation_id in self.db.reservations else None
        changed = super().update_reservation_flights(reservation_id, cabin, flights, payment_id)
        changed.cabin = kept
        return changed

    @is_tool(ToolType.READ)
    def list_all_airports(self) -> Any:
        """τ-bench answers with a mapping."""
        return {a.iata: a.city for a in super().list_all_airports()}

    @is_tool(ToolType.READ)
    def search_onestop_flight(self, origin: str, destination: str, date: str) -> Any:
        """τ-bench shows a second leg of the day after with the seats and prices of the day before."""
        pairs = super().search_onestop_flight(origin, destination, date)
        for _, second in pairs:
            day = self.db.flights[second.flight_number].dates[date]
            if hasattr(day, "prices"):
                second.available_seats, second.prices = day.available_seats, day.prices
        return pairs


class _Retail(RetailTools):
    def _is_pending_order(self, order: Any) -> bool:
        """τ-bench takes an order whose items were modified for one that is pending no more."""
        return bool(order.status == "pending")

    @is_tool(ToolType.WRITE)
    def modify_pending_order_items(
        self, order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
    ) -> Any:
        """τ-bench lets an item be modified to itself, and gives every item its own variant's price and options, where
        τ² gives all of them the last one's."""
        order = self._get_order(order_id)
        if order.status != "pending":
            raise ValueError("Non-pending order cannot be modified")
        held = [item.item_id for item in order.items]
        for item_id in item_ids:
            if item_ids.count(item_id) > held.count(item_id):
                raise ValueError(f"{item_id} not found")
        if len(item_ids) != len(new_item_ids):
            raise ValueError("The number of items to be exchanged should match")
        pairs = list(zip(item_ids, new_item_ids, strict=True))
        difference = sum((self._new_price(order, old, new) for old, new in pairs), 0)
        paying = self._get_payment_method(order.user_id, payment_method_id)
        if paying.source == "gift_card" and paying.balance < difference:
            raise ValueError("Insufficient gift card balance to pay for the new item")
        kind = "payment" if difference > 0 else "refund"
        order.payment_history.append(
            OrderPayment(transaction_type=kind, amount=abs(difference), payment_method_id=payment_method_id)
        )
        if paying.source == "gift_card":
            paying.balance = round(paying.balance - difference, 2)
        for old, new in pairs:
            item = next(item for item in order.items if item.item_id == old)
            variant = self._get_variant(item.product_id, new)
            item.item_id, item.price, item.options = new, variant.price, variant.options
        order.status = "pending (item modified)"
        return order

    def _new_price(self, order: Any, old: str, new: str) -> Any:
        """How much dearer the new variant is."""
        item = next(item for item in order.items if item.item_id == old)
        variant = self.db.products[item.product_id].variants.get(new)
        if variant is None or not variant.available:
            raise ValueError(f"New item {new} not found or available")
        return variant.price - item.price


class Recorded:
    """One domain of τ-bench over the database files of a folder."""

    def __init__(self, domain: str, folder: str) -> None:
        """Loads `folder`/<table>.json, packed with gzip or not. Raises FileNotFoundError, or pydantic's ValidationError
        where a database is none of τ-bench's."""
        self._airline = domain == "airline"
        fixed, tables = ("flights", ["reservations", "users"]) if self._airline else ("products", ["orders", "users"])
        raw = {name: _read(Path(folder) / f"{name}.json") for name in (fixed, *tables)}
        self._database = (FlightDB if self._airline else RetailDB).model_validate(_lifted(raw))
        self._raw, self._fixed, self._tables = raw, fixed, tables
        self._texts = {name: {key: str(_hashable(one)) for key, one in table.items()} for name, table in raw.items()}
        self._gold: dict[str, tuple[dict[str, Any], str]] = {}

    def replay(self, calls: list[dict[str, Any]], gold: list[dict[str, Any]]) -> dict[str, Any]:
        """Makes the calls on a fresh database, and the gold calls on another.

        Returns `observations` (a text each), `same` (whether both databases end alike) and `gold_hash` (of the gold
        database, as τ-bench computes it).
        """
        environment = self._fresh()
        observations = [self._call(environment, call["tool"], call["args"]) for call in calls]
        key = json.dumps(gold, sort_keys=True)
        if key not in self._gold:
            reference = self._fresh()
            for call in gold:
                self._call(reference, call["tool"], call["args"])
            changed = self._changed(reference)
            self._gold[key] = (changed, self._hash(changed))
        state, gold_hash = self._gold[key]
        return {"observations": observations, "same": self._changed(environment) == state, "gold_hash": gold_hash}

    def _fresh(self) -> Environment:
        tables = {name: Table(getattr(self._database, name)) for name in self._tables}
        database = self._database.model_copy(update=tables)
        tools = (_Airline if self._airline else _Retail)(database)
        return Environment(domain_name="recorded", policy="", tools=tools)

    def _call(self, environment: Environment, tool: str, arguments: dict[str, Any]) -> str:
        if tool == "think":
            return ""
        if not environment.tools.has_tool(tool):
            return f"Unknown action {tool}"
        try:
            answer = environment.make_tool_call(tool, **arguments)
        except Exception as error:  # as τ-bench does: whatever a tool raises is what the agent reads
            return "Error: " + self._spoken(tool, str(error))
        if isinstance(answer, str):
            return answer
        return json.dumps(self._lowered(json.loads(environment.to_json_str(answer))))

    def _spoken(self, tool: str, words: str) -> str:
        """A refusal of τ² in τ-bench's words."""
        if re.fullmatch(r"(User|Reservation) \S+ not found", words):
            words = "User not found" if tool == "get_reservation_details" else f"{words.split(maxsplit=1)[0]} not found"
        for pattern, instead in _WORDS:
            words = re.sub(pattern, instead, words)
        return words[:1].lower() + words[1:]

    def _changed(self, environment: Environment) -> dict[str, Any]:
        """The rows that differ from the database's, by table and key, as τ-bench has them."""
        changed: dict[str, Any] = {}
        for name in self._tables:
            table: Table = getattr(environment.tools.db, name)
            rows = {key: self._lowered(table[key].model_dump(mode="json", exclude_unset=True)) for key in table.touched}
            changed[name] = {key: row for key, row in rows.items() if row != self._raw[name].get(key)}
        return changed

    def _hash(self, changed: dict[str, Any]) -> str:
        parts = {}
        for name, texts in self._texts.items():
            rows = texts | {key: str(_hashable(row)) for key, row in changed.get(name, {}).items()}
            parts[name] = ", ".join(f"({key!r}, {text})" for key, text in sorted(rows.items()))
        whole = ", ".join(f"({name!r}, ({part}))" for name, part in sorted(parts.items()))
        return hashlib.sha256(f"({whole})".encode()).hexdigest()

    def _lowered(self, value: Any) -> Any:
        """A part of τ²'s database as τ-bench has it."""
        if isinstance(value, list):
            return [self._lowered(one) for one in value]
        if isinstance(value, float) and self._airline and value.is_integer():
            return int(value)
        if not isinstance(value, dict):
            return value
        person = {"email", "payment_methods"} <= value.keys()
        lowered = {k: self._lowered(v) for k, v in value.items() if v is not None and not (person and k == "user_id")}
        if self._airline and person:
            lowered["address"] = {"province" if k == "state" else k: v for k, v in lowered["address"].items()}
        return lowered


_WORDS = (
    (r"^Number of (\S+) not found\.$", r"\1 not found"),
    (r"^Variant not found$", "new item not found or available"),
    (r"^The number of items to be exchanged should match\.$", "the number of items to be exchanged should match"),
    (
        r"^Payment method should be the original payment method$",
        "payment method should be either the original payment method or a gift card",
    ),
)


def _lifted(raw: dict[str, Any]) -> dict[str, Any]:
    """A database of τ-bench as τ² has it: users carry their id, and the airline's addresses a state."""
    users = {}
    for name, user in raw["users"].items():
        address = {"state" if k == "province" else k: v for k, v in user["address"].items()}
        users[name] = {**user, "user_id": name, "address": address}
    return {**raw, "users": users}


def _hashable(value: Any) -> Any:
    """τ-bench's form of a database for hashing: mappings as sorted pairs, lists as tuples."""
    if isinstance(value, dict):
        return tuple((key, _hashable(one)) for key, one in sorted(value.items()))
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


def _read(path: Path) -> Any:
    """A JSON file, or that file packed with gzip."""
    packed = path.with_name(path.name + ".gz")
    return json.loads(path.read_bytes() if path.exists() else gzip.decompress(packed.read_bytes()))
