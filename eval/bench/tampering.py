"""Ways to tamper with a ledger: each takes its lines, changes them, and says what it did."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rebind.canon import canonical
from rebind.eval.ledger.chain import GENESIS, commit_event, line_end, make_line
from rebind.eval.ledger.lines import parse_line
from rebind.eval.ledger.redaction import without
from rebind.types import Event, Redacted

Lines = list[bytes]
Edited = Iterable[bytes]
Edit = Callable[[Lines, random.Random], tuple[Lines, str]]


def flip_byte(lines: Lines, rng: random.Random) -> tuple[Lines, str]:
    """Any byte becomes any other."""
    at = rng.randrange(len(lines))
    line = bytearray(lines[at])
    place = rng.randrange(len(line))
    line[place] ^= rng.randrange(1, 256)
    lines[at] = bytes(line)
    return lines, f"byte {place} of line {at + 1}"


def delete_lines(lines: Lines, rng: random.Random) -> tuple[Lines, str]:
    """One line, or a few in a row, are gone; the last ones among them, too."""
    at = rng.randrange(len(lines))
    count = rng.choice((1, 1, 1, 2, 5))
    del lines[at : at + count]
    return lines, f"{count} from line {at + 1}"


def swap_lines(lines: Lines, rng: random.Random) -> tuple[Lines, str]:
    """Two lines change places."""
    one, other = rng.sample(range(len(lines)), 2)
    lines[one], lines[other] = lines[other], lines[one]
    return lines, f"lines {one + 1} and {other + 1}"


def duplicate_line(lines: Lines, rng: random.Random) -> tuple[Lines, str]:
    """A line stands in one more place."""
    at, to = rng.randrange(len(lines)), rng.randrange(len(lines) + 1)
    lines.insert(to, lines[at])
    return lines, f"line {at + 1} again as line {to + 1}"


def truncate(lines: Lines, rng: random.Random) -> tuple[Lines, str]:
    """The end is cut off, between two lines or within one."""
    at = rng.randrange(len(lines))
    within = rng.choice((0, rng.randrange(len(lines[at]))))
    return [*lines[:at], lines[at][:within]], f"within line {at + 1}, after {within} bytes"


def forge_value(lines: Lines, rng: random.Random) -> tuple[Lines, str]:
    """A value in an event's data becomes another, and every hash from there on is made anew."""
    while True:
        at = rng.randrange(len(lines))
        event = _event(lines[at])
        leaves = [leaf for leaf in _leaves(event.data, ()) if leaf]
        if leaves:
            break
    path = rng.choice(leaves)
    old = _get(event.data, path)
    new = (not old) if isinstance(old, bool) else old + rng.randrange(1, 9) if isinstance(old, int) else f"{old}x"
    _get(event.data, path[:-1])[path[-1]] = new
    lines[at] = _line(event)
    return rechained(lines), f"{'.'.join(map(str, path))} of line {at + 1} became {new!r}"


def forge_deletion(lines: Lines, rng: random.Random) -> tuple[Lines, str]:
    """A line is gone, and every number and hash after it is made anew."""
    at = rng.randrange(len(lines))
    del lines[at]
    return rechained(lines), f"line {at + 1}"


def forge_order(lines: Lines, rng: random.Random) -> tuple[Lines, str]:
    """Two lines change places, and every number and hash is made anew."""
    lines, what = swap_lines(lines, rng)
    return rechained(lines), what


def change_digest(lines: Lines, rng: random.Random) -> tuple[Lines, str]:
    """The digest of a redacted value becomes another."""
    at, event, (path, *_) = _redacted(lines, rng, 1)
    _get(event.data, path[:-1])[path[-1]] = Redacted(_other(_get(event.data, path).digest, rng))
    lines[at] = _line(event, hash_of=event.hash)
    return lines, f"the digest of {path} in line {at + 1}"


def swap_digests(lines: Lines, rng: random.Random) -> tuple[Lines, str]:
    """Two redacted values of an event change places."""
    at, event, (one, other, *_) = _redacted(lines, rng, 2)
    first, second = _get(event.data, one), _get(event.data, other)
    _get(event.data, one[:-1])[one[-1]], _get(event.data, other[:-1])[other[-1]] = second, first
    lines[at] = _line(event, hash_of=event.hash)
    return lines, f"{one} and {other} in line {at + 1}"


def move_digest(lines: Lines, rng: random.Random) -> tuple[Lines, str]:
    """A redacted value of one event takes the place of one of another."""
    at, event, (path, *_) = _redacted(lines, rng, 1)
    mine = _get(event.data, path)
    while True:
        other, source, (place, *_) = _redacted(lines, rng, 1)
        if _get(source.data, place).digest != mine.digest:
            break
    _get(event.data, path[:-1])[path[-1]] = _get(source.data, place)
    lines[at] = _line(event, hash_of=event.hash)
    return lines, f"{place} of line {other + 1} in place of {path} of line {at + 1}"


def fill_in(lines: Lines, rng: random.Random) -> tuple[Lines, str]:
    """A redacted value gets a made-up text, and a salt of its own."""
    at, event, (path, *_) = _redacted(lines, rng, 1)
    _get(event.data, path[:-1])[path[-1]] = "made up"
    salts = [*event.salt, rng.randbytes(16).hex()]
    rng.shuffle(salts)
    left = [place for place in event.redacted if place != "/" + "/".join(map(str, path))]
    lines[at] = _line(event._replace(salt=salts if left else salts[0], redacted=left), hash_of=event.hash)
    return lines, f"{path} of line {at + 1} was filled in"


def change_salt(lines: Lines, rng: random.Random) -> tuple[Lines, str]:
    """A salt of what is left in a redacted event becomes another."""
    at, event, _ = _redacted(lines, rng, 1, salted=True)
    salts = list(event.salt)
    which = rng.randrange(len(salts))
    salts[which] = _other(salts[which], rng)
    lines[at] = _line(event._replace(salt=salts), hash_of=event.hash)
    return lines, f"salt {which} of line {at + 1}"


def false_redaction(lines: Lines, rng: random.Random) -> tuple[Lines, str]:
    """A value is taken out, but another digest is left in its place."""
    while True:
        at = rng.randrange(len(lines))
        event = _event(lines[at])
        names = [name for name, value in event.data.items() if not isinstance(value, dict | list)]
        if not event.redacted and names:
            break
    name = rng.choice(names)
    forged = without(event, [(name,)])
    forged.data[name] = Redacted(_other(forged.data[name].digest, rng))
    lines[at] = _line(forged, hash_of=event.hash)
    return lines, f"{name} of line {at + 1}"


def rechained(lines: Sequence[bytes]) -> Lines:
    """The lines numbered, hashed and chained anew, as one who knows the format would."""
    made: Lines = []
    prev = GENESIS
    for n, line in enumerate(lines):
        event = _event(line)._replace(n=n, prev=prev)
        made.append(_line(event))
        prev = _event(made[-1]).hash
    return made


def _line(event: Event, hash_of: str | None = None) -> bytes:
    """The line of an event: with the hash that its content has, or with one that is given."""
    n, at, kind, cell, attempt, _, prev, _, salt, redacted = event
    if hash_of is None:
        return make_line(n, at, kind, cell, attempt, prev, commit_event(event), line_end(redacted, salt)).text
    return canonical({**event._asdict(), "hash": hash_of, "data": _marked(event.data)}) + b"\n"


def _marked(value: Any) -> Any:
    if isinstance(value, Redacted):
        return {"redacted": value.digest}
    if isinstance(value, dict):
        return {key: _marked(inner) for key, inner in value.items()}
    return [_marked(inner) for inner in value] if isinstance(value, list) else value


def _event(line: bytes) -> Event:
    event = parse_line(line)
    assert event is not None  # the run verified before it was tampered with
    return event


def _redacted(
    lines: Lines, rng: random.Random, fewest: int, salted: bool = False
) -> tuple[int, Event, list[tuple[Any, ...]]]:
    """A random event with at least so many redacted values, and where they are, shuffled."""
    while True:
        at = rng.randrange(len(lines))
        event = _event(lines[at])
        if len(event.redacted) >= fewest and (event.salt or not salted):
            paths = [path for path in _leaves(event.data, (), redacted=True) if path]
            rng.shuffle(paths)
            return at, event, paths


def _leaves(value: Any, path: tuple[Any, ...], redacted: bool = False) -> Iterable[tuple[Any, ...]]:
    """Where texts, integers and booleans stand, or redacted values."""
    if isinstance(value, str | int):  # a Redacted is a str
        if isinstance(value, Redacted) == redacted:
            yield path
    elif isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in items:
            yield from _leaves(inner, (*path, key), redacted)


def _get(data: Any, path: Sequence[Any]) -> Any:
    for key in path:
        data = data[key]
    return data


def _other(digits: str, rng: random.Random) -> str:
    """Hex digits, one of them changed."""
    at = rng.randrange(len(digits))
    return digits[:at] + rng.choice("0123456789abcdef".replace(digits[at], "")) + digits[at + 1 :]


EDITS: dict[str, Edit] = {
    "flipped byte": flip_byte,
    "deleted lines": delete_lines,
    "swapped lines": swap_lines,
    "duplicated line": duplicate_line,
    "truncation": truncate,
    "forged value": forge_value,
    "forged deletion": forge_deletion,
    "forged run, value": forge_value,
    "forged run, deletion": forge_deletion,
    "forged run, order": forge_order,
    "changed digest": change_digest,
    "swapped digests": swap_digests,
    "moved digest": move_digest,
    "filled-in redaction": fill_in,
    "changed salt": change_salt,
    "false redaction": false_redaction,
}
"""A forgery makes the hashes anew; a forged run has a manifest made anew, too, and differs by its signature alone."""
SIGNED = frozenset(name for name in EDITS if name.startswith("forged run"))
REDACTED = frozenset({"changed digest", "swapped digests", "moved digest", "filled-in redaction", "changed salt"})
"""Edits of what was redacted."""
WHOLE = frozenset({"false redaction"})
"""Edits of a run that is not redacted."""
