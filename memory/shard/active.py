"""Tier A: a bounded active context with session anchors, which give deictic dates their meaning (section 3.3)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from datetime import UTC, date, datetime

import numpy as np

from rebind.memory.shard.dates import mentions, written
from rebind.memory.shard.scope import FIELDS, NO_TIME, ItemMeta, Scope, Vocabulary, compile_scope, seconds
from rebind.types import Frozen


class Entry(Frozen):
    """Something to keep in mind: a piece of text, and who may see it."""

    key: str
    text: str
    meta: ItemMeta = ItemMeta()


class ActiveContext:
    """At most `bound` entries (M), the most recently used ones, and when each session took place."""

    def __init__(self, bound: int = 16) -> None:
        """Raises `ValueError` for a bound below 1."""
        if bound < 1:
            raise ValueError(f"an active context holds at least 1 entry, not {bound}")
        self.bound = bound
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self._anchors: dict[str, datetime] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def anchor(self, session: str, moment: datetime) -> None:
        """Says when a session took place. Anchors are not entries and do not count against the bound."""
        self._anchors[session] = moment if moment.tzinfo else moment.replace(tzinfo=UTC)

    @property
    def now(self) -> date | None:
        """The day of the latest session; None where there is none."""
        return max(self._anchors.values()).date() if self._anchors else None

    def note(self, entry: Entry) -> None:
        """Keeps an entry (in place of one with the same key); the one unused longest makes room."""
        self._entries[entry.key] = entry
        self._entries.move_to_end(entry.key)
        while len(self._entries) > self.bound:
            self._entries.popitem(last=False)

    def read(self, scope: Scope, held: Mapping[str, frozenset[str]] | None = None) -> tuple[Entry, ...]:
        """The entries a scope admits, oldest first; `held` are the labels of each principal."""
        entries = tuple(self._entries.values())
        names = [Vocabulary() for _ in FIELDS]
        codes = np.array([[names[f].add(getattr(e.meta, field)) for e in entries] for f, field in enumerate(FIELDS)])
        times = np.array([NO_TIME if (t := seconds(e.meta.time)) is None else t for e in entries], dtype=np.int64)
        coded = codes.reshape(len(FIELDS), len(entries)).astype(np.int32)
        admitted = compile_scope(scope, names, held or {}).items(coded, times, np.arange(len(entries)))
        return tuple(entry for entry, kept in zip(entries, admitted, strict=True) if kept)

    def dates(self, text: str, session: str | None = None) -> tuple[tuple[date, date], ...]:
        """Spans of days that a text names, said in a session or, where none is given, now."""
        return tuple((m.start, m.end) for m in mentions(text, self._day(session)))

    def resolved(self, text: str, session: str | None = None) -> str:
        """The text with the meaning of its deictic dates beside them: "last year" said in May 2023 becomes
        "last year (2022)"."""
        for mention in mentions(text, self._day(session)):
            if mention.deictic:
                text = text.replace(mention.words, f"{mention.words} ({written(mention.start, mention.end)})", 1)
        return text

    def _day(self, session: str | None) -> date | None:
        if session is None:
            return self.now
        return self._anchors[session].date() if session in self._anchors else None
