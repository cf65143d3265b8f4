"""Six ways to find skills in one corpus: five baselines and Tier C. All see the same induction traces, the skills that
these became, and the same scope, applied first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebind.memory.shard.scope import Scope
from rebind.memory.skill.library import Version
from rebind.memory.skill.scoping import admits
from rebind.memory.skill.traits import Encode

R = 3
BASELINES = ("Recency", "BM25", "Embedding", "Trace kNN", "Static library")
TIER_C = "Tier C"


@dataclass(frozen=True)
class Stored:
    """The skill of one induction trace."""

    version: Version
    trace: tuple[str, ...]
    """The trace as it was: its calls as texts."""

    @property
    def text(self) -> str:
        """What lexical and dense retrieval read: what was asked, and what the skill does."""
        return f"{self.version.requests[-1].text}\n{self.version.skill.name}\n{self.version.skill.description}"


def remembering(encode: Encode) -> Encode:
    """An encoder that keeps every vector."""
    known: dict[str, NDArray[np.float32]] = {}

    def cached(texts: Sequence[str]) -> NDArray[np.float32]:
        missing = list(dict.fromkeys(t for t in texts if t not in known))
        if missing:
            known.update(zip(missing, encode(missing), strict=True))
        return np.array([known[t] for t in texts], dtype=np.float32)

    return cached


class Corpus:
    """Induction traces in the order they were stored, with vectors of their texts."""

    def __init__(self, stored: Sequence[Stored], encode: Encode) -> None:
        self.stored = list(stored)
        self.encode = encode

    def admitted(self, scope: Scope) -> list[int]:
        return [n for n, one in enumerate(self.stored) if admits(scope, one.version.metas)]

    @cached_property
    def texts(self) -> NDArray[np.float32]:
        return self.encode([one.text for one in self.stored])

    @cached_property
    def traces(self) -> NDArray[np.float32]:
        """Vectors of whole traces, shape (traces, dimensions); an encoder reads no more of one than it can."""
        return self.encode(["\n".join([*s.trace, s.version.requests[-1].text]) for s in self.stored])

    @cached_property
    def firsts(self) -> frozenset[int]:
        """Of each procedure the first trace: what a library holds that never learns."""
        first: dict[str, int] = {}
        for n, one in enumerate(self.stored):
            first.setdefault(one.version.identity, n)
        return frozenset(first.values())


class Baseline:
    """One of `BASELINES`."""

    def __init__(self, name: str, corpus: Corpus) -> None:
        self.name = name
        self._corpus = corpus

    def top(self, goal: str, scope: Scope, leave_out: frozenset[int] = frozenset()) -> list[tuple[Version, float]]:
        """`leave_out`: numbers of traces that are not to be found."""
        admitted = [n for n in self._corpus.admitted(scope) if n not in leave_out]
        if self.name == "Static library":
            admitted = [n for n in admitted if n in self._corpus.firsts]
        scores = self._scores(goal, admitted)
        best = sorted(admitted, key=lambda n: (-scores[n], -n))[:R]
        return [(self._corpus.stored[n].version, scores[n]) for n in best]

    def _scores(self, goal: str, admitted: Sequence[int]) -> dict[int, float]:
        if self.name == "Recency":
            return {n: float(n) for n in admitted}
        if self.name == "BM25":
            return self._lexical(goal, admitted)
        vectors = self._corpus.traces if self.name == "Trace kNN" else self._corpus.texts
        query = self._corpus.encode([goal])[0]
        return {n: float(vectors[n] @ query) for n in admitted}

    def _lexical(self, goal: str, admitted: Sequence[int]) -> dict[int, float]:
        """BM25 with the statistics of what is admitted."""
        import bm25s

        if not admitted:
            return {}
        texts = [self._corpus.stored[n].text for n in admitted]
        index = bm25s.BM25()
        index.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)
        query: Any = bm25s.tokenize([goal], return_ids=False, show_progress=False)
        return dict(zip(admitted, map(float, index.get_scores(query[0])), strict=True))
