"""Binding-like values: which strings of a trajectory are values of its own world, and how text may spell them.

Everything here works from a record alone; nothing knows an environment.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator
from typing import Literal

from pydantic import JsonValue

from rebind.types import Record

ValueKind = Literal["email", "date", "path", "id", "amount", "name"]

_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_PATH = re.compile(r"(?<![\w/.:])/(?:[\w.+-]+/)*[\w.+-]+")
_ID = re.compile(r"\b(?=\w*[A-Za-z])(?=\w*\d)\w{4,}\b")
_AMOUNT = re.compile(r"\b\d+[.,]\d{2}\b")
_NAME = re.compile(r"[A-Z][\w'’-]*(?: (?:[A-Z][\w'’-]*|&|of|the|and))*(?: [A-Z0-9][\w'’-]*)?")
_NAME_KEYS = re.compile(
    r"(?:^|_)(?:name|title|city|company|author|artist|brand|sender|street|owner|user|username|label)$"
)
_MONEY_KEYS = re.compile(r"(?:^|_)(?:amount|price|total|balance|cost|fee|salary)$")
_LONGEST_NAME = 60


def leaves(value: JsonValue, key: str = "") -> Iterator[tuple[str, str | int | float]]:
    """Every string and number in a JSON value, with the nearest key above it. Booleans and nulls are no values."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner, key)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield key, value


def bindings_in(key: str, value: str | int | float) -> Iterator[tuple[ValueKind, str]]:
    """The binding-like strings in one leaf: ids, e-mail addresses, dates and paths anywhere in a text; a whole leaf
    that is a proper name; money as a number in cents, spelt as an amount."""
    if not isinstance(value, str):
        if _MONEY_KEYS.search(key) and isinstance(value, int) and abs(value) >= 100:
            yield "amount", f"{abs(value) / 100:.2f}"
            yield "amount", str(abs(value))
        return
    kinds: tuple[tuple[ValueKind, re.Pattern[str]], ...] = (
        ("email", _EMAIL),
        ("date", _DATE),
        ("path", _PATH),
        ("amount", _AMOUNT),
    )
    rest = value
    for kind, pattern in kinds:
        for found in pattern.findall(rest):
            yield kind, found
        rest = pattern.sub(" ", rest)
    for found in _ID.findall(rest):
        yield "id", found
    if len(value) <= _LONGEST_NAME and _NAME.fullmatch(value) and (" " in value or _NAME_KEYS.search(key)):
        yield "name", value


def source_values(record: Record) -> dict[str, str]:
    """The binding-like values of a record's calls, arguments and results, each with the key it first stood under."""
    found: dict[str, str] = {}
    for step in record.steps:
        for call in step.calls:
            for key, leaf in [*leaves(dict(call.args)), *leaves(call.result)]:
                for kind, value in bindings_in(key, leaf):
                    found.setdefault(value, key or kind)
    return found


def spellings(value: JsonValue) -> tuple[str, ...]:
    """How a text may spell a value: as it is; a date or time also in words; whole cents also as an amount.

    Of a list or object: the spellings of every leaf.
    """
    return tuple(dict.fromkeys(s for _, leaf in leaves(value) for s in _spellings(leaf) if s))


def _spellings(leaf: str | int | float) -> Iterable[str]:
    if isinstance(leaf, int):
        return (str(leaf), *_amount_spellings(abs(leaf))) if abs(leaf) >= 100 else (str(leaf), _ordinal(leaf))
    text = str(leaf).strip()
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        return (text,)
    if not _DATE.match(text):
        return (text,)
    day, month, year = moment.day, f"{moment:%B}", moment.year
    dates = (
        f"{moment:%Y-%m-%d}", f"{day} {month} {year}", f"{month} {day}, {year}", f"{day} {month}", f"{month} {day}",
        f"{_ordinal(day)} of {month}", f"{month} {_ordinal(day)}", f"{day} {month[:3]}", f"{month[:3]} {day}",
    )  # fmt: skip
    return (text, *dates)


def _amount_spellings(cents: int) -> tuple[str, ...]:
    whole, rest = divmod(cents, 100)
    exact = (f"{whole}.{rest:02d}", f"{whole:,}.{rest:02d}", f"{whole},{rest:02d}")
    return exact if rest else (*exact, f"{whole:,}", str(whole))


def _ordinal(number: int) -> str:
    teens = 10 <= abs(number) % 100 <= 20
    suffix = "th" if teens else {1: "st", 2: "nd", 3: "rd"}.get(abs(number) % 10, "th")
    return f"{number}{suffix}"


def mentions(text: str, value: str) -> bool:
    """Whether a text contains a value as whole words, case-insensitively."""
    return stands_in(text.casefold(), value.casefold())


def stands_in(low: str, sought: str) -> bool:
    """`mentions` of letters as they are; of case-folded ones, in any case."""
    position = 0
    if not sought:
        return False
    while (at := low.find(sought, position)) >= 0:
        before, after = low[at - 1 : at], low[at + len(sought) : at + len(sought) + 1]
        joined = (before.isalnum() and sought[0].isalnum()) or (after.isalnum() and sought[-1].isalnum())
        if not joined and "_" not in (before, after):
            return True
        position = at + 1
    return False


def says(text: str, value: JsonValue) -> bool:
    """Whether a text contains any spelling of a value."""
    return any(mentions(text, s) for s in spellings(value))


def leaked(text: str, record: Record, visible: Iterable[str]) -> tuple[str, ...]:
    """The keys of the record's binding-like values that stand in a text although nothing visible shows them, sorted.

    Longest values first, so that a name inside an address is not counted again.
    """
    shown = "\n".join(visible)
    keys: set[str] = set()
    for value, key in sorted(source_values(record).items(), key=lambda pair: -len(pair[0])):
        if mentions(text, value) and not mentions(shown, value):
            keys.add(key)
            text = re.sub(re.escape(value), " ", text, flags=re.IGNORECASE)
    return tuple(sorted(keys))
