"""A pool that grows with the trajectory: after every appended step it is exactly the pool a full build would give.

What one step can change is bounded: the last pieces of the groups it joins, the communities of the last similarity
window, and the memberships of their members. So the cost of a step does not grow with the trajectory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from rebind.memory.osu.config import OsuConfig, View
from rebind.memory.osu.kernels import kernels
from rebind.memory.osu.nearest import NearestWindow
from rebind.memory.osu.pool import Pool
from rebind.memory.osu.rows import Numbers, Rows
from rebind.memory.osu.trajectory import Note, Trajectory, TrajectoryError, on_grid
from rebind.memory.osu.units import Group, RawUnit, chunks, kept, keys, measure

_INITIAL = 256


@dataclass
class _Tail:
    """The last run of a group, as far as its pieces can still change."""

    steps: list[int] = field(default_factory=list)
    open: list[RawUnit] = field(default_factory=list)

    def add(self, step: int, cap: int) -> None:
        """Takes in a step; the first piece closes once two full ones stand (see `units.chunks`)."""
        self.steps.append(step)
        if len(self.steps) > 2 * cap:
            del self.steps[:cap], self.open[:1]


class GrowingPool:
    """Appends steps one by one; `pool` is what retrieval reads at any time."""

    def __init__(self, dimensions: int, config: OsuConfig = OsuConfig()) -> None:  # noqa: B008  # frozen
        self.config = config
        self._notes: list[Note] = []
        self._vectors = np.zeros((_INITIAL, dimensions), dtype=np.float32)
        self._costs = np.zeros(_INITIAL, dtype=np.int64)
        self._numbers = Numbers()
        self._tails: dict[tuple[View, str], _Tail] = {}
        self._nearest = NearestWindow(config.window, config.neighbours)
        self._labels = np.full(0, -1, dtype=np.int32)
        self._communities: dict[int, RawUnit] = {}
        self._of: list[list[RawUnit]] = []
        self._kept: list[Sequence[RawUnit]] = []
        self._contested: set[int] = set()
        """Steps in more units than allowed; of all others every membership is kept."""
        self._rows = Rows(config.max_size)

    def __len__(self) -> int:
        return len(self._notes)

    @property
    def pool(self) -> Pool:
        """The pool as it stands. Its arrays are views of the growing ones: use it before the next append."""
        n, rows = len(self), self._rows
        history = Trajectory(self._vectors[:n], self._costs[:n], self._notes)
        gram = self._nearest.gram if n <= self.config.window else np.zeros((0, 0), dtype=np.float32)
        return Pool(history, self.config, rows.units, rows.members, rows.sizes, rows.norms, self._numbers.marks(), gram)

    def append(self, embedding: ArrayLike, cost: int, note: Note) -> None:
        """Adds one step: embedding (d,), cost in tokens, annotation.

        Raises:
            TrajectoryError: the embedding has other dimensions or no direction, or the cost is not positive.
        """
        vector, step = on_grid(embedding), len(self)
        if vector.shape != self._vectors.shape[1:] or cost <= 0:
            raise TrajectoryError(
                f"step {step} has an embedding of shape {vector.shape} and costs {cost} tokens; "
                f"wanted {self._vectors.shape[1:]} and at least 1"
            )
        if step == len(self._vectors):
            self._vectors = np.concatenate([self._vectors, np.zeros_like(self._vectors)])
            self._costs = np.concatenate([self._costs, np.zeros_like(self._costs)])
        self._vectors[step], self._costs[step] = vector, cost
        self._notes.append(note)
        self._numbers.add(note)
        self._of.append([])
        self._kept.append(())
        gone: list[RawUnit] = []
        groups = [*self._keyed(step, note, gone), *self._similar(step, gone)]
        self._replace(gone, measure(groups, self._vectors))

    def _keyed(self, step: int, note: Note, gone: list[RawUnit]) -> Iterator[Group]:
        """What takes the place of the last pieces of every group the step joins; those pieces go to `gone`."""
        for view, key in keys(note, self.config.views):
            tail = self._tails.get((view, key))
            if tail is None or step - tail.steps[-1] > self.config.gap(view):
                tail = self._tails[view, key] = _Tail()
            tail.add(step, self.config.max_size)
            gone.extend(tail.open)
            tail.open.clear()
            for piece in chunks(tail.steps, self.config.max_size):
                if len(piece) >= self.config.min_size:
                    yield view, key, piece

    def _similar(self, step: int, gone: list[RawUnit]) -> Iterator[Group]:
        """The communities of the last window that change; the old ones go to `gone`."""
        if "similarity" not in self.config.views:
            return
        start = step - step % self.config.window
        if step == start:
            self._nearest.clear()
            self._labels = np.full(0, -1, dtype=np.int32)
            self._communities = {}
        self._nearest.add(self._vectors[start : step + 1])
        before = np.append(self._labels, np.int32(-1))
        self._labels = kernels().communities(
            self._nearest.values, self._nearest.indices, self.config.edge_percentile, self.config.max_size
        )
        moved = np.flatnonzero(self._labels != before)
        for label in sorted({*self._labels[moved].tolist(), *before[moved].tolist()} - {-1}):
            if label in self._communities:
                gone.append(self._communities.pop(label))
            members = np.flatnonzero(self._labels == label)
            if len(members):
                yield "similarity", str(start + label), (members + start).tolist()

    def _replace(self, gone: Sequence[RawUnit], made: Sequence[RawUnit]) -> None:
        """Swaps raw units, prunes the steps concerned anew, and rewrites the rows whose members changed."""
        dead, limit = set(gone), self.config.max_memberships
        affected = {s for unit in (*gone, *made) for s in unit.members}
        before = {s: self._kept[s] for s in affected & self._contested}
        for s in affected:
            self._of[s] = [unit for unit in self._of[s] if unit not in dead]
        for unit in made:
            for s in unit.members:
                self._of[s].append(unit)
            if unit.view == "similarity":
                self._communities[unit.members[0] % self.config.window] = unit
            else:
                self._tails[unit.view, unit.key].open.append(unit)
        self._contested -= affected
        changed = set(made)
        for s in affected:
            units = self._of[s]
            self._kept[s] = now = kept(units, s, limit)
            if len(units) > limit:
                self._contested.add(s)
                changed.update(unit for unit in units if (unit in now) != (unit in before.get(s, units)))
            elif s in before:
                changed.update(unit for unit in units if unit not in before[s])
        self._rewrite(gone, changed - dead)

    def _rewrite(self, gone: Sequence[RawUnit], changed: Iterable[RawUnit]) -> None:
        for unit in gone:
            self._rows.drop(unit)
        for unit in changed:
            members: Sequence[int] = unit.members
            if not self._contested.isdisjoint(members):
                members = [s for s in members if unit in self._kept[s]]
            if len(members) >= self.config.min_size:
                self._rows.write(unit, members, self._vectors)
            else:
                self._rows.drop(unit)
