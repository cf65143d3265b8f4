"""Answers as the sites' pages write them, with the tolerance a reader would grant."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rebind.envs.apps.families.answers import Cents, Day, Number, plain


@dataclass(frozen=True)
class PageDay:
    """A date, in the forms of `Day` or as pages show it: "Jan. 7, 2026", "Sept. 3, 2025, 4 p.m."."""

    value: str

    def accepts(self, given: str) -> bool:
        text = re.sub(r"\bsept\b", "sep", plain(given).replace(".", ""))
        return any(Day(self.value).accepts(form) for form in (given, text, ", ".join(text.split(", ")[:2])))


@dataclass(frozen=True)
class Person:
    """Someone by account name or full name, whatever words stand around it, if nobody else is named by account."""

    value: str
    """The account name."""

    def accepts(self, given: str) -> bool:
        accounts = set(re.findall(r"\b[a-z]+\.[a-z]+\b", given.lower()))
        return accounts == {self.value} or (not accounts and self.value.replace(".", " ") in plain(given))


@dataclass(frozen=True)
class Choice:
    """One of several, whatever words stand around it, if none of the others is named as well."""

    value: str
    options: tuple[str, ...]

    def accepts(self, given: str) -> bool:
        named = {option for option in self.options if plain(option) in plain(given)}
        return self.value in named and all(plain(other) in plain(self.value) for other in named)


__all__ = ["Cents", "Choice", "Number", "PageDay", "Person"]
