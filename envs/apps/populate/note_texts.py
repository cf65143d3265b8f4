"""What the person writes down: kinds of notes with their titles and lines, and recipes.

Slots in braces: person, other, first (a first name), project, city, company, thing, date and month (of writing), and
those of `Cast.figures`, drawn anew for each line; grams in recipes.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebind.envs.apps.populate.cast import OUTSIDE, PRIVATE, STAFF


@dataclass(frozen=True)
class Kind:
    """A kind of note. A note has the head and `least` to `most` of the lines, in their order."""

    notebook: str
    tags: tuple[str, ...]
    titles: tuple[str, ...]
    head: str
    lines: tuple[str, ...]
    least: int
    most: int
    count: int
    """How many notes of it a world has."""
    people: tuple[str, ...] = PRIVATE
    """Relations of the people that are named."""


KINDS = (
    Kind(
        "work", ("meeting", "minutes"),
        ("Meeting notes {date}: {project}", "Meeting notes {date}: Team meeting", "Meeting notes {date}: Planning"),
        "Present: {person}, {other}, me.",
        (
            "{person} reports: test run {number} failed twice, cause found.",
            "Budget: {amount} left until the end of {month}.",
            "Decision: go-live moves to {day}.", "{other} takes over the support line from {day}.",
            "Open: who talks to {company}?", "Action {person}: send figures by {day}.",
            "Action {other}: update the risk list by {day}.", "Action me: book a room for {many} people.",
            "Licence {number} runs out on {day}.", "Next meeting {day}, {hour}.",
        ),
        4, 7, 28, STAFF,
    ),
    Kind(
        "work", ("project",),
        ("{project}: decisions", "{project}: open questions", "{project}: who does what", "{project}: lessons learnt"),
        "Collected since {date}.",
        (
            "Supplier: {company}, contract {number}.", "Scope: {few} sites first, the rest later.",
            "Hosting costs {amount} a month.", "{other} decides on the wording.", "Sign-off by {person} on {day}.",
            "Still unclear: who pays for training.", "Test account demo{many}, password with {other}.",
            "No roll-out in {month}.",
        ),
        4, 6, 15, STAFF,
    ),
    Kind(
        "work", ("call",),
        ("Call with {person} {date}", "Call {company} {date}", "{company}: conditions"),
        "Spoke to {person} ({company}).",
        (
            "Discount {few} percent from {amount}.", "Reference: {number}.", "Delivery promised for {day}.",
            "Wants the offer in two parts.", "Will call back on {day} at {hour}.", "Contact from {month}: {other}.",
            "Payment within {many} days.", "Complained about the last delivery.",
        ),
        3, 5, 17, OUTSIDE,
    ),
    Kind(
        "work", ("1:1",),
        ("1:1 {person}", "1:1 {person} {date}", "Feedback for {person}"),
        "Prepared on {date}.",
        (
            "Wants to work on {project}.", "Holiday from {day}, cover: {other}.", "Training budget: {amount}.",
            "Good: the demo for {company}.", "To improve: answers customers late.", "Asked about a four-day week.",
            "Talk again in {month}.",
        ),
        3, 5, 10, STAFF,
    ),
    Kind(
        "travel", ("packing",),
        ("Packing list", "Packing list {city}", "Packing list weekend", "Packing list hiking"),
        "{city}, {few} days:",
        (
            "- rain jacket", "- passport", "- {thing}", "- two towels", "- head torch", "- chargers", "- sun cream",
            "- swimming things", "- {few} pairs of socks", "- travel pillow", "- first aid kit", "- cards for {first}",
            "- present for {other}", "- hiking boots", "- water bottle", "- plug adapter",
        ),
        6, 10, 11,
    ),
    Kind(
        "travel", ("booking", "trip"),
        ("Trip to {city}", "Trip to {city}: bookings", "{city} tips", "Weekend in {city}"),
        "With {person}.",
        (
            "Train leaves on {day} at {hour}, platform {few}.", "Hotel: booking {number}, {amount}.",
            "Key code of the flat: {code}.", "{other} knows a good bakery near the harbour.",
            "The museum is closed on Mondays.", "Deposit of {amount} paid on {date}.",
            "Return ticket {number}, seat {many}.", "Meet {person} at {hour} at the station.",
        ),
        4, 6, 13,
    ),
    Kind(
        "personal", ("gifts",),
        ("Gift ideas {person}", "Gift ideas {first}", "Gift ideas"),
        "Birthdays and other occasions.",
        (
            "{person}: {thing}, about {amount}.", "{other}: voucher for the theatre, {amount}.", "{first}: a cookbook.",
            "{person}: no more candles!", "Share with {other}, {amount} each.", "{first}: size {many}, likes green.",
        ),
        3, 5, 8,
    ),
    Kind(
        "home", ("household", "meters"),
        ("Meter readings", "Meter readings {date}"),
        "Read on {date}.",
        ("Electricity: {code}{few} kWh.", "Water: {code} m³.", "Gas: {code}{many}.", "Sent to the supplier on {day}."),
        3, 4, 5,
    ),
    Kind(
        "home", ("household",),
        ("Household contacts", "Craftsmen", "Boiler service", "Paint colours"),
        "Last changed {date}.",
        (
            "Hallway: tone {code}, kitchen: tone {code}.", "Plumber: {amount} an hour, customer number {number}.",
            "Chimney sweep comes on {day} at {hour}.", "Spare key is with {other}.", "Boiler: 1.{few} bar, refilled.",
            "Electrician: recommended by {person}.",
        ),
        3, 5, 8,
    ),
    Kind(
        "home", ("codes",),
        ("Door code office", "Door code cellar", "Wi-Fi", "Wi-Fi guests", "Locker", "Bike lock", "Alarm"),
        "Changed on {date}.",
        (
            "New code: {code}.", "Old code {code} no longer works.", "Only {person} and I know it.",
            "Ask {other} when it fails.", "Changes again in {month}.", "Service case {number}.",
        ),
        3, 4, 9,
    ),
    Kind(
        "reading", ("books",),
        ("Books to read", "Books to read {month}", "Books lent", "Films to watch"),
        "Most tips by {person}.",
        (
            "The Salt Path Home ({first} liked it)", "A Short History of Maps", "Night Train to {city}",
            "The Clockmaker's Garden", "Bread and Stones, vol. {few}", "Letters from {city}",
            "How Bridges Fall", "The Quiet Archive", "Winter Orchard, from {other}", "Small Rivers",
        ),
        4, 6, 9,
    ),
    Kind(
        "personal", ("sport",),
        ("Running log {month}", "Training plan", "Training plan {month}"),
        "Goal: the race in {city} on {day}.",
        (
            "{day}: {few} km with {person}.", "{day}: {many} minutes uphill.", "{day}: {few} km, knee all right.",
            "New shoes, {amount}.", "Start number {code}.", "Rest days: cycling with {other}.",
        ),
        3, 5, 7,
    ),
    Kind(
        "personal", ("health",),
        ("Doctor's appointment {date}", "Dentist {date}", "Medicine"),
        "Notes of {date}.",
        (
            "Control again on {day} at {hour}.", "Insurance case {number}.", "Bill: {amount}, refund asked for.",
            "{few} drops in the evening.", "Recommended by {person}.", "No running for {few} weeks.",
        ),
        3, 4, 5,
    ),
    Kind(
        "personal", ("party",),
        ("Ideas for {first}'s party", "Summer party", "Party for {person}", "Club evening {date}"),
        "Planned with {other}.",
        (
            "About {many} guests.", "{person} brings the {thing}.", "Room costs {amount}.", "Music until {hour}.",
            "Deposit due on {day}.", "No nuts for {first}.", "{other} decorates.", "If it rains: hall in {city}.",
        ),
        4, 6, 8,
    ),
    Kind(
        "home", ("garden",),
        ("Garden plan", "Garden plan {month}", "Garden"),
        "Walked round with {person} on {date}.",
        (
            "Beans along the fence.", "Roses stay.", "{few} sacks of soil, {amount}.", "Borrow {other}'s shredder.",
            "Sow again on {day}.", "Apple tree: cut back in {month}.", "Rain barrel leaks.",
        ),
        3, 5, 5,
    ),
)  # fmt: skip

RECIPES = {
    "Lentil soup": ("{grams} g red lentils", "{few} onions", "{few} carrots", "{few} tsp cumin", "juice of a lemon"),
    "Potato gratin": ("{grams} g potatoes", "{grams} ml cream", "{grams} g cheese", "{few} cloves of garlic", "nutmeg"),
    "Pumpkin risotto": ("{grams} g risotto rice", "{grams} g pumpkin", "{few} onions", "{grams} ml stock", "sage"),
    "Chicken stew": ("{few} chicken thighs", "{few} carrots", "{grams} g potatoes", "a leek", "{grams} ml stock"),
    "Apple cake": ("{grams} g flour", "{few} apples", "{grams} g sugar", "{grams} g butter", "{few} eggs", "cinnamon"),
    "Cheese scones": ("{grams} g flour", "{grams} g cheese", "{grams} ml milk", "{few} tsp baking powder", "mustard"),
    "Bean chilli": ("{grams} g kidney beans", "{grams} g tomatoes", "{few} onions", "{few} peppers", "rice"),
    "Onion tart": ("{grams} g flour", "{few} onions", "{grams} ml cream", "{few} eggs", "caraway"),
    "Lemon cake": ("{grams} g flour", "{grams} g sugar", "{grams} g butter", "{few} eggs", "{few} lemons"),
    "Vegetable curry": ("{grams} g chickpeas", "a cauliflower", "{grams} ml coconut milk", "{few} tsp curry", "rice"),
}  # fmt: skip
"""Ingredients by dish."""
METHODS = (
    "Cook on low heat for {many} minutes.", "Bake at 1{many} degrees.", "Let it rest for {many} minutes.",
    "Better on the second day.", "{first} adds a little chilli.", "Serves {few}.", "Freezes well.",
)  # fmt: skip
RECIPE_ENDINGS = ("", "", " ({first}'s)", " (quick)", " (big batch)")
COPY_ENDINGS = (" (old)", " (copy)", " (draft)", " 2", " (new)")
EXTRA_LINES = (
    "To be checked again.",
    "Changed after a talk with {person}.",
    "See the older note.",
    "Valid from {day}.",
)
OWN_TAGS = ("follow-up", "important", "share", "later")
