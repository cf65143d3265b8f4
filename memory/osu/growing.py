"""A pool that grows with the trajectory: after every appended step it is exactly the pool a full build would give.

What one step can change is bounded: the last pieces of the groups it joins, the communities of the last similarity
window, and the memberships of their members. So the cost of a step does not grow with the trajectory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np
from numpy.typing import ArrayLike

from rebind.memory.osu.config import OsuConfig, View
from rebind.memory.osu.kernels import kernels
from rebind.memory.osu.nearest import SimilarWindow
from rebind.memory.osu.pool import Pool
from rebind.memory.osu.rows import Numbers, Rows
from rebind.memory.osu.trajectory import Note, Trajectory, TrajectoryError, on_grid
from rebind.memory.osu.units import RawUnit, chunks, keys

_INITIAL = 256

Change = tuple[RawUnit, Sequence[int]]
"""A unit and the members it will have; none if it is to go."""


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
        self._whole = np.zeros((_INITIAL, dimensions), dtype=np.int16)
        self._costs = np.zeros(_INITIAL, dtype=np.int64)
        self._numbers = Numbers()
        self._tails: dict[tuple[View, str], _Tail] = {}
        self._gaps: dict[View, int] = {view: config.gap(view) for view in config.views if view != "similarity"}
        self._window = SimilarWindow(config)
        self._communities: dict[int, RawUnit] = {}
        self._of: list[list[RawUnit]] = []
        self._kept: dict[int, list[RawUnit]] = {}
        """For steps in more units than allowed, those they stay in; all others stay in all of theirs."""
        self._rows = Rows(config.max_size)

    def __len__(self) -> int:
        return len(self._notes)

    @property
    def pool(self) -> Pool:
        """The pool as it stands. Its arrays are views of the growing ones: use it before the next append."""
        n, rows = len(self), self._rows
        gram = self._window.gram if n <= self.config.window else np.zeros((0, 0), dtype=np.float32)
        return Pool(
            history=Trajectory(self._vectors[:n], self._costs[:n], self._notes),
            config=self.config,
            members=rows.members,
            sizes=rows.sizes,
            norms=rows.norms,
            views=rows.views,
            keys=rows.keys,
            marks=self._numbers.marks(),
            whole=self._whole[:n],
            gram=gram,
        )

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
            self._whole = np.concatenate([self._whole, np.zeros_like(self._whole)])
            self._costs = np.concatenate([self._costs, np.zeros_like(self._costs)])
        self._vectors[step] = self._whole[step] = vector
        self._costs[step] = cost
        self._notes.append(note)
        self._numbers.add(note)
        self._of.append([])
        self._apply([*self._keyed(step, note), *self._similar(step)])

    def _keyed(self, step: int, note: Note) -> Iterator[Change]:
        """The last pieces of every group the step joins."""
        config = self.config
        for view, key in keys(note, config.views):
            tail = self._tails.get((view, key))
            if tail is None or step - tail.steps[-1] > self._gaps[view]:
                tail = self._tails[view, key] = _Tail()
            tail.add(step, config.max_size)
            for place, piece in enumerate(chunks(tail.steps, config.max_size)):
                if place == len(tail.open):
                    tail.open.append(RawUnit(view, key, self._number(view, key)))
                yield tail.open[place], piece if len(piece) >= config.min_size else ()

    def _number(self, view: View, key: str) -> int:
        """See `grouping.RawUnits.keys`."""
        if view == "entity":
            return self._numbers.entity.number(key)
        return self._numbers.tool.number(key) if view == "tool" else int(key)

    def _similar(self, step: int) -> Iterator[Change]:
        """The communities of the last window that change."""
        if "similarity" not in self.config.views:
            return
        start = step - step % self.config.window
        if step == start:
            self._window.clear()
            self._communities = {}
        for label, members in self._window.add(self._whole[start : step + 1]).items():
            unit = self._communities.get(label)
            if unit is None:
                unit = self._communities[label] = RawUnit("similarity", str(start + label), start + label)
            if not members:
                del self._communities[label]
            yield unit, [start + member for member in members]

    def _apply(self, changes: Sequence[Change]) -> None:
        """Gives units their members, prunes the steps concerned anew, and rewrites the rows whose members changed."""
        contested: set[int] = set()
        for unit, members in changes:
            before, after = set(unit.members), set(members)
            for step in before - after:
                self._of[step].remove(unit)
            for step in after - before:
                self._of[step].append(unit)
                if len(self._of[step]) > self.config.max_memberships:
                    contested.add(step)
            if self._kept:
                contested.update(step for step in before | after if step in self._kept)
            unit.members, unit.pull = members, None
        changed = dict.fromkeys(unit for unit, _ in changes)
        if contested:
            self._measure({unit: None for step in contested for unit in self._of[step] if unit.pull is None})
            for step in sorted(contested):
                changed.update(dict.fromkeys(self._pruned(step)))
        self._rows.write([(unit, self._members(unit)) for unit in changed], self._whole)

    def _measure(self, units: Collection[RawUnit]) -> None:
        """Gives units the geometry of their members."""
        if units:
            flat = [step for unit in units for step in unit.members]
            starts = [0, *accumulate(len(unit.members) for unit in units)]
            _, pulls = kernels().measure(self._whole, np.array(flat, np.int32), np.array(starts, np.int32))
            for unit, start in zip(units, starts, strict=False):
                unit.pull = pulls[start : start + len(unit.members)].tolist()

    def _pruned(self, step: int) -> list[RawUnit]:
        """Decides anew which units a step stays in; the units for which the answer is another."""
        units, limit = self._of[step], self.config.max_memberships
        before, now = self._kept.pop(step, units), units
        if len(units) > limit:
            now = self._kept[step] = sorted(units, key=lambda unit: unit.standing(step))[:limit]
        return [unit for unit in (*before, *now) if (unit in before) != (unit in now)]

    def _members(self, unit: RawUnit) -> Sequence[int]:
        """The members that pruning leaves a unit, none if they are too few."""
        members, kept = unit.members, self._kept
        if kept and not kept.keys().isdisjoint(members):
            members = [step for step in members if step not in kept or unit in kept[step]]
        return members if len(members) >= self.config.min_size else ()
