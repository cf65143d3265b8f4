"""The hash chain of a ledger: how a line is made, how it is checked, and the Merkle root over all of them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import rfc8785

from rebind.errors import LedgerError
from rebind.eval.ledger.commitments import Committed, commit, commit_redacted, redacted_paths, salt_bytes
from rebind.eval.ledger.lines import parse_line, pointer
from rebind.jcs import canonical_bytes, encode
from rebind.types import Event

GENESIS = "0" * 64
"""`prev` of the first event."""


class Line(NamedTuple):
    """A line of the ledger, with its newline, and the hash it carries."""

    text: bytes
    hash: str


def make_line(
    n: int, at: float, kind: str, cell: str | None, attempt: int | None, prev: str, data: Committed, end: bytes
) -> Line:
    """A line. Its hash is SHA-256 over the RFC 8785 form of `at`, `attempt`, `cell`, `data` with each field replaced by
    its digest, `kind`, `n` and `prev`. `end` are the fields that follow, from `line_end`."""
    seconds = encode(at) if at > 1 and at % 1 else canonical_bytes(at)  # quick for any time of day
    start = b'{"at":%b,%b,"data":' % (seconds, _place(attempt, cell))
    middle = b'"kind":"%b","n":%d,"prev":"%b"' % (kind.encode(), n, prev.encode())
    digest = hashlib.sha256(b"%b%b,%b}" % (start, data.shape, middle)).hexdigest()
    return Line(b'%b%b,"hash":"%b",%b,%b}\n' % (start, data.text, digest.encode(), middle, end), digest)


def line_end(redacted: list[str], salt: str | list[str]) -> bytes:
    """The last fields of a line, which its hash does not cover: it covers what they say of the data."""
    if not redacted and isinstance(salt, str):
        return f'"redacted":[],"salt":"{salt}"'.encode()
    return b'"redacted":%b,"salt":%b' % (canonical_bytes(redacted), canonical_bytes(salt))


def line_of(event: Event) -> Line:
    """The line that an event should have, by its data and salts.

    Raises:
        ValueError, rfc8785.CanonicalizationError: the salts or the list of what was redacted are not those of the data.
    """
    n, at, kind, cell, attempt, _, prev, _, salt, redacted = event
    return make_line(n, at, kind, cell, attempt, prev, commit_event(event), line_end(redacted, salt))


@lru_cache(256)
def _place(attempt: int | None, cell: str | None) -> bytes:
    return b'"attempt":%b,"cell":%b' % (canonical_bytes(attempt), canonical_bytes(cell))


def commit_event(event: Event) -> Committed:
    """An event's data as its hash sees it, by the salts it carries.

    Raises:
        ValueError: the salts or the list of what was redacted are not those of the data.
    """
    if not event.redacted:
        return commit(event.data, salt_bytes(event.salt))
    if event.redacted != [pointer(path) for path in redacted_paths(event.data)]:
        raise ValueError("it does not list what was redacted")
    return commit_redacted(event.data, [salt_bytes(salt) for salt in event.salt])


class MerkleTree:
    """Merkle tree hash of RFC 6962, section 2.1, over leaves added one by one; keeps O(log n) hashes."""

    def __init__(self) -> None:
        self._peaks: list[tuple[int, bytes]] = []
        """Sizes and roots of the perfect subtrees, largest first."""

    def add(self, leaf: bytes) -> None:
        size, root = 1, hashlib.sha256(b"\x00" + leaf).digest()
        while self._peaks and self._peaks[-1][0] == size:
            _, left = self._peaks.pop()
            size, root = 2 * size, _node(left, root)
        self._peaks.append((size, root))

    def root(self) -> str:
        """Hex; of an empty tree SHA-256 of nothing."""
        if not self._peaks:
            return hashlib.sha256().hexdigest()
        _, right = self._peaks[-1]
        for _, left in reversed(self._peaks[:-1]):
            right = _node(left, right)
        return right.hex()


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


@dataclass(frozen=True)
class Fault:
    """The first line that does not hold."""

    line: int
    """From 1."""
    why: str
    torn: bool = False
    """True where the line has no end: a write was interrupted, nothing was edited."""


@dataclass
class Walk:
    """A ledger file read up to its end or its first fault."""

    events: int = 0
    last_hash: str = GENESIS
    size: int = 0
    """Bytes up to the end of the last good line."""
    redacted: int = 0
    """Values that were taken out."""
    content: hashlib._Hash = field(default_factory=hashlib.sha256)
    """SHA-256 of the bytes up to there."""
    fault: Fault | None = None
    tree: MerkleTree = field(default_factory=MerkleTree)

    def step(self, line: bytes) -> Fault | None:
        """Takes the next line in, or says what is wrong with it."""
        number = self.events + 1
        if not line.endswith(b"\n"):
            return Fault(number, "the line has no end: a write was interrupted", torn=True)
        event = parse_line(line)
        if event is None:
            return Fault(number, "this is no line of a ledger")
        why = _edited(event, line) or self._misplaced(event)
        if why:
            return Fault(number, why)
        self.events, self.last_hash, self.size = number, event.hash, self.size + len(line)
        self.redacted += len(event.redacted)
        self.content.update(line)
        self.tree.add(bytes.fromhex(event.hash))
        return None

    def _misplaced(self, event: Event) -> str | None:
        if event.n != self.events:
            return f"event {event.n} stands where {self.events} was due: lines were removed or moved"
        if event.prev != self.last_hash:
            return "its `prev` is not the hash of the line before: a line was replaced"
        return None


def _edited(event: Event, line: bytes) -> str | None:
    """Why a line is not the one its event was written as: made anew from its values and salts it must be the same."""
    try:
        made = line_of(event)
    except (ValueError, TypeError, rfc8785.CanonicalizationError):
        return "its data and its salts do not belong together: it was edited"
    if made != (line, event.hash):
        return "its bytes do not have the hash it carries: it was edited"
    return None


def walk(path: Path) -> Walk:
    """Checks every line of a ledger file; stops at the first fault. A missing file is an empty ledger."""
    state = Walk()
    if not path.exists():
        return state
    with path.open("rb") as lines:
        for line in lines:
            state.fault = state.step(line)
            if state.fault:
                break
    return state


def skim(path: Path) -> Walk:
    """Reads the hashes of a ledger as they stand in its lines, unchecked, and the SHA-256 of all its bytes: for a file
    that must be the one just written. Stops at a line without a hash.

    Raises:
        LedgerError: it cannot be read.
    """
    state = Walk()
    try:
        with path.open("rb") as lines:
            for line in lines:
                at = line.rfind(b',"hash":"') + 9  # no text of a run stands after it
                state.last_hash = line[at : at + 64].decode("ascii")
                state.tree.add(bytes.fromhex(state.last_hash))
                state.content.update(line)
                state.events += 1
    except ValueError:
        pass
    except OSError as error:
        raise LedgerError(f"{path} cannot be read: {error.strerror}") from None
    return state
