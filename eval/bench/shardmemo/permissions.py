"""`rebind bench shardmemo permissions`: random changes of rights between reads, held against a model of who may read
what.

A writer changes the store; a reader that was opened before reads it after each change, and so does a second process's
worth of state: a store opened anew every so often. The model is a dictionary; it knows nothing of shards.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rebind.memory.shard.audit import Auditor, Refusal
from rebind.memory.shard.generation import create
from rebind.memory.shard.query import Query, make_query
from rebind.memory.shard.routing import ShardBm25
from rebind.memory.shard.scope import ItemMeta, MayRead, Scope
from rebind.memory.shard.segment import Item
from rebind.memory.shard.store import Store
from rebind.memory.shard.tier_b import ReadSettings, TierB

CHANGES = 10_000
_SHARDS, _PER_SHARD, _LABELS, _PRINCIPALS, _DIMENSIONS = 40, 4, 12, 8, 16
_KINDS = ("grant", "revoke", "relabel-shard", "relabel-item", "delete", "append")
_ODDS = (0.36, 0.36, 0.1, 0.14, 0.01, 0.03)
_COMPACTED_EVERY = 500
_REOPENED_EVERY = 250
_TEXT = "apple boat cedar"
Progress = Callable[[str, int, int], None]


@dataclass
class Model:
    """Who may read what, said as plainly as can be."""

    label: dict[str, str] = field(default_factory=dict)
    """Of each item that exists."""
    shard: dict[str, str] = field(default_factory=dict)
    held: set[tuple[str, str]] = field(default_factory=set)
    decided: dict[tuple[str, str], int] = field(default_factory=dict)
    """The event that last decided each pair."""

    def readable(self, principal: str) -> set[str]:
        return {i for i, label in self.label.items() if not label or (principal, label) in self.held}

    def refused(self, principal: str) -> set[str]:
        return {label for label in self.label.values() if label and (principal, label) not in self.held}


def run_permissions(changes: int = CHANGES, seed: int = 0, progress: Progress | None = None) -> dict[str, Any]:
    """One read after each change; `leaks` counts items returned that the model does not let the principal read."""
    with tempfile.TemporaryDirectory(prefix="rebind-permissions-") as folder:
        return _Run(Path(folder) / "store", np.random.default_rng(seed)).run(changes, progress)


class _Run:
    def __init__(self, folder: Path, rng: np.random.Generator) -> None:
        create(folder, _DIMENSIONS, "made up")
        self._folder, self._rng, self._model = folder, rng, Model()
        self._writer = Store(folder)
        self._made = 0
        for shard in range(_SHARDS):
            self._append(f"shard{shard:02}", _PER_SHARD)
        self._writer.compact()
        self._reader = Store(folder)
        self._auditor = Auditor(self._reader)
        self._query: Query = make_query(_TEXT, np.ones(_DIMENSIONS, dtype=np.float32))
        self._counts: Counter[str] = Counter()

    def run(self, changes: int, progress: Progress | None) -> dict[str, Any]:
        for done in range(changes):
            kind = str(self._rng.choice(_KINDS, p=_ODDS))
            self._change(kind)
            self._counts[kind] += 1
            if done % _REOPENED_EVERY == 0:
                self._reader = Store(self._folder)
                self._auditor = Auditor(self._reader)
            self._read(f"agent{self._rng.integers(_PRINCIPALS + 1)}", str(done))
            if done % _COMPACTED_EVERY == _COMPACTED_EVERY - 1:
                self._writer.compact()
            if progress is not None:
                progress("changes", done + 1, changes)
        counts = self._counts
        return {
            "changes": changes,
            "by_kind": {kind: counts[kind] for kind in _KINDS},
            "reads": counts["reads"],
            "items_returned": counts["returned"],
            "leaks": counts["leaks"],
            "missing": counts["missing"],
            "refusals": counts["refusals"],
            "unexplained": counts["unexplained"],
            "wrongly_explained": counts["wrongly explained"],
            "trail_lines": counts["reads"],
        }

    def _append(self, shard: str, count: int) -> None:
        items = []
        for _ in range(count):
            label = "" if self._rng.random() < 0.1 else f"label{self._rng.integers(_LABELS)}"
            items.append(Item(id=f"item{self._made}", text=_TEXT, shard=shard, meta=ItemMeta(label=label)))
            self._model.label[f"item{self._made}"] = label
            self._model.shard[f"item{self._made}"] = shard
            self._made += 1
        self._writer.append(items, np.abs(self._rng.normal(size=(count, _DIMENSIONS))).astype(np.float32))

    def _change(self, kind: str) -> None:
        model, rng = self._model, self._rng
        label = f"label{rng.integers(_LABELS)}"
        pair = (f"agent{rng.integers(_PRINCIPALS)}", label)
        item = str(rng.choice(list(model.label)))
        shard = model.shard[item]
        if kind == "grant":
            model.decided[pair] = self._writer.grant(*pair)
            model.held.add(pair)
        elif kind == "revoke":
            model.decided[pair] = self._writer.revoke(*pair)
            model.held.discard(pair)
        elif kind == "relabel-shard":
            self._writer.relabel(shard, label)
            model.label.update({i: label for i in model.label if model.shard[i] == shard})
        elif kind == "relabel-item":
            self._writer.relabel(shard, label, item)
            model.label[item] = label
        elif kind == "append":
            self._append(f"shard{rng.integers(_SHARDS):02}", 1)
        elif len(model.label) > _SHARDS:
            self._writer.delete(shard, item)
            del model.label[item]

    def _read(self, principal: str, request: str) -> None:
        """Everything the principal may read, through the whole read path, and the trail of what it may not."""
        scope = Scope(predicates=(MayRead(principal=principal),))
        settings = ReadSettings(mode="all-admissible", k=1000, most=1000)
        evidence = TierB(self._reader.admit, ShardBm25(), settings, self._reader.admission).read(self._query, scope)
        found, right = {hit.id for hit in evidence.hits}, self._model.readable(principal)
        self._counts["reads"] += 1
        self._counts["returned"] += len(found)
        self._counts["leaks"] += len(found - right)
        self._counts["missing"] += len(right - found)
        self._explained(principal, self._auditor.record(request, scope))

    def _explained(self, principal: str, trail: tuple[Refusal, ...]) -> None:
        """Every refused label has a reason that names the event which decided it."""
        refused = self._model.refused(principal)
        self._counts["refusals"] += len(refused)
        self._counts["unexplained"] += len(refused ^ {refusal.label for refusal in trail})
        for refusal in trail:
            number = self._model.decided.get((principal, refusal.label))
            wanted = "was never granted" if number is None else f"event {number} (revoke)"
            self._counts["wrongly explained"] += wanted not in refusal.reason


def tables(result: dict[str, Any]) -> list[tuple[str, list[str], list[list[str]]]]:
    """For the terminal."""
    rows = [[key, str(value)] for key, value in result.items() if key != "by_kind"]
    return [("Changes of rights between reads", ["measure", "count"], rows)]
