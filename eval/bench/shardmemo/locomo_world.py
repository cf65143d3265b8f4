"""LoCoMo in shards, ready to be read: one store of all conversations, and each question as a query with its gold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rebind.eval.bench.shardmemo.locomo_data import Conversation, Locomo, Question, lay_out
from rebind.memory.shard.active import ActiveContext
from rebind.memory.shard.corpus import Admitted, View, admit
from rebind.memory.shard.embedded import Encode
from rebind.memory.shard.query import Query, make_query
from rebind.memory.shard.scope import FIELDS, Scope, UserIs, Vocabulary
from rebind.memory.shard.segment import Grid, Item, build_segment, on_grid

GOLDS = ("strict", "loose")


@dataclass(frozen=True, eq=False)
class Asked:
    """A question with usable evidence."""

    conversation: str
    question: Question
    query: Query
    without_dates: Query
    """The same without what Tier A adds: the dates it names."""
    scope: Scope
    evidence: frozenset[str]
    """Ids of its evidence turns in the store."""
    gold: Mapping[str, frozenset[str]]
    """Names of the gold shards: "strict" holds the turns themselves, "loose" also the facts that cite them."""


class World:
    """Every conversation in one store, `shards` shards each."""

    def __init__(self, data: Locomo, encode: Encode, shards: int = 40, *, session_only: bool = False) -> None:
        laid = [lay_out(c, shards, session_only=session_only) for c in data.conversations]
        self.items = [item for items in laid for item in items]
        self.names = [Vocabulary() for _ in FIELDS]
        self.segment = build_segment(self.items, _vectors(self.items, encode), self.names)
        self.views = [View.of(self.segment)]
        self.asked = [a for c, items in zip(data.conversations, laid, strict=True) for a in _asked(c, items, encode)]
        self.digest = data.digest
        self.layout = f"{shards} session shards" if session_only else f"{shards} shards"
        self.conversations = tuple(c.name for c in data.conversations)

    def admit(self, scope: Scope) -> Admitted:
        return admit(self.views, scope, self.names, {})

    def of(self, conversations: Sequence[str]) -> list[Asked]:
        """The questions of some conversations."""
        return [a for a in self.asked if a.conversation in conversations]


def _vectors(items: Sequence[Item], encode: Encode) -> Grid:
    """An item's vector is the mean of its text's and of those of the lines of its context."""
    lines = [[item.text, *(line for line in item.context.split("\n") if line)] for item in items]
    rows = {text: row for row, text in enumerate(dict.fromkeys(line for own in lines for line in own))}
    encoded = encode(list(rows))
    return on_grid(np.array([encoded[[rows[line] for line in own]].mean(axis=0) for own in lines], dtype=np.float32))


def _asked(conversation: Conversation, items: Sequence[Item], encode: Encode) -> list[Asked]:
    usable = [q for q in conversation.questions if q.evidence]
    vectors = encode([q.text for q in usable])
    context = ActiveContext()
    for session, moment in conversation.times.items():
        context.anchor(f"session_{session}", moment)
    scope = Scope(predicates=(UserIs(names=(conversation.name,)),))
    shard_of = {item.id: item.shard for item in items}
    citing: dict[str, set[str]] = {}
    for item in items:
        for cited in item.cites:
            citing.setdefault(cited, set()).add(item.shard)
    asked: list[Asked] = []
    for question, vector in zip(usable, vectors, strict=True):
        evidence = frozenset(f"{conversation.name}/{one}" for one in question.evidence)
        strict = frozenset(shard_of[one] for one in evidence)
        loose = strict.union(*(citing.get(one, set()) for one in evidence))
        dated = make_query(question.text, vector, context.dates(question.text))
        plain = make_query(question.text, vector)
        asked.append(
            Asked(conversation.name, question, dated, plain, scope, evidence, {"strict": strict, "loose": loose})
        )
    return asked


def gold_places(asked: Asked, gold: str, names: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Where the gold shards stand among some shards."""
    return np.array([place for place, name in enumerate(names) if name in asked.gold[gold]], dtype=np.int64)
