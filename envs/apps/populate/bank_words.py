"""Whom money goes to and comes from, for what, and in what amounts (cents)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Shop:
    """A merchant paid by card: name, category, lowest and highest amount, references ("" is the usual one)."""

    name: str
    category: str
    low: int
    high: int
    references: tuple[str, ...] = ("Card payment",)


@dataclass(frozen=True)
class Company:
    """A payee that is paid every month."""

    name: str
    category: str
    low: int
    high: int
    reference: str
    """With {number}."""


SHOPS = (
    Shop("Fresh Corner Market", "groceries", 650, 9_800), Shop("Corner Fresh Foods", "groceries", 480, 7_400),
    Shop("Greenleaf Grocers", "groceries", 900, 11_200), Shop("Daily Bakery", "groceries", 220, 1_900),
    Shop("Mill Lane Butcher", "groceries", 700, 4_200), Shop("Trattoria Lucca", "dining", 1_800, 9_600),
    Shop("Café Morgen", "dining", 450, 2_600), Shop("Noodle Bar", "dining", 980, 4_300),
    Shop("Harbour Bistro", "dining", 2_200, 12_000), Shop("City Transit", "transport", 270, 1_400, ("Day ticket",)),
    Shop("Railway Tickets", "transport", 1_450, 13_900, ("Ticket {number}",)),
    Shop("Pit Stop Fuel", "transport", 3_200, 9_500), Shop("Parkwell Garages", "transport", 300, 2_400),
    Shop("Central Pharmacy", "health", 390, 6_200),
    Shop("Dr. Lindqvist Dental", "health", 4_500, 38_000, ("Bill {number}",)),
    Shop("Old Mill Theatre", "leisure", 1_900, 8_800, ("Booking {number}",)), Shop("City Pool", "leisure", 450, 1_800),
    Shop("Paper & Ink Books", "shopping", 890, 6_400), Shop("Homewell Store", "shopping", 1_200, 24_000),
    Shop("Threadneedle Clothing", "shopping", 1_900, 17_000), Shop("Voltworks Electronics", "shopping", 1_500, 64_000),
    Shop("Garden Barn", "shopping", 700, 12_500), Shop("Hilltop Hotel", "travel", 7_800, 42_000, ("Booking {number}",)),
    Shop("Blue Coast Ferries", "travel", 3_400, 16_000, ("Booking {number}",)),
)  # fmt: skip
WEIGHTS = {
    "groceries": 9, "dining": 5, "transport": 4, "health": 2, "leisure": 2, "shopping": 3, "travel": 1,
}  # fmt: skip
"""How often something of a category is bought."""

COMPANIES = (
    Company("Kestrel Property Management", "rent", 82_000, 148_000, "Rent flat {number}"),
    Company("Northern Power", "utilities", 5_400, 12_800, "Electricity contract {number}"),
    Company("Northern Power Plus", "utilities", 3_200, 9_000, "Gas contract {number}"),
    Company("Northern Water", "utilities", 2_100, 5_200, "Water {number}"),
    Company("Telaris Mobile", "subscriptions", 1_490, 3_990, "Mobile contract {number}"),
    Company("Telaris Home", "subscriptions", 2_490, 4_990, "Internet {number}"),
    Company("Granite Insurance", "insurance", 1_800, 7_600, "Household policy {number}"),
    Company("Granite Assurance", "insurance", 2_600, 9_900, "Life policy {number}"),
    Company("Ironclad Gym", "leisure", 2_490, 5_990, "Membership {number}"),
    Company("Streamlight Films", "subscriptions", 799, 1_799, "Subscription {number}"),
    Company("Lighthouse Relief Fund", "donations", 1_000, 5_000, "Monthly gift {number}"),
    Company("Riverside Music School", "education", 4_500, 11_000, "Lessons {number}"),
    Company("Sunny Days Nursery", "education", 9_500, 28_000, "Fees {number}"),
    Company("City Library Society", "donations", 500, 2_000, "Member {number}"),
)  # fmt: skip
REASONS = (
    "Dinner at {place}", "Concert tickets {number}", "Share of the {thing}", "Train to {city}", "Present for {other}",
    "Weekend in {city}", "Groceries", "Lunch", "Football pitch", "Cinema", "Taxi", "Flowers", "Repair of the {thing}",
    "Holiday house {city}", "Petrol",
)  # fmt: skip
"""What people pay one another for."""
ACCOUNTS = (
    ("checking", ("Everyday account", "Current account")),
    ("savings", ("Savings account", "Rainy day savings")),
    ("joint", ("Joint account", "Household account")),
)  # fmt: skip
OLD_ENDING = " (old account)"
