"""Near-duplicate records: index texts with a cosine of at least .98 and the same tools in the same order (ours)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rebind.memory.encoders import Vectors
from rebind.types import Record

COSINE = 0.98


def near_duplicates(records: Sequence[Record], embeddings: Vectors) -> dict[str, str]:
    """Ids of the records to remove, each with the id of the one that stays: the earlier in the given order."""
    sequences = [_tools(r) for r in records]
    removed: dict[str, str] = {}
    kept: list[int] = []
    for at, record in enumerate(records):
        rivals = [k for k in kept if sequences[k] == sequences[at]]
        cosines = embeddings[rivals] @ embeddings[at] if rivals else np.zeros(0, dtype=np.float32)
        if len(cosines) and float(cosines.max()) >= COSINE:
            removed[record.id] = records[rivals[int(cosines.argmax())]].id
        else:
            kept.append(at)
    return removed


def _tools(record: Record) -> tuple[str, ...]:
    return tuple(c.tool for s in record.steps for c in s.calls)
