"""Tier B in closed loop: the steps of the selected record, and sentences of its summary, that scope before routing
finds (ShardMemo, section 3.4)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rebind.memory.render import render_step
from rebind.memory.tokens import count_text
from rebind.types import Record, Support, SupportAsk

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rebind.memory.shard.segment import Item
    from rebind.memory.shard.tier_b import Evidence

_ENCODER = "all-minilm-l6-v2"
_RUN = 4
"""Steps of one observation shard (ours): records have 5 to 40 steps, and 3 shards are probed."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
Encode = Callable[[Sequence[str]], "NDArray[np.float32]"]


class ShardedEvidence:
    """Delivers what Tier B retrieves for the goal and the first observation, in the record's own order, within the
    budget of written supports. Runs of steps are observation shards, the summary is a session shard; the router is
    BM25 over shards, which needs no labels. No model is asked.
    """

    name = "evidence"

    def __init__(self, budget: int | None = None, encode: Encode | None = None) -> None:
        """`budget` in tokens; the length cap of written support where not given. `encode` turns texts into vectors;
        all-MiniLM-L6-v2 where not given."""
        self._budget = budget
        self._encode = encode

    def support(self, ask: SupportAsk) -> Support:
        """The evidence as text, its steps as turns too; the flags name every step and sentence retrieved, the shards
        probed and the vectors scanned."""
        if ask.record is None or not ask.record.steps:
            return Support(condition=self.name, flags=("no-record",))
        record = ask.record
        items = _items(record, ask.summary)
        evidence = self._read(ask, items)
        chosen = self._packed(ask, evidence)
        steps = [n for n in range(len(record.steps)) if f"step:{n + 1}" in chosen]
        told = [item for item in items if item.id in chosen and item.id.startswith("summary:")]
        lines = [
            *(f"{n + 1}. {render_step(record.steps[n])}" for n in steps),
            *(f"Summary: {item.text}" for item in told),
        ]
        return Support(
            condition=self.name,
            text="\n".join([f"Task: {record.instruction}", *lines]) if lines else "",
            turns=tuple(record.steps[n] for n in steps),
            turns_goal=record.instruction,
            flags=(
                f"steps:{len(steps)}/{len(record.steps)}",
                *(f"evidence:{item.id}" for item in items if item.id in chosen),
                *(f"shard:{shard}" for shard in evidence.scans.probed),
                f"scanned:{evidence.scans.vectors}/{evidence.scans.items}",
            ),
        )

    def _read(self, ask: SupportAsk, items: Sequence[Item]) -> Evidence:
        from rebind.memory.encoders import encoder
        from rebind.memory.shard.corpus import View, admit
        from rebind.memory.shard.query import make_query
        from rebind.memory.shard.routing import ShardBm25
        from rebind.memory.shard.scope import FIELDS, Scope, UserIs, Vocabulary
        from rebind.memory.shard.segment import build_segment, on_grid
        from rebind.memory.shard.tier_b import ReadSettings, TierB

        encode = self._encode or encoder(_ENCODER).encode
        query = f"{ask.goal}\n{ask.first_observation}"
        vectors = encode([*(item.text for item in items), query])
        names = [Vocabulary() for _ in FIELDS]
        views = [View.of(build_segment(items, on_grid(vectors[:-1]), names))]
        settings = ReadSettings(k=len(items), most=len(items))
        tier = TierB(lambda scope: admit(views, scope, names, {}), ShardBm25(), settings)
        return tier.read(make_query(query, vectors[-1]), Scope(predicates=(UserIs(names=(items[0].meta.user,)),)))

    def _packed(self, ask: SupportAsk, evidence: Evidence) -> set[str]:
        """Best first; what overflows the budget is skipped, so that a small piece may still fit."""
        left = ask.cap_tokens if self._budget is None else self._budget
        chosen: set[str] = set()
        for hit in evidence.hits:
            cost = max(1, count_text(ask.writer, ask.writer_name, hit.text))
            if cost <= left:
                left -= cost
                chosen.add(hit.id)
        return chosen


def _items(record: Record, summary: str) -> list[Item]:
    """The record's steps and its summary's sentences, as evidence of one tenant."""
    from rebind.memory.shard.scope import ItemMeta
    from rebind.memory.shard.segment import Item

    meta = ItemMeta(user=record.id)
    steps = [
        Item(id=f"step:{n + 1}", text=render_step(step), shard=f"steps{n // _RUN:03}", meta=meta)
        for n, step in enumerate(record.steps)
    ]
    sentences = [text for text in _SENTENCE.split(summary.strip()) if text]
    return [
        *steps,
        *(
            Item(id=f"summary:{n + 1}", text=text, shard="summary", family="session", meta=meta)
            for n, text in enumerate(sentences)
        ),
    ]
