"""Top-k retrieval over what a record shows: its instruction and its descriptor, and nothing else (QCR, section 3.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rebind.memory.encoders import Encoder, Vectors
from rebind.types import Record

_DECIMALS = 6
"""Scores are compared after rounding, so that equal texts tie on every machine; ties go to the smaller id."""


@dataclass(frozen=True)
class Candidates:
    """The top-k of one target, best first, with the text that was embedded for it."""

    query: str
    ids: tuple[str, ...]
    scores: tuple[float, ...]
    """Cosine similarities."""
    encoder: str


def index_text(record: Record) -> str:
    """What the index holds of a record."""
    return f"Task: {record.instruction}\nWorkflow: {record.descriptor}"


def query_text(goal: str, first_observation: str) -> str:
    """What is embedded for a target: its goal in the form of `index_text`, then where it starts (q_t, o_t0)."""
    return f"Task: {goal}\nState: {first_observation}" if first_observation else f"Task: {goal}"


def flat_index(embeddings: Vectors) -> Any:
    """An exact inner-product faiss index over vectors of shape (n, dimensions)."""
    import faiss

    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatIP(embeddings.shape[1])
    index.add(np.ascontiguousarray(embeddings))
    return index


class Index:
    """Record ids beside an exact faiss index of their vectors."""

    def __init__(self, ids: Sequence[str], flat: Any, encoder: Encoder) -> None:
        if flat.ntotal != len(ids):
            raise ValueError(f"{len(ids)} ids but {flat.ntotal} vectors")
        self.ids = tuple(ids)
        self._flat = flat
        self._encoder = encoder

    def retrieve(self, goal: str, first_observation: str, k: int = 5) -> Candidates:
        """The k records nearest to a goal and its first observation; all of them where the bank has fewer."""
        query = query_text(goal, first_observation)
        if not self.ids:
            return Candidates(query, (), (), self._encoder.name)
        scores, rows = self._flat.search(self._encoder.encode([query]), len(self.ids))
        found = [(round(float(s), _DECIMALS), self.ids[r]) for s, r in zip(scores[0], rows[0], strict=True)]
        best = sorted(found, key=lambda pair: (-pair[0], pair[1]))[:k]
        return Candidates(query, tuple(i for _, i in best), tuple(s for s, _ in best), self._encoder.name)
