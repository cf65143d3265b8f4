"""A generation of a store on the disk: its base, its empty log, the manifest that makes them the store."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from pydantic import JsonValue

from rebind.canon import canonical, file_digest
from rebind.memory.shard.log import START, StoreError, create_file, replace_file, sync_folder
from rebind.memory.shard.mark import advance
from rebind.memory.shard.rights import Rights
from rebind.memory.shard.scope import FIELDS, Vocabulary
from rebind.memory.shard.segment import Segment, build_segment

MANIFEST, MARK = "manifest.json", "mark"
FORMAT = "rebind-shards-1"


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
    advance(folder / MARK)
