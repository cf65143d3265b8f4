"""Expected answers of question tasks, with the tolerance a reader would grant: case, spacing, currency and number
formats, order of a list."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

_NUMBER = re.compile(r"[-+]?\d+(?:[.,'\u00a0]\d{3})*(?:[.,]\d{1,2})?(?!\d)")
_DOLLARS = re.compile(r"[$€£]|\b(usd|eur|gbp|dollars?|euros?|pounds?)\b", re.IGNORECASE)
_CENTS = re.compile(r"\bcents?\b", re.IGNORECASE)
_DAY_FORMATS = ("%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%B %d %Y", "%d %b %Y", "%b %d, %Y", "%b %d %Y", "%d.%m.%Y")


class Answer(Protocol):
    def accepts(self, given: str) -> bool:
        """Whether a declared answer says this."""
        ...


def plain(text: str) -> str:
    """A text's comparable form: folded case, single spaces, no quotes, no final punctuation."""
    return re.sub(r"\s+", " ", text.casefold()).strip(" \t\n\"'`.!?,;:")


@dataclass(frozen=True)
class Text:
    value: str

    def accepts(self, given: str) -> bool:
        return plain(given) == plain(self.value)


@dataclass(frozen=True)
class Number:
    """A count or measure: the only number of the answer, whatever words stand around it."""

    value: float

    def accepts(self, given: str) -> bool:
        found = _only_number(given)
        return found is not None and abs(found[0] - self.value) < 1e-9


@dataclass(frozen=True)
class Cents:
    """An amount. A currency word or a decimal point means whole units, "cents" means cents, a bare integer either."""

    value: int

    def accepts(self, given: str) -> bool:
        found = _only_number(given)
        if found is None:
            return False
        amount, has_decimals = found
        readings = {round(amount * 100)} if has_decimals or _DOLLARS.search(given) else {amount, round(amount * 100)}
        return self.value in ({amount} if _CENTS.search(given) else readings)


@dataclass(frozen=True)
class Day:
    """An ISO date, accepted in the usual written forms."""

    value: str

    def accepts(self, given: str) -> bool:
        bare = re.sub(r"^[a-z]+day,? ", "", plain(given))
        bare = re.sub(r"(?<=\d)(st|nd|rd|th)\b", "", bare)
        for form in _DAY_FORMATS:
            try:
                return datetime.strptime(bare, form).date().isoformat() == self.value
            except ValueError:
                continue
        return False


@dataclass(frozen=True)
class Items:
    """A set of names, in any order, as a JSON list or as text divided by commas, semicolons, lines or "and"."""

    values: tuple[str, ...]

    def accepts(self, given: str) -> bool:
        wanted = {plain(value) for value in self.values}
        return any({plain(part) for part in parts if plain(part)} == wanted for parts in _readings(given))


def _readings(given: str) -> list[list[str]]:
    try:
        listed = json.loads(given)
    except json.JSONDecodeError:
        listed = None
    if isinstance(listed, list):
        return [[str(item) for item in listed]]
    lines = re.split(r"[,;\n]", given)
    trimmed = [re.sub(r"^\s*(?:[-*]|and\b)\s*", "", part) for part in lines]
    return [trimmed, [word for part in lines for word in re.split(r"\band\b", part)]]


def _only_number(given: str) -> tuple[float, bool] | None:
    """The value of the only number in a text and whether it is written with decimals; None where there are more."""
    found = _NUMBER.findall(given)
    if len(found) != 1:
        return None
    digits = re.sub(r"['\u00a0]", "", found[0])
    marks = re.findall(r"[.,]", digits)
    if not marks:
        return float(digits), False
    last = digits.rindex(marks[-1])
    tail = len(digits) - last - 1
    if tail == 3 and len(set(marks)) == 1:  # 1,234 and 1.234.567: thousands
        return float(re.sub(r"[.,]", "", digits)), False
    return float(re.sub(r"[.,]", "", digits[:last]) + "." + digits[last + 1 :]), True
