"""The growing arrays behind a pool that changes: rows of units, and numbers for entities and tools."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rebind.memory.osu.kernels import Floats, Ints
from rebind.memory.osu.pool import Unit
from rebind.memory.osu.trajectory import Marks, Note, Vectors
from rebind.memory.osu.units import RawUnit, geometry

_INITIAL = 256


class Rows:
    """One row a unit; a dropped unit's row is free for the next."""

    def __init__(self, max_size: int) -> None:
        self._members = np.full((_INITIAL, max_size), -1, dtype=np.int32)
        self._sizes = np.zeros(_INITIAL, dtype=np.int32)
        self._norms = np.ones(_INITIAL, dtype=np.float64)
        self._row: dict[RawUnit, int] = {}
        self._free: list[int] = []
        self.units: list[Unit | None] = []

    @property
    def members(self) -> Ints:
        return self._members[: len(self.units)]

    @property
    def sizes(self) -> Ints:
        return self._sizes[: len(self.units)]

    @property
    def norms(self) -> Floats:
        return self._norms[: len(self.units)]

    def write(self, unit: RawUnit, members: Sequence[int], vectors: Vectors) -> None:
        """Gives a unit a row, or rewrites the one it has, with the members that pruning left it."""
        row = self._row.get(unit)
        if row is None:
            row = self._row[unit] = self._new()
        self.units[row] = Unit(unit.view, unit.key, tuple(members))
        self._members[row, : len(members)] = members
        self._members[row, len(members) :] = -1
        self._sizes[row] = len(members)
        shrunk = len(members) < len(unit.members)
        self._norms[row] = float(geometry([members], vectors)[0][0]) if shrunk else unit.norm

    def drop(self, unit: RawUnit) -> None:
        """Frees a unit's row, where it has one."""
        row = self._row.pop(unit, None)
        if row is not None:
            self.units[row] = None
            self._members[row] = -1
            self._sizes[row] = 0
            self._free.append(row)

    def _new(self) -> int:
        if self._free:
            return self._free.pop()
        self.units.append(None)
        if len(self.units) > len(self._sizes):
            self._members = np.concatenate([self._members, np.full_like(self._members, -1)])
            self._sizes = np.concatenate([self._sizes, np.zeros_like(self._sizes)])
            self._norms = np.concatenate([self._norms, np.ones_like(self._norms)])
        return len(self.units) - 1


class Numbers:
    """Entities and tools as numbers, in order of appearance."""

    def __init__(self) -> None:
        self._entity: dict[str, int] = {}
        self._tool: dict[str, int] = {}
        self._starts = Column()
        self._entities = Column()
        self._tools = Column()
        self._starts.add(0)

    def add(self, note: Note) -> None:
        """Takes in the next step's annotation."""
        for entity in dict.fromkeys(note.entities):
            self._entities.add(self._entity.setdefault(entity, len(self._entity)))
        self._starts.add(len(self._entities.values))
        self._tools.add(-1 if note.tool is None else self._tool.setdefault(note.tool, len(self._tool)))

    def marks(self) -> Marks:
        """The numbers so far."""
        return Marks(self._starts.values, self._entities.values, self._tools.values)


class Column:
    """A growing array of 32-bit integers."""

    def __init__(self) -> None:
        self._data: NDArray[np.int32] = np.zeros(_INITIAL, dtype=np.int32)
        self._count = 0

    @property
    def values(self) -> Ints:
        return self._data[: self._count]

    def add(self, value: int) -> None:
        if self._count == len(self._data):
            self._data = np.concatenate([self._data, np.zeros_like(self._data)])
        self._data[self._count] = value
        self._count += 1
