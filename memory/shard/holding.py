"""A base segment and what was written since, as the views that a read goes over."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from pydantic import JsonValue

from rebind.memory.shard.corpus import View
from rebind.memory.shard.log import StoreError
from rebind.memory.shard.scope import FIELDS, MIXED, NO_TIME, ItemMeta, Vocabulary
from rebind.memory.shard.segment import FAMILIES, Grid, Item, Segment, build_segment

_LABEL = FIELDS.index("label")
Written = tuple[Item, Grid]


class Holding:
    """Applies events to a base. A shard that got items since is held whole in a small segment of its own."""

    def __init__(self, base: Segment, names: Sequence[Vocabulary], dimensions: int) -> None:
        self.base, self.names, self._dimensions = base, names, dimensions
        self._base_places = {base.name(shard): shard for shard in range(base.shards)}
        self._recent: dict[str, list[Written]] = {}
        self._base_view = View.of(base)
        self._recent_view: View | None = None
        self._recent_places: dict[str, int] = {}

    @property
    def views(self) -> list[View]:
        return [self._base_view] if self._recent_view is None else [self._base_view, self._recent_view]

    @property
    def recent(self) -> int:
        """Items held outside the base."""
        return sum(len(items) for items in self._recent.values())

    def has(self, shard: str) -> bool:
        return shard in self._base_places or shard in self._recent

    def family(self, shard: str) -> str | None:
        """The family of a shard, None where there is none."""
        if self._recent.get(shard):
            return self._recent[shard][0][0].family
        return FAMILIES[self.base.shard_family[self._base_places[shard]]] if shard in self._base_places else None

    def ids(self, shard: str) -> list[str]:
        """Ids of a shard's items, in order."""
        return [item.id for item, _ in self.items(shard)]

    def items(self, shard: str) -> list[Written]:
        """A shard's items as they are now."""
        if shard in self._recent:
            return list(self._recent[shard])
        if shard not in self._base_places:
            return []
        view, place = self._base_view, self._base_places[shard]
        rows = self.base.rows(place)
        if view.deleted is not None:
            rows = rows[~view.deleted[rows]]
        return [(self._item(int(row), shard), self.base.vectors[row]) for row in rows]

    def apply(self, events: Sequence[Mapping[str, Any]]) -> None:
        """Takes in "items", "relabel" and "delete", in order; a run of them rebuilds the small segment once."""
        stale = False
        for event in events:
            if event["kind"] == "items":
                for written in unpacked(event):
                    self._add(written)
                stale = True
            elif event["kind"] in ("relabel", "delete"):
                stale |= self._change(event)
        if stale:
            self._rebuild()

    def _add(self, written: Written) -> None:
        shard = written[0].shard
        if shard not in self._recent:
            self._recent[shard] = self.items(shard)
            if shard in self._base_places:
                self._replace(self._base_places[shard])
        self._recent[shard].append(written)

    def _replace(self, place: int) -> None:
        view = self._base_view
        replaced = np.zeros(self.base.shards, dtype=bool) if view.replaced is None else view.replaced.copy()
        replaced[place] = True
        self._base_view = View(
            self.base, view.item_codes, view.shard_codes, view.deleted, view.partly_deleted, replaced
        )

    def _change(self, event: Mapping[str, Any]) -> bool:
        """Relabels or deletes a shard or one item of it; True where the small segment has to be rebuilt."""
        shard, wanted = str(event["shard"]), event.get("item")
        if shard in self._recent:
            kept: list[Written] = []
            for item, vector in self._recent[shard]:
                if wanted is None or item.id == wanted:
                    if event["kind"] == "delete":
                        continue
                    meta = item.meta.model_copy(update={"label": event["label"]})
                    kept.append((item.model_copy(update={"meta": meta}), vector))
                else:
                    kept.append((item, vector))
            self._recent[shard] = kept
            return True
        place = self._base_places[shard]
        rows = self.base.rows(place)
        if wanted is not None:
            rows = rows[[json.loads(self.base.line(int(row)))["id"] == wanted for row in rows]]
        self._base_view = (
            self._deleted(place, rows) if event["kind"] == "delete" else self._relabelled(place, rows, event["label"])
        )
        return False

    def _relabelled(self, place: int, rows: np.ndarray[Any, Any], label: str) -> View:
        view = self._base_view
        own = view.item_codes is not self.base.item_codes
        items = view.item_codes if own else np.array(view.item_codes)
        shards = view.shard_codes if own else np.array(view.shard_codes)
        items[_LABEL, rows] = self.names[_LABEL].add(label)
        codes = items[_LABEL, self.base.rows(place)]
        shards[_LABEL, place] = codes[0] if (codes == codes[0]).all() else MIXED
        return View(self.base, items, shards, view.deleted, view.partly_deleted, view.replaced)

    def _deleted(self, place: int, rows: np.ndarray[Any, Any]) -> View:
        view = self._base_view
        deleted = np.zeros(self.base.items, dtype=bool) if view.deleted is None else view.deleted
        partly = np.zeros(self.base.shards, dtype=bool) if view.partly_deleted is None else view.partly_deleted
        deleted[rows], partly[place] = True, True
        return View(self.base, view.item_codes, view.shard_codes, deleted, partly, view.replaced)

    def _rebuild(self) -> None:
        written = [pair for pairs in self._recent.values() for pair in pairs]
        vectors = np.array([vector for _, vector in written], dtype=np.int16).reshape(-1, self._dimensions)
        self._recent_view = View.of(build_segment([item for item, _ in written], vectors, self.names))

    def _item(self, row: int, shard: str) -> Item:
        """An item of the base as it is now."""
        view, line = self._base_view, json.loads(self.base.line(row))
        named = {field: self.names[f].name(int(view.item_codes[f, row])) for f, field in enumerate(FIELDS)}
        at = int(self.base.item_time[row])
        time = None if at == NO_TIME else datetime.fromtimestamp(at, UTC)
        family = FAMILIES[self.base.shard_family[self._base_places[shard]]]
        return Item(**line, shard=shard, family=family, meta=ItemMeta(**named, time=time))


def packed(items: Sequence[Item], vectors: Grid) -> dict[str, JsonValue]:
    """The event that adds items."""
    return {
        "kind": "items",
        "items": [item.model_dump(mode="json", exclude_defaults=True) for item in items],
        "vectors": base64.b64encode(np.ascontiguousarray(vectors, dtype="<i2").tobytes()).decode(),
    }


def unpacked(event: Mapping[str, Any]) -> list[Written]:
    """Items and vectors of such an event."""
    items = [Item.model_validate(one) for one in event["items"]]
    vectors = np.frombuffer(base64.b64decode(event["vectors"]), dtype="<i2").reshape(len(items), -1)
    if not items:
        raise StoreError("an event adds no items")
    return list(zip(items, vectors, strict=True))
