"""A line of the ledger as an event."""

from __future__ import annotations

import re
from typing import Any, get_args

import msgspec

from rebind.types import Event, EventKind, Redacted

_KINDS = frozenset(get_args(EventKind))
_TYPES: dict[str, tuple[type, ...]] = {
    "n": (int,), "at": (int, float), "kind": (str,), "cell": (str, type(None)), "attempt": (int, type(None)),
    "data": (dict,), "prev": (str,), "hash": (str,), "salt": (str, list), "redacted": (list,),
}  # fmt: skip
_decode = msgspec.json.Decoder().decode
_DIGEST = re.compile(r"[0-9a-f]{64}")


def parse_line(line: bytes) -> Event | None:
    """The event on a line, with its redacted values as `Redacted`; None where the line is none."""
    try:
        fields = _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if type(fields) is not dict or fields.keys() != _TYPES.keys():
        return None
    if not all(type(fields[name]) in types for name, types in _TYPES.items()) or fields["kind"] not in _KINDS:
        return None
    event = Event(**fields)
    if event.redacted and not all(_take_out(event.data, place) for place in event.redacted):
        return None
    return event


def pointer(path: tuple[str | int, ...]) -> str:
    """A path as a JSON pointer (RFC 6901)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def _take_out(data: dict[str, Any], at: Any) -> bool:
    """Replaces the marker at a pointer with a `Redacted`; False where there is none."""
    if type(at) is not str or not at.startswith("/"):
        return False
    *way, last = (part.replace("~1", "/").replace("~0", "~") for part in at[1:].split("/"))
    holder: Any = data
    try:
        for part in way:
            holder = holder[_key(holder, part)]
        key = _key(holder, last)
        marker = holder[key]
        if type(marker) is not dict or marker.keys() != {"redacted"} or not _DIGEST.fullmatch(marker["redacted"]):
            return False
        holder[key] = Redacted(marker["redacted"])
    except (KeyError, IndexError, ValueError, TypeError):
        return False
    return True


def _key(holder: Any, part: str) -> str | int:
    return int(part) if type(holder) is list else part
