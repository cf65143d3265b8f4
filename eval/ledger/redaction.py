"""Takes values out of a finished ledger and leaves their digests, so that every hash still holds."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from rebind.errors import LedgerError, did_you_mean
from rebind.eval.ledger.chain import Walk, line_of, walk
from rebind.eval.ledger.commitments import digest_of, expand, redacted_paths, salt_bytes, values_in
from rebind.eval.ledger.lines import parse_line, pointer
from rebind.eval.ledger.lock import locked
from rebind.eval.ledger.manifest import LEDGER_FILE, sync_folder
from rebind.eval.ledger.verify import verify
from rebind.jcs import canonical_text, ordered
from rebind.types import Event, EventKind, Frozen, Redacted

_FORM = re.compile(r"(?P<kind>\w+|\*)\.(?P<field>[^.\[\]]+)(?:\.(?P<member>[^.\[\]]+)|\[(?P<index>\d+|\*)\])?")
_HELP = (
    "name a kind of event and a field of its data, then a member where that is meant: call.messages, step.calls[*], "
    "support.note.workflow, *.error; what lies deeper goes with the member it is in"
)
Path_ = tuple[str | int, ...]
"""Of a value in an event's data: its field, and the member where it is one."""


class RedactionSummary(Frozen):
    """What was taken out."""

    values: int
    """By this redaction; a field that was taken out whole is one."""
    events: int
    fields: dict[str, int]
    """Values by kind and field."""
    redacted: int
    """Values missing in the ledger altogether."""


@dataclass(frozen=True)
class Selector:
    """Values of a ledger, by kind of event, field and member; "*" is any."""

    kind: str
    field: str
    member: str | None = None

    @classmethod
    def parse(cls, text: str) -> Selector:
        """Reads `kind.field`, `kind.field.member`, `kind.field[2]` or `kind.field[*]`.

        Raises:
            LedgerError: it has another form, or there is no such kind of event.
        """
        found = _FORM.fullmatch(text.strip())
        if found is None:
            raise LedgerError(f"{text!r} selects nothing: {_HELP}")
        kind = found["kind"]
        if kind != "*" and kind not in get_args(EventKind):
            raise LedgerError(f"no kind of event is called {kind!r}{did_you_mean(kind, get_args(EventKind))}")
        return cls(kind, found["field"], found["member"] or found["index"])

    def __str__(self) -> str:
        return f"{self.kind}.{self.field}" + (f".{self.member}" if self.member else "")

    def paths(self, event: Event) -> Iterator[Path_]:
        """What it selects in an event."""
        if self.kind not in ("*", event.kind):
            return
        for name in [self.field] if self.field != "*" else ordered(event.data):
            if name in event.data and self.member is None:
                yield (name,)
            elif name in event.data:
                yield from ((name, key) for key in _keys(event.data[name]) if self.member in ("*", str(key)))


def read_selectors(path: Path) -> list[Selector]:
    """Selectors of a file, one a line; blank lines and what follows `#` are left out.

    Raises:
        LedgerError: the file cannot be read, or a line is no selector.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise LedgerError(f"the list of fields {path} cannot be read: {error}") from None
    return [Selector.parse(text) for line in lines if (text := line.partition("#")[0].strip())]


def redact(folder: Path, selectors: Sequence[Selector], pattern: str | None = None) -> RedactionSummary:
    """Redacts a finished run's ledger in place, atomically: every value that a selector selects, and the smallest value
    around every match of the regular expression `pattern` (in a text as it is, in another value's canonical JSON; in
    every event). The chain, the Merkle root, the manifest and its signature hold as before.

    Raises:
        LedgerError: the run is not finished, does not verify or is being written; nothing was selected or nothing
            matches; the ledger cannot be written.
    """
    expression = _expression(pattern)
    if not selectors and expression is None:
        raise LedgerError(f"nothing to redact was named; {_HELP}; or give a pattern")
    with locked(folder):
        found = verify(folder)
        if not found.ok or found.manifest != "matches":
            raise LedgerError(f"{folder} cannot be redacted: {found.why or 'the run is not finished'}")
        taken = _rewrite(folder, selectors, expression)
    total = found.redacted + taken.total() - taken.within
    return RedactionSummary(values=taken.total(), events=taken.events, fields=dict(taken), redacted=total)


class _Tally(Counter[str]):
    """Values taken out, by kind and field."""

    events = 0
    within = 0
    """Values that were redacted before, in fields that are taken out whole."""


def _rewrite(folder: Path, selectors: Sequence[Selector], pattern: re.Pattern[str] | None) -> _Tally:
    """Replaces the ledger with its redacted form, once all of that is on the disk."""
    taken, unused, known = _Tally(), set(selectors), set[str]()
    path, temporary = folder / LEDGER_FILE, folder / f"{LEDGER_FILE}.tmp"
    try:
        with path.open("rb") as lines, temporary.open("wb") as out:
            for line in lines:
                event = parse_line(line)
                assert event is not None  # it verified
                known.update(f"{event.kind}.{name}" for name in event.data)
                paths = _chosen(event, selectors, pattern, unused)
                if not paths:
                    out.write(line)
                    continue
                redacted = without(event, paths)
                out.write(line_of(redacted).text)
                taken.update(f"{event.kind}.{path[0]}" for path in paths)
                taken.events += 1
                taken.within += len(event.redacted) + len(paths) - len(redacted.redacted)
            out.flush()
            os.fsync(out.fileno())
        _refuse(unused, known, taken, pattern)
        _compare(walk(path), walk(temporary))
        temporary.replace(path)
        sync_folder(folder)
    except OSError as error:
        raise LedgerError(f"{path} could not be redacted: {error.strerror}; it is as it was") from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    return taken


def _expression(pattern: str | None) -> re.Pattern[str] | None:
    try:
        return None if pattern is None else re.compile(pattern)
    except re.error as error:
        raise LedgerError(f"{pattern!r} is no regular expression: {error}") from None


def _refuse(unused: set[Selector], known: set[str], taken: _Tally, pattern: re.Pattern[str] | None) -> None:
    for selector in unused:
        name = f"{selector.kind}.{selector.field}"
        found = name in known or selector.kind == "*" or selector.field == "*"
        why = ": no such member, or it is redacted already" if found else did_you_mean(name, known)
        raise LedgerError(f"nothing in this ledger is {selector}{why}; nothing was changed")
    if pattern is not None and not taken:
        raise LedgerError(f"nothing in this ledger matches {pattern.pattern!r}; nothing was changed")


def _compare(before: Walk, after: Walk) -> None:
    """The redacted ledger must be the same ledger to every hash."""
    same = (before.events, before.last_hash, before.tree.root()) == (after.events, after.last_hash, after.tree.root())
    assert same, after.fault


def _chosen(
    event: Event, selectors: Sequence[Selector], pattern: re.Pattern[str] | None, unused: set[Selector]
) -> list[Path_]:
    """The values to take out of an event that are still there, none of them within another, in canonical order."""
    chosen: set[Path_] = set()
    for selector in selectors:
        paths = {path for path in selector.paths(event) if type(_at(event.data, path)) is not Redacted}
        if paths:
            unused.discard(selector)
        chosen |= paths
    if pattern is not None:
        chosen |= {path for path, value in _values(event.data) if _matches(pattern, value)}
    return [path for path in chosen if len(path) == 1 or path[:1] not in chosen]


def _matches(pattern: re.Pattern[str], value: Any) -> bool:
    """Whether a pattern is found in a value: in a text as it is, in another value's canonical JSON."""
    if type(value) is Redacted:
        return False
    return pattern.search(value if isinstance(value, str) else canonical_text(value)) is not None


def without(event: Event, paths: Sequence[Path_]) -> Event:
    """An event with the values at these paths taken out, and the salts of what is left in place of its seed."""
    chosen = set(paths)
    count = values_in(event.data)
    if event.redacted:
        salts = iter([salt_bytes(salt) for salt in event.salt])
    else:
        salts = iter(expand(salt_bytes(event.salt), count))
    data: dict[str, Any] = {}
    kept: list[bytes] = []
    for name in ordered(event.data):
        value = event.data[name]
        if (name,) in chosen:
            data[name] = Redacted(digest_of(value, salts, members=True))
        elif keys := _keys(value):
            members = [_member(value[key], (name, key) in chosen, salts, kept) for key in keys]
            data[name] = dict(zip(keys, members, strict=True)) if type(value) is dict else members
        else:
            data[name] = _member(value, False, salts, kept)
    redacted = [pointer(path) for path in redacted_paths(data)]
    return event._replace(data=data, salt=[salt.hex() for salt in kept], redacted=redacted)


def _member(value: Any, chosen: bool, salts: Iterator[bytes], kept: list[bytes]) -> Any:
    """A value, or what stands for it; a salt that is still needed goes to `kept`."""
    if type(value) is Redacted:
        return value
    salt = next(salts)
    if chosen:
        return Redacted(digest_of(value, iter([salt])))
    kept.append(salt)
    return value


def _values(data: dict[str, Any]) -> Iterator[tuple[Path_, Any]]:
    """The values that are committed one by one."""
    for name, value in data.items():
        keys = _keys(value)
        yield from (((name, key), value[key]) for key in keys)
        if not keys:
            yield (name,), value


def _keys(value: Any) -> list[Any]:
    """Of the members of a field; none where it is one value."""
    if type(value) is dict:
        return list(ordered(value))
    return list(range(len(value))) if type(value) is list else []


def _at(data: dict[str, Any], path: Path_) -> Any:
    value: Any = data
    for key in path:
        value = value[key]
    return value
