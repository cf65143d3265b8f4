"""A store of evidence: a folder with a manifest, a mapped base, and a log of everything since.

    manifest.json   the generation, the base's files with their SHA-256, what the log continues
    base-<g>/       arrays, mapped read-only and shared by all processes that open them
    log-<g>.jsonl   events since: items, grants, revocations, relabelling, deletions; chained, fsynced
    audit/          who was refused what, and by which event

Readers never wait: they map what is there and read the log's end before each request, so a change that was
acknowledged before a request is in force in it. Writers take turns under a file lock and only append.
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

from rebind.canon import canonical, file_digest
from rebind.memory.shard.corpus import Admitted, admit
from rebind.memory.shard.holding import Holding, Written, packed
from rebind.memory.shard.log import START, Log, StoreError, create_file, replace_file, sync_folder
from rebind.memory.shard.rights import Rights
from rebind.memory.shard.scope import FIELDS, Admission, Scope, Vocabulary, compile_scope
from rebind.memory.shard.segment import Grid, Item, Segment, build_segment, on_grid, open_segment

MANIFEST = "manifest.json"
FORMAT = "rebind-shards-1"
_RETRIES = 50


def create(folder: Path, dimensions: int, encoder: str) -> None:
    """An empty store in a folder that does not exist or is empty.

    Raises:
        StoreError: the folder holds something.
    """
    if folder.exists() and any(folder.iterdir()):
        raise StoreError(f"{folder} is not empty: a store is made in a folder of its own")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "audit").mkdir()
    empty = build_segment([], np.empty((0, dimensions), dtype=np.int16), [Vocabulary() for _ in FIELDS])
    write_generation(folder, 0, empty, [Vocabulary() for _ in FIELDS], Rights(), {"encoder": encoder})


def write_generation(
    folder: Path,
    generation: int,
    base: Segment,
    names: Sequence[Vocabulary],
    rights: Rights,
    described: dict[str, JsonValue],
    number: int = 0,
    prev: str = START,
) -> None:
    """A new base and an empty log; the manifest, which makes them the store, comes last and in one go."""
    name = f"base-{generation}"
    shutil.rmtree(folder / name, ignore_errors=True)
    (folder / f"log-{generation}.jsonl").unlink(missing_ok=True)
    (folder / name).mkdir()
    files = base.save(folder / name)
    (folder / name / "names.json").write_bytes(canonical([list(own.names) for own in names]))
    (folder / name / "rights.json").write_bytes(canonical(rights.dump()))
    files += ["names.json", "rights.json"]
    for file in files:
        with (folder / name / file).open("rb") as handle:
            os.fsync(handle.fileno())
    sync_folder(folder / name)
    create_file(folder / f"log-{generation}.jsonl")
    manifest: dict[str, object] = {
        "format": FORMAT,
        "generation": generation,
        "dimensions": int(base.vectors.shape[1]),
        "items": base.items,
        "shards": base.shards,
        "files": {f"{name}/{file}": file_digest(folder / name / file) for file in sorted(files)},
        "continues": {"number": number, "hash": prev},
        **{key: value for key, value in described.items() if key == "encoder"},
    }
    replace_file(folder / MANIFEST, json.dumps(manifest, indent=2, sort_keys=True).encode() + b"\n")


class Store:
    """A store that was opened. Reading needs no lock; writing takes turns with other writers."""

    def __init__(self, folder: Path) -> None:
        """Opens a store.

        Raises:
            StoreError: there is none, it is of another format, or its log was edited.
        """
        self.folder = folder
        self._lock = FileLock(folder / "lock")
        self._load()

    # --- reading ---

    def admit(self, scope: Scope) -> Admitted:
        """What a scope admits now."""
        self.refresh()
        return admit(self._holding.views, scope, self.names, self.rights.held)

    def admission(self, scope: Scope) -> Admission:
        """A scope by the rights of this moment."""
        self.refresh()
        return compile_scope(scope, self.names, self.rights.held)

    def refresh(self) -> None:
        """Takes in what was acknowledged since. Costs two `stat` calls where there is nothing."""
        if _mark(self.folder / MANIFEST) != self._seen:
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
                self._seen = _mark(path)
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
        """The writers' turn: alone, and with all news read."""
        with self._lock:
            self.refresh()
            yield

    def _log_event(self, event: dict[str, JsonValue]) -> int:
        stamped = {"at": time.time(), **event}
        number = self._log.append(stamped)
        self._take([{"n": number, **stamped}])
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


def _mark(path: Path) -> tuple[int, int]:
    """What changes when a file is replaced."""
    found = os.stat(path)
    return found.st_ino, found.st_mtime_ns
