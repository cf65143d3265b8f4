"""Answers to LoCoMo's test questions from what was retrieved, by any model through the one door (paper, Table 1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rebind.eval.bench.shardmemo.answers import answer, bleu_1, token_f1
from rebind.eval.bench.shardmemo.locomo_data import CATEGORIES, Conversation
from rebind.eval.bench.shardmemo.locomo_measure import Measured
from rebind.eval.bench.shardmemo.locomo_world import Asked, World
from rebind.memory.shard.active import ActiveContext
from rebind.memory.shard.segment import Item
from rebind.memory.shard.tier_b import Evidence
from rebind.types import Model


def answered(
    world: World,
    conversations: Mapping[str, Conversation],
    asked: list[Asked],
    measured: Measured,
    model: Model,
    name: str,
    dates: bool = True,
    say: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """F1 and BLEU-1 (percent) by category, and their macro average over the four.

    `dates`: with what Tier A adds to the evidence: when each line was said, and what its deictic dates mean.

    Raises:
        ProviderError: the model does not answer.
    """
    items = {item.id: item for item in world.items}
    contexts = {c.name: _context(c) for c in conversations.values()}
    scores: dict[str, list[tuple[float, float]]] = {category: [] for category in CATEGORIES.values()}
    for one, evidence in zip(asked, measured.answers, strict=True):
        context = contexts[one.conversation] if dates else None
        said = answer(model, name, one.question.text, _lines(evidence, items, context))
        scores[one.question.category].append((token_f1(said, one.question.answer), bleu_1(said, one.question.answer)))
        say()
    means = {category: 100 * np.mean(pairs, axis=0) for category, pairs in scores.items() if pairs}
    return {
        "model": name,
        "f1": float(np.mean([m[0] for m in means.values()])),
        "bleu1": float(np.mean([m[1] for m in means.values()])),
        "by_category": {c: {"f1": float(m[0]), "bleu1": float(m[1])} for c, m in means.items()},
    }


def _context(conversation: Conversation) -> ActiveContext:
    context = ActiveContext()
    for session, moment in conversation.times.items():
        context.anchor(f"session_{session}", moment)
    return context


def _lines(evidence: Evidence, items: Mapping[str, Item], context: ActiveContext | None) -> list[str]:
    """The evidence, best first."""
    lines: list[str] = []
    for hit in evidence.hits:
        meta = items[hit.id].meta
        if context is None or meta.time is None:
            lines.append(hit.text)
        else:
            lines.append(f"[{meta.time:%d %B %Y}] {context.resolved(hit.text, meta.session)}")
    return lines
