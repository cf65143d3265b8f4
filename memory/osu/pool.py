"""The overlapping pool of units of one trajectory, built whole (paper, section 3.3 to 3.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rebind.memory.osu.config import VIEW_PRIORITY, OsuConfig, View
from rebind.memory.osu.grouping import Keys, RawUnits, raw_units
from rebind.memory.osu.kernels import Floats, Ints, Layout, kernels
from rebind.memory.osu.trajectory import Marks, Trajectory, Vectors, Whole

_BLOCK = 4096
"""Units whose members are gathered at once."""


@dataclass(frozen=True)
class Unit:
    """A unit of the pool: the steps that share a view's key."""

    view: View
    key: str
    members: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Pool:
    """What retrieval reads. Row u of `members` (U, S_max) is padded with -1; a row of size 0 is free and stands for no
    unit."""

    history: Trajectory
    config: OsuConfig
    members: Ints
    sizes: Ints
    norms: Floats
    views: NDArray[np.int8]
    """Places in `VIEW_PRIORITY`; like `keys`, without meaning for a free row."""
    keys: Keys
    """See `RawUnits`."""
    marks: Marks
    whole: Whole
    """The trajectory's vectors as whole numbers."""
    gram: Vectors
    """(n, n) inner products where the trajectory fits one similarity window, else (0, 0)."""

    @cached_property
    def rows(self) -> Sequence[Unit | None]:
        """The unit of each row, None for a free one."""
        found: list[Unit | None] = [None] * len(self.members)
        for row in np.flatnonzero(self.sizes).tolist():
            view, key = VIEW_PRIORITY[self.views[row]], int(self.keys[row])
            names = {"entity": self.marks.entity_names, "tool": self.marks.tool_names}.get(view)
            members = tuple(self.members[row, : self.sizes[row]].tolist())
            found[row] = Unit(view, str(key) if names is None else names[key], members)
        return found

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """All units, sorted by view, key and first member: equal for equal pools, however they were made."""
        return tuple(sorted((u for u in self.rows if u is not None), key=lambda u: (u.view, u.key, u.members)))

    @cached_property
    def centroids(self) -> Vectors:
        """z_k of every row (U, d), of length 1; zeros for a free row (equation 1)."""
        result = np.zeros((len(self.members), self.history.vectors.shape[1]), dtype=np.float32)
        for start in range(0, len(self.members), _BLOCK):
            block = self.members[start : start + _BLOCK]
            rows, places = np.nonzero(block >= 0)
            if len(rows):
                present, first = np.unique(rows, return_index=True)
                sums = np.add.reduceat(self.history.vectors[block[rows, places]], first, axis=0)
                result[start + present] = sums / self.norms[start + present, None]
        return result

    @property
    def layout(self) -> Layout:
        """All of it, for the retrieving kernel."""
        marks = self.marks
        return Layout(
            members=self.members,
            sizes=self.sizes,
            norms=self.norms,
            costs=self.history.costs,
            vectors=self.whole,
            gram=self.gram,
            entity_starts=marks.starts,
            entities=marks.entities,
            tools=marks.tools,
            entity_count=len(marks.entity_names),
            tool_count=len(marks.tool_names),
        )

    def units_of(self, step: int) -> tuple[Unit, ...]:
        """The units that hold a step."""
        return tuple(u for u in self.units if step in u.members)

    def memberships(self) -> NDArray[np.int64]:
        """How many units hold each step, (n,)."""
        held = self.members[self.members >= 0]
        return np.bincount(held, minlength=len(self.history))


def build_pool(history: Trajectory, config: OsuConfig = OsuConfig()) -> Pool:  # noqa: B008  # frozen
    """The pool of a whole trajectory.

    Order (ours): views, gap split, cap, drop pieces below f_min, prune to M_max by view priority, closeness and name,
    drop what pruning left below f_min, recompute centroids. (A piece of one step would be its step's closest unit,
    and take its only place under M_max = 1.)
    """
    return pruned(history, config, raw_units(history, config))


def pruned(history: Trajectory, config: OsuConfig, raw: RawUnits) -> Pool:
    """The pool that M_max and f_min leave of the raw units of a trajectory."""
    before: NDArray[np.int32] = np.diff(raw.starts)
    owner = np.repeat(np.arange(len(before)), before)
    kept = _kept(raw, owner, config.max_memberships)
    sizes = np.bincount(owner[kept], minlength=len(before))
    alive = sizes >= config.min_size
    kept &= alive[owner]
    steps, shrunk = raw.steps[kept], sizes[alive] < before[alive]
    left: Ints = sizes[alive].astype(np.int32)
    starts = np.zeros(len(left) + 1, dtype=np.int32)
    np.cumsum(left, out=starts[1:])
    row = np.repeat(np.arange(len(left)), left)
    members = np.full((len(left), config.max_size), -1, dtype=np.int32)
    members[row, np.arange(len(steps)) - starts[row]] = steps
    norms = raw.norms[alive]
    if shrunk.any():
        ends = np.zeros(int(shrunk.sum()) + 1, dtype=np.int32)
        np.cumsum(left[shrunk], out=ends[1:])
        norms[shrunk] = kernels().measure(history.whole, steps[shrunk[row]], ends)[0]
    gram = history.gram if len(history) <= config.window else np.zeros((0, 0), dtype=np.float32)
    return Pool(
        history, config, members, left, norms, raw.views[alive], raw.keys[alive], history.marks, history.whole, gram
    )


def _kept(raw: RawUnits, owner: Keys, limit: int) -> NDArray[np.bool_]:
    """The memberships that stand under the cap M_max (section 3.4); the same order as `units.RawUnit.standing`."""
    kept = np.ones(len(owner), dtype=bool)
    contested = np.flatnonzero((np.bincount(raw.steps) > limit)[raw.steps]) if len(owner) else owner
    if len(contested):
        unit, step = owner[contested], raw.steps[contested]
        order = np.lexsort((raw.keys[unit], -raw.pulls[contested], raw.views[unit], step))
        step = step[order]
        first = np.flatnonzero(np.diff(step, prepend=-1))
        place = np.arange(len(step)) - np.repeat(first, np.diff(first, append=len(step)))
        kept[contested[order]] = place < limit
    return kept
