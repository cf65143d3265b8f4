"""RFC 8785 text, fast enough for every line of a ledger: the bytes of the `rfc8785` package, many times as quickly."""

from __future__ import annotations

import re
from collections.abc import Mapping
from json.encoder import encode_basestring as quoted
from typing import Annotated, Any, Union

import msgspec
import rfc8785

_INT_MAX = 2**53 - 1
_PLAIN_MIN, _PLAIN_MAX = 1e-4, 1e15
"""Between these, Python's, msgspec's and ECMAScript's shortest forms of a number that is not whole are the same."""
EXACT = frozenset({str, bool, type(None)})
"""Types that msgspec always writes in canonical form, or refuses (lone surrogates)."""
_WholeNumber = Annotated[int, msgspec.Meta(ge=-_INT_MAX, le=_INT_MAX)]
_Float = Annotated[float, msgspec.Meta(ge=-_PLAIN_MAX, le=_PLAIN_MAX)]
_ODD_NUMBER = re.compile(rb"[:\[,]-?(?:\d+\.0[,\]}]|0\.0000|\d(?:\.\d+)?e)")
"""In msgspec's text of a value whose numbers are within `_PLAIN_MAX`: one that has another canonical form (whole, or
tiny). A text may look like one, which costs time alone."""
_LEVELS = 9
"""Levels of nesting that are looked into quickly; the schema of an answer has eight. (Each doubles the types made.)"""
encode = msgspec.json.Encoder(order="sorted").encode
"""The canonical form of a string, a boolean and null; of what else, see `canonical_bytes`."""


def canonical_bytes(value: Any) -> bytes:
    """The canonical form of a JSON value (tuples are arrays) in UTF-8.

    Raises:
        rfc8785.CanonicalizationError: NaN, infinity, an integer beyond 2**53 − 1, a key that is no string, a value
            that JSON does not have, or one nested too deeply.
        UnicodeEncodeError: a lone surrogate.
    """
    kind = type(value)
    if kind in EXACT or (kind is int and -_INT_MAX <= value <= _INT_MAX):
        return encode(value)
    if kind is float:
        return _number(value).encode()
    if _fits(value, _Numbered):
        text = encode(value)
        if not _ODD_NUMBER.search(text) and text.isascii():
            return text
    if _plain(value):
        try:
            return encode(value)
        except RecursionError:
            pass  # the slow way says what is wrong
    return canonical_text(value).encode()


def _nested(number: Any, levels: int) -> Any:
    """The type of JSON with such numbers."""
    inner: Any = _nested(number, levels - 1) if levels else None
    scalar: Any = Union[str, number, bool, None]  # noqa: UP007  # a value, not an annotation
    return Union[scalar, dict[str, inner], list[inner]] if levels else scalar  # noqa: UP007


_Whole = msgspec.defstruct("_Whole", [("value", _nested(_WholeNumber, _LEVELS))])
_Numbered = msgspec.defstruct("_Numbered", [("value", _nested(Union[_WholeNumber, _Float], _LEVELS))])  # noqa: UP007


def numbers_are_whole(value: Any) -> bool:
    """Whether a JSON value has no floats, no integers beyond 2**53 − 1 and not too many levels, so that msgspec writes
    it in canonical form if its keys are ASCII. Quick, for what is to be encoded in many parts."""
    return _fits(value, _Whole)


def _fits(value: Any, holder: type[msgspec.Struct]) -> bool:
    try:
        msgspec.convert({"value": value}, holder)
    except msgspec.ValidationError:
        return False
    return True


def _plain(value: Any) -> bool:
    """Whether msgspec, too, writes a value in canonical form: every number in its plain form, keys in one order."""
    waiting = [value]
    for item in waiting:
        kind = type(item)
        if kind is dict:
            try:
                if not "".join(item).isascii():
                    return False
            except TypeError:
                return False
            waiting += item.values()
        elif kind is list:
            waiting += item
        elif kind is int:
            if not -_INT_MAX <= item <= _INT_MAX:
                return False
        elif kind is float:
            if item % 1 == 0 or not _PLAIN_MIN <= abs(item) < _PLAIN_MAX:
                return False
        elif kind not in EXACT:
            return False
    return True


def canonical_text(value: Any) -> str:
    """The canonical form as text. Unlike `rfc8785` it lets lone surrogates through, which no encoding to UTF-8 accepts.

    Raises:
        rfc8785.CanonicalizationError: as `canonical_bytes`.
    """
    try:
        return _text(value)
    except RecursionError:
        raise rfc8785.CanonicalizationError("it is nested too deeply") from None


def ordered(value: Mapping[Any, Any]) -> list[str]:
    """Keys in the order of their UTF-16 code units (RFC 8785, 3.2.3); for ASCII that is Python's own order."""
    try:
        plain = "".join(value).isascii()
    except TypeError:
        raise rfc8785.CanonicalizationError("object keys must be strings") from None
    return sorted(value) if plain else sorted(value, key=lambda key: key.encode("utf-16be", "surrogatepass"))


def _text(value: Any) -> str:
    kind = type(value)
    if kind is str:
        return quoted(value)
    if kind is dict:
        return "{" + ",".join([f"{quoted(key)}:{_text(value[key])}" for key in ordered(value)]) + "}"
    if kind is list or kind is tuple:
        return "[" + ",".join([_text(item) for item in value]) + "]"
    if value is None:
        return "null"
    return _number(value) if kind is int or kind is float else rfc8785.dumps(value).decode()


def _number(value: int | float) -> str:
    if isinstance(value, int):
        return repr(value) if -_INT_MAX <= value <= _INT_MAX else rfc8785.dumps(value).decode()
    if value.is_integer() and abs(value) <= _INT_MAX:
        return repr(int(value))
    return repr(value) if _PLAIN_MIN <= abs(value) < _PLAIN_MAX else rfc8785.dumps(value).decode()
