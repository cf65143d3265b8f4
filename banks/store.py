"""A frozen bank as everything else sees it: records, summaries, skills, vectors. No seals: see `seals`."""

from __future__ import annotations

import io
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from rebind.banks.files import MANIFEST, first_difference, read_manifest
from rebind.banks.freeze import EMBEDDINGS, INDEX, RECORDS, SKILLS, SUMMARIES
from rebind.errors import BankError
from rebind.memory.encoders import Vectors, encoder
from rebind.memory.index import Index
from rebind.types import Record, Skill


class Bank:
    """A frozen bank; a file is read when first needed and must have the bytes its manifest says."""

    def __init__(self, path: Path, manifest: Mapping[str, Any]) -> None:
        self.path = path
        self.manifest = manifest

    @classmethod
    def open(cls, path: Path) -> Bank:
        """Opens a bank by its manifest.

        Raises:
            BankError: there is no frozen bank, or its manifest was edited.
        """
        return cls(path, bank_manifest(path))

    @property
    def digest(self) -> str:
        """What names this bank's content."""
        return str(self.manifest["digest"])

    @property
    def ids(self) -> tuple[str, ...]:
        """Record ids, sorted; the order of the embeddings."""
        return tuple(self.records)

    def record(self, record_id: str) -> Record:
        """Raises `BankError` where there is no such record."""
        if record_id not in self.records:
            raise BankError(f"bank {self.path} has no record {record_id!r}")
        return self.records[record_id]

    def find(self, prefix: str) -> Record:
        """The record whose id begins so.

        Raises:
            BankError: there is none, or more than one.
        """
        found = [i for i in self.ids if i.startswith(prefix)]
        if len(found) != 1:
            raise BankError(f"{len(found)} records of bank {self.path} have an id that begins with {prefix!r}, not one")
        return self.records[found[0]]

    def summary(self, record_id: str) -> str:
        """The record's generic summary; empty where the bank was frozen without."""
        return self._summaries.get(record_id, "")

    def skills(self, record_id: str) -> tuple[Skill, ...]:
        """The record's verified skills; often none or one."""
        return tuple(self._skills.get(record_id, ()))

    @cached_property
    def records(self) -> dict[str, Record]:
        """All records by id."""
        return {r.id: r for r in (Record.model_validate(line) for line in self._lines(RECORDS))}

    @cached_property
    def embeddings(self) -> Vectors:
        """Vectors of the records as they were encoded at freeze time, shape (records, dimensions), float32."""
        vectors: Vectors = np.load(io.BytesIO(self._bytes(EMBEDDINGS)), allow_pickle=False)
        return vectors

    def index(self) -> Index:
        """The frozen index, for queries by the encoder it was made with. Records are not encoded again."""
        return self._index

    @cached_property
    def _index(self) -> Index:
        import faiss

        faiss.omp_set_num_threads(1)
        flat = faiss.deserialize_index(np.frombuffer(self._bytes(INDEX), dtype=np.uint8))
        return Index(self.ids, flat, encoder(str(self.manifest["encoder"]["name"])))

    @cached_property
    def _summaries(self) -> dict[str, str]:
        return {line["id"]: line["text"] for line in self._lines(SUMMARIES)}

    @cached_property
    def _skills(self) -> dict[str, list[Skill]]:
        found: defaultdict[str, list[Skill]] = defaultdict(list)
        for line in self._lines(SKILLS):
            skill = Skill.model_validate(line)
            found[skill.record_id].append(skill)
        return dict(found)

    def _lines(self, name: str) -> Iterator[Any]:
        return (json.loads(line) for line in self._bytes(name).splitlines())

    def _bytes(self, name: str) -> bytes:
        return verified_bytes(self.path, self.manifest, name)


def verified_bytes(path: Path, manifest: Mapping[str, Any], name: str) -> bytes:
    """A bank's file, if it has the bytes its manifest says.

    Raises:
        BankError: it is missing or differs.
    """
    try:
        content = (path / name).read_bytes()
    except OSError as error:
        raise BankError(f"bank {path}: {name} cannot be read: {error.strerror}") from None
    if sha256(content).hexdigest() != manifest["files"].get(name):
        raise BankError(f"bank {path}: {name} differs from the manifest; the bank was edited after it was frozen")
    return content


def bank_manifest(path: Path) -> dict[str, Any]:
    """The manifest of a frozen bank.

    Raises:
        BankError: there is none, or it was edited.
    """
    try:
        return read_manifest(path)
    except FileNotFoundError:
        raise BankError(f"{path} is not a frozen bank: it has no {MANIFEST}; `rebind bank freeze` makes one") from None
    except ValueError as error:
        raise BankError(f"bank {path}: {MANIFEST} {error}") from None


def verify(path: Path) -> str | None:
    """Checks every file of a bank against the manifest: the first that differs, is missing or does not belong; None if
    the bank is as it was frozen. An edited manifest is itself the first difference.

    Raises:
        BankError: the folder is no frozen bank.
    """
    if not (path / MANIFEST).exists():
        raise BankError(f"{path} is not a frozen bank: it has no {MANIFEST}; `rebind bank freeze` makes one")
    try:
        manifest = read_manifest(path)
    except ValueError:
        return MANIFEST
    return first_difference(path, manifest)
