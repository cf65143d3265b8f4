"""Picking an element out of a list by what its fields say: the same rule when a skill is induced and when it is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from rebind.memory.values import mentions, says

PAGES = "pages"
ITEMS = "items"
"""Keys of a paged listing: how many pages there are, and the elements of this one."""


def alike(field: JsonValue, value: JsonValue) -> bool:
    """Whether an element's field fits a value: equal, or one names the other ("Anna", "Anna Smith"; a day, a time)."""
    if field == value:
        return True
    if isinstance(field, str) and isinstance(value, str):
        day = field[:10] == value and field[10:11] == "T"
        return day or mentions(field, value) or mentions(value, field)
    if isinstance(field, int | float) and isinstance(value, str) and not isinstance(field, bool):
        return says(value, field)
    return False


def matching(items: Sequence[JsonValue], where: Mapping[str, JsonValue]) -> list[int]:
    """Positions of the elements whose fields fit all values; of these, those in which most fields are equal and not
    merely alike: "Work" is the list "Work" and not "Work: garden", where there are both."""
    equal = {
        at: sum(_equal(item[name], value) for name, value in where.items())
        for at, item in enumerate(items)
        if isinstance(item, dict) and all(name in item and alike(item[name], value) for name, value in where.items())
    }
    most = max(equal.values(), default=0)
    return [at for at, count in equal.items() if count == most]


def _equal(field: JsonValue, value: JsonValue) -> bool:
    if isinstance(field, str) and isinstance(value, str):
        return field.strip().casefold() == value.strip().casefold()
    return field == value
