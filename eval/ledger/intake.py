"""What becomes of an event's data before it is chained: checked, freed of secrets, committed to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple, get_args

import msgspec
import rfc8785
from pydantic import JsonValue

from rebind.errors import LedgerError
from rebind.eval.ledger.commitments import SALT_BYTES, Committed, commit
from rebind.jcs import canonical_text
from rebind.secrets import Scrubber
from rebind.types import EventKind

_SEEDS = 256
"""Seeds drawn at a time."""
_KINDS = frozenset(get_args(EventKind))


class Taken(NamedTuple):
    """Data ready to be chained."""

    committed: Committed
    seed: bytes
    """Of its salts."""


class Intake:
    """Takes data in. Knows the secrets of the environment of the moment it was made."""

    def __init__(self) -> None:
        self._scrubber = Scrubber(os.environ)
        self._seeds: list[bytes] = []
        """Random, each for one event."""

    def take(self, kind: str, data: Mapping[str, JsonValue]) -> Taken:
        """Data with its secrets masked and lone surrogates replaced by U+FFFD.

        Raises:
            LedgerError: an unknown kind, or a value that JSON cannot hold.
        """
        if kind not in _KINDS:
            raise LedgerError(f"{kind!r} is no kind of event")
        seed = self._seed()
        try:
            try:
                committed = commit(data, seed)
            except UnicodeEncodeError:
                committed = commit(msgspec.json.decode(_without_surrogates(data)), seed)
            clean = self._scrubber.scrub(committed.text)
            if clean is not committed.text:
                committed = commit(msgspec.json.decode(clean), seed)
        except rfc8785.CanonicalizationError as error:
            raise LedgerError(f"a {kind!r} event holds a value that JSON cannot: {error}") from None
        return Taken(committed, seed)

    def _seed(self) -> bytes:
        """The next seed; a system call for each would cost as much as hashing two values."""
        while True:
            try:
                return self._seeds.pop()  # one act, so that no two threads get the same
            except IndexError:
                fresh = os.urandom(_SEEDS * SALT_BYTES)
                self._seeds += [fresh[n : n + SALT_BYTES] for n in range(0, len(fresh), SALT_BYTES)]


def _without_surrogates(data: Mapping[str, Any]) -> str:
    """The data's JSON with each lone surrogate replaced by U+FFFD."""
    return canonical_text(data).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
