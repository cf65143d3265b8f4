"""The hash chain of a ledger: how a line is made, how it is checked, and the Merkle root over all of them."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path

GENESIS = "0" * 64
"""`prev` of the first event."""
_TAIL = re.compile(rb'"hash":"([0-9a-f]{64})",("kind":"[a-z]+","n":(\d+),"prev":"([0-9a-f]{64})"\})\n\Z')
_TAIL_BYTES = 256
"""More than the longest text `_TAIL` matches."""


def make_line(head: bytes, kind: str, n: int, prev: str) -> tuple[bytes, str]:
    """A ledger line and its hash. `head` is the canonical text of the event up to and with the comma after `data`; the
    fields that follow are `hash`, `kind`, `n` and `prev`, in that order. The hash is SHA-256 over the line without its
    newline and its `hash` field: the RFC 8785 bytes of all other fields."""
    tail = f'"kind":"{kind}","n":{n},"prev":"{prev}"}}'.encode()
    digest = hashlib.sha256(head + tail).hexdigest()
    return b'%b"hash":"%b",%b\n' % (head, digest.encode(), tail), digest


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
    fault: Fault | None = None
    tree: MerkleTree = field(default_factory=MerkleTree)

    def step(self, line: bytes) -> Fault | None:
        """Takes the next line in, or says what is wrong with it."""
        number = self.events + 1
        if not line.endswith(b"\n"):
            return Fault(number, "the line has no end: a write was interrupted", torn=True)
        found = _TAIL.search(line, max(0, len(line) - _TAIL_BYTES))
        if found is None:
            return Fault(number, "this is no line of a ledger")
        stored, tail, n, prev = found.groups()
        if hashlib.sha256(line[: found.start()] + tail).hexdigest().encode() != stored:
            return Fault(number, "its bytes do not have the hash it carries: it was edited")
        if int(n) != self.events:
            return Fault(number, f"event {int(n)} stands where {self.events} was due: lines were removed or moved")
        if prev.decode() != self.last_hash:
            return Fault(number, "its `prev` is not the hash of the line before: a line was replaced")
        self.events, self.last_hash, self.size = number, stored.decode(), self.size + len(line)
        self.tree.add(bytes.fromhex(self.last_hash))
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
