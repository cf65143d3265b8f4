"""Shard maps that follow their content: split what grew or drifted apart, merge what stayed small (ours).

The rule is simple on purpose. A shard is split into two runs of its items, in the order they were written, where the
cut leaves the two halves tightest, once it holds more than `split_above` items, or once its items have drifted so far
that its centroid is shorter than `spread_below`. Two shards that hold fewer than `merge_below` items each are merged
where they share family, user, namespace and label, and the centroid of both together is no shorter than
`spread_below`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from rebind.memory.shard.holding import Written
from rebind.memory.shard.segment import GRID
from rebind.memory.shard.store import Store
from rebind.types import Frozen

_LEAST = 2
"""Items of each half of a split."""


class AdaptSettings(Frozen):
    """When shards are split and merged."""

    split_above: int = Field(default=200, ge=4)
    merge_below: int = Field(default=8, ge=1)
    spread_below: float = Field(default=0.35, ge=0, le=1)
    """Length of the mean of unit vectors: 1 where all are equal, near 0 where they point everywhere."""
    least_to_split: int = Field(default=16, ge=4)
    """A shard with fewer items is never split for being spread out."""


@dataclass(frozen=True)
class Adapted:
    """What was done: names of shards split, and of those merged into the first of each group."""

    split: tuple[tuple[str, str, str], ...]
    merged: tuple[tuple[str, ...], ...]


def adapt(store: Store, settings: AdaptSettings = AdaptSettings()) -> Adapted:  # noqa: B008  # frozen
    """One round over all shards; writes one new base where anything changed. Readers go on meanwhile."""
    store.refresh()
    shards = {name: store.written(name) for name in store.shards()}
    split: list[tuple[str, str, str]] = []
    written: list[Written] = []
    replaced: list[str] = []
    for name, items in shards.items():
        cut = _cut(items, settings)
        if cut is not None:
            names = _fresh(name, shards)
            split.append((name, *names))
            replaced.append(name)
            written.extend(_moved(items[:cut], names[0]) + _moved(items[cut:], names[1]))
    merged = _merges({n: items for n, items in shards.items() if n not in replaced}, settings)
    for group in merged:
        replaced.extend(group)
        written.extend(pair for name in group for pair in _moved(shards[name], group[0]))
    if replaced:
        store.rewrite(replaced, written)
    return Adapted(tuple(split), tuple(merged))


def spread(vectors: NDArray[np.int16]) -> float:
    """Length of the mean of vectors on the grid, in [0, 1]."""
    return float(np.linalg.norm(vectors.sum(axis=0, dtype=np.int64))) / (GRID * len(vectors))


def _cut(items: Sequence[Written], settings: AdaptSettings) -> int | None:
    """Where a shard is to be cut in two; None where it may stay."""
    vectors = np.array([vector for _, vector in items])
    grown = len(items) > settings.split_above
    drifted = len(items) >= settings.least_to_split and spread(vectors) < settings.spread_below
    if not grown and not drifted:
        return None
    sums = np.cumsum(vectors.astype(np.float64), axis=0)
    cuts = np.arange(_LEAST, len(items) - _LEAST + 1)
    if grown:  # a cut near an end would leave a shard that is still too large
        quarter = len(items) // 4
        cuts = cuts[(cuts >= quarter) & (cuts <= len(items) - quarter)]
    # the sum of both halves' lengths: the longer, the nearer the items are to their own centroids
    tightness = np.linalg.norm(sums[cuts - 1], axis=1) + np.linalg.norm(sums[-1] - sums[cuts - 1], axis=1)
    return int(cuts[np.argmax(tightness)])


def _merges(shards: dict[str, list[Written]], settings: AdaptSettings) -> list[tuple[str, ...]]:
    """Pairs of small shards of one kind, each with the one that is nearest in name order and fits."""
    kinds: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name in sorted(shards):
        items = shards[name]
        metas = {(i.family, i.meta.user, i.meta.namespace, i.meta.label) for i, _ in items}
        if len(items) < settings.merge_below and len(metas) == 1:
            kinds[metas.pop()].append(name)
    merged: list[tuple[str, ...]] = []
    for names in kinds.values():
        while len(names) > 1:
            first, second = names.pop(0), names[0]
            if spread(np.array([v for name in (first, second) for _, v in shards[name]])) >= settings.spread_below:
                names.pop(0)
                merged.append((first, second))
    return merged


def _moved(items: Sequence[Written], shard: str) -> list[Written]:
    return [(item.model_copy(update={"shard": shard}), vector) for item, vector in items]


def _fresh(name: str, taken: dict[str, list[Written]]) -> tuple[str, str]:
    """Names of the halves of a shard that nothing else has."""
    number = 1
    while f"{name}~{number}" in taken or f"{name}~{number + 1}" in taken:
        number += 2
    return f"{name}~{number}", f"{name}~{number + 1}"
