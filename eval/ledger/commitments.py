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

from rebind.jcs import EXACT, canonical_bytes, encode, numbers_are_whole, ordered
from rebind.types import Redacted

SALT_BYTES = 16
_FORMS = 2_048
"""Sets of keys whose form is remembered: the events of one kind have the same."""


_TEXT, _DIGEST = "%b", '"%s"'
"""Places in a form: of a value's canonical bytes, and of a digest."""


class Committed(NamedTuple):
    """Data as its event carries it, and as its event's hash sees it."""

    text: bytes
    """RFC 8785 form."""
    shape: bytes
    """The same with each field replaced by its digest (hex)."""


class _Form(NamedTuple):
    """What all data of one structure have in common: their canonical form, with places for the values."""

    text: bytes
    nodes: list[tuple[str | None, int, int]]
    """Of each field the shape of its members, with places for digests (None where it is one value), and where its
    values begin and end."""
    shape: str
    """With places for the fields' digests."""


_Structure = tuple[tuple[str, ...] | int | None, ...]
"""Of each field of the data, in canonical order: its members' keys as they come, how many members its array has, or
None where the field is one value."""


def commit(data: Mapping[str, Any], seed: bytes) -> Committed:
    """Data that holds nothing redacted.

    Raises:
        rfc8785.CanonicalizationError, UnicodeEncodeError: as `canonical_bytes`.
    """
    form, values = _open(data)
    if numbers_are_whole(data):
        texts = (*map(encode, values),)
    else:
        texts = (*[encode(value) if type(value) in EXACT else _quick(value) for value in values],)
    whole = form.text % texts
    if not whole.isascii():  # keys beyond ASCII have an order of their own
        texts = (*map(canonical_bytes, values),)
        whole = form.text % texts
    salts = expand(seed, len(texts))
    digests = [sha256(b"\0" + salt + text).hexdigest() for salt, text in zip(salts, texts, strict=True)]
    return Committed(whole, _shape(form, digests))


def commit_redacted(data: Mapping[str, Any], salts: Sequence[bytes]) -> Committed:
    """Data some values of which are `Redacted`, with the salts of the others.

    Raises:
        ValueError: there are not as many salts as values.
        rfc8785.CanonicalizationError, UnicodeEncodeError: as `canonical_bytes`.
    """
    form, values = _open(data)
    left = iter(salts)
    digests = [digest_of(value, left) for value in values]
    if next(left, None) is not None:
        raise ValueError("there are more salts than values")
    texts = (*(marker(v) if type(v) is Redacted else canonical_bytes(v) for v in values),)
    return Committed(form.text % texts, _shape(form, digests))


def digest_of(value: Any, salts: Iterator[bytes], members: bool = False) -> str:
    """The digest of a value, which takes its salt; with `members`, that of a field, which may have some.

    Raises:
        ValueError: there is no salt left.
    """
    kind = type(value)
    if kind is Redacted:
        return str(value.digest)
    if members and value and kind is dict:
        keys = tuple(value)
        return _node(_holder(keys, _DIGEST), [digest_of(value[key], salts) for key in _order(keys)])
    if members and value and kind is list:
        return _node(_holder(len(value), _DIGEST), [digest_of(member, salts) for member in value])
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


@lru_cache(_FORMS)
def _split(count: int) -> Struct:
    return Struct(f"{SALT_BYTES}s" * count)


@lru_cache(_FORMS)
def _order(keys: tuple[str, ...]) -> list[str]:
    """Keys in canonical order."""
    return ordered(dict.fromkeys(keys))


def _open(data: Mapping[str, Any]) -> tuple[_Form, list[Any]]:
    """The form of the data, and all their values in canonical order."""
    structure: list[tuple[str, ...] | int | None] = []
    values: list[Any] = []
    names = tuple(data)
    for name in _order(names):
        value = data[name]
        kind = type(value)
        if kind is dict and value:
            keys = tuple(value)
            structure.append(keys)
            values += [value[key] for key in _order(keys)]
        elif kind is list and value:
            structure.append(len(value))
            values += value
        else:
            structure.append(None)
            values.append(value)
    return _form(names, (*structure,)), values


@lru_cache(_FORMS)
def _form(names: tuple[str, ...], structure: _Structure) -> _Form:
    texts: list[str] = []
    nodes: list[tuple[str | None, int, int]] = []
    at = 0
    for part in structure:
        begin = at
        at += 1 if part is None else part if isinstance(part, int) else len(part)
        nodes.append((None if part is None else _holder(part, _DIGEST), begin, at))
        texts.append(_TEXT if part is None else _holder(part, _TEXT))
    return _Form(_object(names, texts).encode(), nodes, _object(names, [_DIGEST] * len(names)))


def _quick(value: Any) -> bytes:
    """The canonical form of a value without keys beyond ASCII."""
    kind = type(value)
    plain = (kind is dict or kind is list) and numbers_are_whole(value)
    return encode(value) if plain else canonical_bytes(value)


def _holder(members: tuple[str, ...] | int, place: str) -> str:
    """The canonical form of an object with these keys, or of an array of so many members, with places for them."""
    if isinstance(members, int):
        return "[" + ",".join([place] * members) + "]"
    return _object(members, [place] * len(members))


def _object(keys: tuple[str, ...], places: Sequence[str]) -> str:
    """The canonical form of an object, with places for its values in canonical order."""
    names = [quoted(key).replace("%", "%%") for key in _order(keys)]
    return "{" + ",".join([f"{name}:{place}" for name, place in zip(names, places, strict=True)]) + "}"


def _shape(form: _Form, digests: list[str]) -> bytes:
    """The canonical form of the data with each field replaced by its digest."""
    fields = [_node(shape, digests[begin:end]) if shape else digests[begin] for shape, begin, end in form.nodes]
    return (form.shape % (*fields,)).encode()


def _node(shape: str, digests: list[str]) -> str:
    return sha256(b"\1" + (shape % (*digests,)).encode()).hexdigest()
