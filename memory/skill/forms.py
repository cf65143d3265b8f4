"""Forms of results: names and types without values, by which a result is told from what a tool does not return."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

ANY = "any"
"""Form of a value that may be anything: it was null, or differed between elements or sources."""


def form(value: JsonValue) -> JsonValue:
    """Names and types without values; of a list, what all its elements have in common."""
    if isinstance(value, dict):
        return {key: form(inner) for key, inner in sorted(value.items())}
    if isinstance(value, list):
        found = [form(item) for item in value]
        common = found[0] if found else ANY
        for other in found[1:]:
            common = shared(common, other)
        return [common]
    return ANY if value is None else _kind(value)


def shared(one: JsonValue, other: JsonValue) -> JsonValue:
    """The most that two forms have in common."""
    if one == other:
        return one
    if isinstance(one, dict) and isinstance(other, dict):
        return {key: shared(one[key], other[key]) for key in one if key in other}
    if isinstance(one, list) and isinstance(other, list):
        return [shared(one[0], other[0])]
    return ANY


def mismatch(expected: JsonValue, value: JsonValue, where: str = "the result") -> str | None:
    """Where a value lacks its form, in words; None where it has it. More than the form names is welcome."""
    if expected == ANY or value is None:
        return None
    if isinstance(expected, dict) and isinstance(value, dict):
        missing = next((key for key in expected if key not in value), None)
        if missing is not None:
            return f"{where} has no {missing!r}"
        return next(filter(None, (mismatch(expected[k], value[k], f"{where}.{k}") for k in expected)), None)
    if isinstance(expected, list) and isinstance(value, list):
        return next(filter(None, (mismatch(expected[0], v, f"{where}[{n}]") for n, v in enumerate(value))), None)
    return None if _kind(value) == _named(expected) else f"{where} is {_kind(value)}, not {_named(expected)}"


def _named(expected: JsonValue) -> str:
    return expected if isinstance(expected, str) else _kind(expected)


def _kind(value: JsonValue) -> str:
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__


def common_forms(one: Sequence[JsonValue], other: Sequence[JsonValue]) -> tuple[JsonValue, ...]:
    """Forms of two versions of one procedure, step by step."""
    return tuple(shared(a, b) for a, b in zip(one, other, strict=True)) if len(one) == len(other) else tuple(other)
