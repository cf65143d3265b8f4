"""What an event's hash says of its data: a salted digest of each value, so that a value can be taken out and the hash
still hold.

A field of `data`, and a member of a field that is an object or array, is a value of its own. The digest of a value is
SHA-256 over 0x00, a salt of 16 bytes and the value's RFC 8785 form; that of a field with members is SHA-256 over 0x01
and the RFC 8785 form of the field with each member replaced by its digest. The salts are the SHAKE-128 stream of the
event's seed, 16 bytes a value, in canonical order. A redacted event has no seed: it lists the salts of the values it
still has, so that nothing tells a short value (a telephone number) from its digest by trying them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256, shake_128
from json.encoder import encode_basestring as quoted
from struct import Struct
from typing import Any, NamedTuple

from rebind.eval.ledger.jcs import canonical_bytes, encode, numbers_are_whole, ordered
from rebind.types import Redacted

SALT_BYTES = 16
_LAYOUTS = 2_048
"""Sets of keys whose layout is remembered: the events of one kind have the same."""


class Committed(NamedTuple):
    """Data as its event carries it, and as its event's hash sees it."""

    text: bytes
    """RFC 8785 form."""
    shape: bytes
    """The same with each field replaced by its digest (hex)."""


class _Layout(NamedTuple):
    """An object's keys in canonical order, and its canonical form with a place for each value."""

    keys: list[str]
    text: bytes
    shape: str
    """With places for digests."""


_Fields = list[tuple[_Layout | None, int]]
"""Of each field of the data: the layout of its members (None in an array), and how many there are; 0 where the field is
one value."""


def commit(data: Mapping[str, Any], seed: bytes) -> Committed:
    """Data that holds nothing redacted.

    Raises:
        rfc8785.CanonicalizationError, UnicodeEncodeError: as `canonical_bytes`.
    """
    fields, values = _open(data)
    texts = [*map(encode, values)] if numbers_are_whole(data) else []
    if not texts or not all(map(bytes.isascii, texts)):  # keys beyond ASCII have an order of their own
        texts = [encode(value) if type(value) is str else canonical_bytes(value) for value in values]
    salts = expand(seed, len(texts))
    digests = [sha256(b"\0" + salt + text).hexdigest() for salt, text in zip(salts, texts, strict=True)]
    return _close(data, fields, texts, digests)


def commit_redacted(data: Mapping[str, Any], salts: Sequence[bytes]) -> Committed:
    """Data some values of which are `Redacted`, with the salts of the others.

    Raises:
        ValueError: there are not as many salts as values.
        rfc8785.CanonicalizationError, UnicodeEncodeError: as `canonical_bytes`.
    """
    fields, values = _open(data)
    left = iter(salts)
    digests = [digest_of(value, left) for value in values]
    if next(left, None) is not None:
        raise ValueError("there are more salts than values")
    return _close(data, fields, [marker(v) if type(v) is Redacted else canonical_bytes(v) for v in values], digests)


def digest_of(value: Any, salts: Iterator[bytes], members: bool = False) -> str:
    """The digest of a value, which takes its salt; with `members`, that of a field, which may have some.

    Raises:
        ValueError: there is no salt left.
    """
    kind = type(value)
    if kind is Redacted:
        return str(value.digest)
    if members and value and kind is dict:
        layout = _layout(tuple(value))
        return _node(layout, [digest_of(value[key], salts) for key in layout.keys])
    if members and value and kind is list:
        return _node(None, [digest_of(member, salts) for member in value])
    salt = next(salts, None)
    if salt is None:
        raise ValueError("there are fewer salts than values")
    return sha256(b"\0" + salt + canonical_bytes(value)).hexdigest()


def expand(seed: bytes, count: int) -> tuple[bytes, ...]:
    """The salts of an event's first `count` values."""
    return _split(count).unpack(shake_128(seed).digest(SALT_BYTES * count))


def values_in(data: Mapping[str, Any]) -> int:
    """How many values, and so salts, data has."""
    return len(_open(data)[1])


def salt_bytes(text: Any) -> bytes:
    """A seed or salt from its one form, 32 lower-case hex digits: with any other length a value could borrow bytes from
    its salt, and mean something else with the same digest.

    Raises:
        ValueError: it has another form.
    """
    salt = bytes.fromhex(text) if isinstance(text, str) else b""
    if len(salt) != SALT_BYTES or salt.hex() != text:
        raise ValueError("a salt is 32 hex digits")
    return salt


def redacted_paths(data: Mapping[str, Any]) -> Iterator[tuple[str | int, ...]]:
    """Where data was redacted, in canonical order."""
    for key in ordered(data):
        value = data[key]
        if type(value) is Redacted:
            yield (key,)
        elif type(value) is dict:
            yield from ((key, member) for member in ordered(value) if type(value[member]) is Redacted)
        elif type(value) is list:
            yield from ((key, at) for at, member in enumerate(value) if type(member) is Redacted)


def marker(value: Redacted) -> bytes:
    """What stands in a line in place of a value that was taken out."""
    return b'{"redacted":"%b"}' % value.digest.encode()


@lru_cache(_LAYOUTS)
def _split(count: int) -> Struct:
    return Struct(f"{SALT_BYTES}s" * count)


@lru_cache(_LAYOUTS)
def _layout(keys: tuple[str, ...]) -> _Layout:
    inorder = ordered(dict.fromkeys(keys))
    names = [quoted(key).replace("%", "%%") for key in inorder]
    text = "{" + ",".join([f"{name}:%b" for name in names]) + "}"
    return _Layout(inorder, text.encode(), "{" + ",".join([f'{name}:"%s"' for name in names]) + "}")


def _open(data: Mapping[str, Any]) -> tuple[_Fields, list[Any]]:
    """The fields of the data, and all its values in canonical order."""
    fields: _Fields = []
    values: list[Any] = []
    for key in _layout(tuple(data)).keys:
        value = data[key]
        kind = type(value)
        if kind is dict and value:
            layout = _layout(tuple(value))
            values += [value[member] for member in layout.keys]
            fields.append((layout, len(value)))
        elif kind is list and value:
            values += value
            fields.append((None, len(value)))
        else:
            values.append(value)
            fields.append((None, 0))
    return fields, values


def _close(data: Mapping[str, Any], fields: _Fields, texts: list[bytes], digests: list[str]) -> Committed:
    """Puts together what `_open` took apart."""
    whole: list[bytes] = []
    shape: list[str] = []
    at = 0
    for layout, count in fields:
        if count:
            members = texts[at : at + count]
            whole.append(layout.text % (*members,) if layout else b"[" + b",".join(members) + b"]")
            shape.append(_node(layout, digests[at : at + count]))
            at += count
        else:
            whole.append(texts[at])
            shape.append(digests[at])
            at += 1
    outer = _layout(tuple(data))
    return Committed(outer.text % (*whole,), (outer.shape % (*shape,)).encode())


def _node(layout: _Layout | None, digests: list[str]) -> str:
    form = layout.shape % (*digests,) if layout else '["' + '","'.join(digests) + '"]'
    return sha256(b"\1" + form.encode()).hexdigest()
