"""The growing arrays behind a pool that changes: rows of units, and numbers for entities and tools."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rebind.memory.osu.grouping import Keys
from rebind.memory.osu.kernels import Floats, Ints, kernels
from rebind.memory.osu.trajectory import Marks, Note, Whole
from rebind.memory.osu.units import RawUnit

_INITIAL = 256


class Rows:
    """One row a unit; a dropped unit's row is free for the next."""

    def __init__(self, max_size: int) -> None:
        self._members = np.full((_INITIAL, max_size), -1, dtype=np.int32)
        self._sizes = np.zeros(_INITIAL, dtype=np.int32)
        self._norms = np.ones(_INITIAL, dtype=np.float64)
        self._views = np.zeros(_INITIAL, dtype=np.int8)
        self._keys = np.zeros(_INITIAL, dtype=np.int64)
        self._row: dict[RawUnit, int] = {}
        self._free: list[int] = []
        self._count = 0

    @property
    def members(self) -> Ints:
        return self._members[: self._count]

    @property
    def sizes(self) -> Ints:
        return self._sizes[: self._count]

    @property
    def norms(self) -> Floats:
        return self._norms[: self._count]

    @property
    def views(self) -> NDArray[np.int8]:
        return self._views[: self._count]

    @property
    def keys(self) -> Keys:
        return self._keys[: self._count]

    def write(self, units: Sequence[tuple[RawUnit, Sequence[int]]], vectors: Whole) -> None:
        """Gives units a row, or rewrites the one they have, with the members that pruning left them; frees the row of
        one without members."""
        rows: list[int] = []
        starts: list[int] = [0]
        flat: list[int] = []
        for unit, members in units:
            row = self._row.get(unit)
            if not members:
                if row is not None:
                    self._drop(unit, row)
                continue
            rows.append(self._new(unit) if row is None else row)
            flat.extend(members)
            starts.append(len(flat))
        if rows:
            given, ends, places = (np.array(part, dtype=np.int32) for part in (flat, starts, rows))
            kernels().lay(vectors, given, ends, places, self._members, self._sizes, self._norms)

    def _drop(self, unit: RawUnit, row: int) -> None:
        del self._row[unit]
        self._members[row] = -1
        self._sizes[row] = 0
        self._free.append(row)

    def _new(self, unit: RawUnit) -> int:
        row = self._row[unit] = self._free.pop() if self._free else self._next()
        self._views[row] = unit.rank
        self._keys[row] = unit.number
        return row

    def _next(self) -> int:
        if self._count == len(self._sizes):
            self._members = np.concatenate([self._members, np.full_like(self._members, -1)])
            self._sizes = np.concatenate([self._sizes, np.zeros_like(self._sizes)])
            self._norms = np.concatenate([self._norms, np.ones_like(self._norms)])
            self._views = np.concatenate([self._views, np.zeros_like(self._views)])
            self._keys = np.concatenate([self._keys, np.zeros_like(self._keys)])
        self._count += 1
        return self._count - 1


class Names:
    """Numbers for names, in order of appearance."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._number: dict[str, int] = {}

    def number(self, name: str) -> int:
        """A name's number; the next one where the name is unknown."""
        number = self._number.setdefault(name, len(self.names))
        if number == len(self.names):
            self.names.append(name)
        return number


class Numbers:
    """Entities and tools as numbers, in order of appearance."""

    def __init__(self) -> None:
        self.entity = Names()
        self.tool = Names()
        self._starts = Column()
        self._entities = Column()
        self._tools = Column()
        self._starts.add(0)

    def add(self, note: Note) -> None:
        """Takes in the next step's annotation."""
        for entity in dict.fromkeys(note.entities):
            self._entities.add(self.entity.number(entity))
        self._starts.add(self._entities.count)
        self._tools.add(-1 if note.tool is None else self.tool.number(note.tool))

    def marks(self) -> Marks:
        """The numbers so far."""
        return Marks(self._starts.values, self._entities.values, self._tools.values, self.entity.names, self.tool.names)


class Column:
    """A growing array of 32-bit integers."""

    def __init__(self) -> None:
        self._data: NDArray[np.int32] = np.zeros(_INITIAL, dtype=np.int32)
        self.count = 0

    @property
    def values(self) -> Ints:
        return self._data[: self.count]

    def add(self, value: int) -> None:
        if self.count == len(self._data):
            self._data = np.concatenate([self._data, np.zeros_like(self._data)])
        self._data[self.count] = value
        self.count += 1
