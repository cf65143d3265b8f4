"""A store of evidence: a folder with a manifest, a mapped base, and a log of everything since.

    manifest.json   the generation, the base's files with their SHA-256, what the log continues
    base-<g>/       arrays, mapped read-only and shared by all processes that open them
    log-<g>.jsonl   events since: items, grants, revocations, relabelling, deletions; chained, fsynced
    mark            counts acknowledged changes, mapped by readers
    audit/          who was refused what, and by which event

Readers never wait: they map what is there, look at the mark before each request and read the log's end where it moved,
so a change that was acknowledged before a request is in force in it. Writers take turns under a file lock and only
append.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray
from pydantic import JsonValue

from rebind.canon import file_digest
from rebind.memory.shard.corpus import Admitted, admitted
from rebind.memory.shard.generation import FORMAT, MANIFEST, MARK, write_generation
from rebind.memory.shard.holding import Holding, Written, packed
from rebind.memory.shard.log import Log, StoreError
from rebind.memory.shard.mark import Mark, advance
from rebind.memory.shard.rights import Rights
from rebind.memory.shard.scope import FIELDS, Admission, Scope, Vocabulary, compile_scope
from rebind.memory.shard.segment import Grid, Item, Segment, build_segment, on_grid, open_segment

_RETRIES = 50


class Store:
    """A store that was opened. Reading needs no lock; writing takes turns with other writers."""

    def __init__(self, folder: Path) -> None:
        """Opens a store.

        Raises:
            StoreError: there is none, it is of another format, or its log was edited.
        """
        self.folder = folder
        self._lock = FileLock(folder / "lock")
        self._marked = -1
        """The mark that was seen last."""
        self._load()

    # --- reading ---

    def admit(self, scope: Scope) -> Admitted:
        """What a scope admits now."""
        admission = self.admission(scope)
        return admitted(self._holding.views, admission)

    def admission(self, scope: Scope, before: Admission | None = None) -> Admission:
        """A scope by the rights of this moment.

        `before`: an admission of when the read began. Its codes are used, also where the store was compacted since; it
        is returned itself where it is of this scope and nothing has happened since.
        """
        self.refresh()
        if before is not None and before.scope is scope and before.events == self.events:
            return before
        names = self.names if before is None else before.names
        return compile_scope(scope, names, self.rights.held, self.events)

    def refresh(self) -> None:
        """Takes in what was acknowledged since. Costs a look at mapped memory where there is nothing."""
        moved = self._mark.value
        if moved != self._marked:
            self._catch_up()
            self._marked = moved

    def _catch_up(self) -> None:
        """Takes in all that is on the disk."""
        if _file_id(self.folder / MANIFEST) != self._seen:
            self._load()
            return
        self._take(self._log.news())

    @property
    def names(self) -> Sequence[Vocabulary]:
        return self._holding.names

    @property
    def base(self) -> Segment:
        """The mapped base, without what was written since."""
        return self._holding.base

    @property
    def items(self) -> int:
        """Items in the base and since."""
        return self._holding.base.items + self._holding.recent

    @property
    def events(self) -> int:
        """The number of the last event taken in."""
        return self._log.number

    # --- writing ---

    def append(self, items: Sequence[Item], embeddings: NDArray[np.float32]) -> int:
        """Adds items with their embeddings (n, d); returns the event's number once all of it is on the disk.

        Raises:
            StoreError: nothing to add, other dimensions, an id that its shard has, or a shard of another family.
            ItemError: an embedding has no direction.
        """
        vectors = on_grid(embeddings)
        if not len(items) or vectors.shape != (len(items), self._manifest["dimensions"]):
            raise StoreError(
                f"{len(items)} items with embeddings of shape {vectors.shape}: expected at least one item and "
                f"{self._manifest['dimensions']} dimensions each"
            )
        with self._writing():
            self._fitting(items)
            return self._log_event(packed(items, vectors))

    def grant(self, principal: str, label: str) -> int:
        """Lets a principal read a label, from the next request on, in every process."""
        with self._writing():
            return self._log_event({"kind": "grant", "principal": principal, "label": label})

    def revoke(self, principal: str, label: str) -> int:
        """Takes a label from a principal, from the next request on, in every process."""
        with self._writing():
            return self._log_event({"kind": "revoke", "principal": principal, "label": label})

    def relabel(self, shard: str, label: str, item: str | None = None) -> int:
        """Gives a shard's items, or one of them, another label. Raises `StoreError` where there is none such."""
        with self._writing():
            self._known(shard, item)
            return self._log_event({"kind": "relabel", "shard": shard, "item": item, "label": label})

    def delete(self, shard: str, item: str | None = None) -> int:
        """Deletes a shard's items, or one of them. Raises `StoreError` where there is none such."""
        with self._writing():
            self._known(shard, item)
            return self._log_event({"kind": "delete", "shard": shard, "item": item})

    def compact(self) -> int:
        """Writes base and log as one new base; returns its generation. Readers that are reading the old one go on."""
        with self._writing():
            return self._rewrite([pair for shard in self.shards() for pair in self._holding.items(shard)])

    def rewrite(self, replaced: Sequence[str], written: Sequence[Written]) -> int:
        """A new base in which some shards' items stand as given, in whichever shards they name (see `adapt`)."""
        with self._writing():
            kept = [pair for shard in self.shards() if shard not in replaced for pair in self._holding.items(shard)]
            return self._rewrite([*kept, *written])

    def shards(self) -> list[str]:
        """Names of all shards that hold an item."""
        views = self._holding.views
        names: dict[str, None] = {}
        for view in views:
            for shard in range(view.segment.shards):
                if view.replaced is None or not view.replaced[shard]:
                    names[view.segment.name(shard)] = None
        return [name for name in names if self._holding.items(name)]

    def written(self, shard: str) -> list[Written]:
        """A shard's items and vectors as they are now."""
        self.refresh()
        return self._holding.items(shard)

    def verify(self) -> list[str]:
        """What does not fit: files that differ from the manifest. The log was checked when it was read."""
        self.refresh()
        return [n for n, digest in self._manifest["files"].items() if file_digest(self.folder / n) != digest]

    # --- inside ---

    def _load(self) -> None:
        """Maps the base and reads the whole log; begins again where a writer replaced the store meanwhile."""
        for attempt in range(_RETRIES):
            path = self.folder / MANIFEST
            try:
                self._mark = Mark(self.folder / MARK)
                self._marked = self._mark.value
                self._seen = _file_id(path)
                self._manifest: dict[str, Any] = json.loads(path.read_bytes())
                if self._manifest.get("format") != FORMAT:
                    raise StoreError(f"{path} is not of format {FORMAT}")
                self._map()
                return
            except json.JSONDecodeError as error:
                raise StoreError(f"{path} is no manifest: {error}") from None
            except FileNotFoundError as error:
                if not path.exists() or attempt == _RETRIES - 1:
                    raise StoreError(f"{self.folder} holds no store: {error.filename} is missing") from None

    def _map(self) -> None:
        generation = self._manifest["generation"]
        base = self.folder / f"base-{generation}"
        names = [Vocabulary(own) for own in json.loads((base / "names.json").read_bytes())]
        self.rights = Rights.load(json.loads((base / "rights.json").read_bytes()))
        self._holding = Holding(open_segment(base), names, self._manifest["dimensions"])
        continues = self._manifest["continues"]
        self._log = Log(self.folder / f"log-{generation}.jsonl", continues["number"], continues["hash"])
        self._take(self._log.news())

    def _take(self, events: Sequence[dict[str, Any]]) -> None:
        if not events:
            return
        for event in events:
            if event["kind"] in ("grant", "revoke"):
                self.rights.take(event)
        self._holding.apply(events)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """The writers' turn: alone, and with all news read, also what a killed writer left unacknowledged."""
        with self._lock:
            self._catch_up()
            yield

    def _log_event(self, event: dict[str, JsonValue]) -> int:
        stamped = {"at": time.time(), **event}
        number = self._log.append(stamped)
        self._take([{"n": number, **stamped}])
        advance(self.folder / MARK)
        return number

    def _fitting(self, items: Sequence[Item]) -> None:
        taken = {shard: set(self._holding.ids(shard)) for shard in {item.shard for item in items}}
        family = {shard: self._holding.family(shard) for shard in taken}
        for item in items:
            if item.id in taken[item.shard]:
                raise StoreError(f"shard {item.shard!r} has an item {item.id!r} already; ids are unique")
            if family[item.shard] not in (None, item.family):
                raise StoreError(f"shard {item.shard!r} is a {family[item.shard]} shard; {item.id!r} is {item.family}")
            taken[item.shard].add(item.id)
            family[item.shard] = item.family

    def _known(self, shard: str, item: str | None) -> None:
        if not self._holding.has(shard):
            raise StoreError(f"there is no shard {shard!r}")
        if item is not None and item not in self._holding.ids(shard):
            raise StoreError(f"shard {shard!r} has no item {item!r}")

    def _rewrite(self, written: Sequence[Written]) -> int:
        generation = int(self._manifest["generation"])
        names = [Vocabulary() for _ in FIELDS]
        vectors: Grid = np.array([v for _, v in written], dtype=np.int16).reshape(-1, self._manifest["dimensions"])
        base = build_segment([item for item, _ in written], vectors, names)
        log, rights = self._log, self.rights
        write_generation(self.folder, generation + 1, base, names, rights, self._manifest, log.number, log.prev)
        self._load()
        shutil.rmtree(self.folder / f"base-{generation}", ignore_errors=True)
        return generation + 1


def _file_id(path: Path) -> tuple[int, int]:
    """What changes when a file is replaced."""
    found = os.stat(path)
    return found.st_ino, found.st_mtime_ns
