"""The overlapping pool of units of one trajectory, built whole (paper, section 3.3 to 3.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rebind.memory.osu.config import OsuConfig, View
from rebind.memory.osu.kernels import Floats, Ints, kernels
from rebind.memory.osu.trajectory import Marks, Trajectory, Vectors
from rebind.memory.osu.units import Group, RawUnit, geometry, kept, keyed_groups, measure

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
    rows: Sequence[Unit | None]
    members: Ints
    sizes: Ints
    norms: Floats
    marks: Marks
    gram: Vectors
    """(n, n) inner products where the trajectory fits one similarity window, else (0, 0)."""

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


def raw_units(history: Trajectory, config: OsuConfig) -> list[RawUnit]:
    """The units before pruning; M_max is all of `config` that they do not depend on."""
    groups = keyed_groups(history.notes, config)
    if "similarity" in config.views:
        gram = _gram(history, config)
        for start in range(0, len(history), config.window):
            groups.extend(_similar(history.vectors[start : start + config.window], start, config, gram))
    return measure(groups, history.vectors)


def pruned(history: Trajectory, config: OsuConfig, raw: Sequence[RawUnit]) -> Pool:
    """The pool that M_max and f_min leave of the raw units of a trajectory."""
    of: list[list[RawUnit]] = [[] for _ in range(len(history))]
    for unit in raw:
        for step in unit.members:
            of[step].append(unit)
    members: dict[RawUnit, list[int]] = {unit: [] for unit in raw}
    for step, units in enumerate(of):
        for unit in kept(units, step, config.max_memberships):
            members[unit].append(step)
    return _assemble(history, config, members, _gram(history, config))


def _gram(history: Trajectory, config: OsuConfig) -> Vectors:
    """Inner products where the trajectory fits one similarity window, else (0, 0)."""
    return history.gram if len(history) <= config.window else np.zeros((0, 0), dtype=np.float32)


def _similar(vectors: Vectors, start: int, config: OsuConfig, gram: Vectors) -> list[Group]:
    """Communities of the mutual k-NN graph of one window, as units keyed by their first member."""
    if not len(gram):
        gram = vectors @ vectors.T
    values, indices = kernels().nearest(gram, config.neighbours)
    labels = kernels().communities(values, indices, config.edge_percentile, config.max_size)
    groups: dict[int, list[int]] = {}
    for step, label in enumerate(labels.tolist()):
        if label >= 0:
            groups.setdefault(label, []).append(start + step)
    return [("similarity", str(start + label), steps) for label, steps in groups.items()]


def _assemble(history: Trajectory, config: OsuConfig, members: Mapping[RawUnit, Sequence[int]], gram: Vectors) -> Pool:
    """Drops what is below f_min and lays the rest out in rows."""
    final = [(unit, steps) for unit, steps in members.items() if len(steps) >= config.min_size]
    padded = np.full((len(final), config.max_size), -1, dtype=np.int32)
    for row, (_, steps) in enumerate(final):
        padded[row, : len(steps)] = steps
    sizes = np.array([len(steps) for _, steps in final], dtype=np.int32)
    norms = np.array([unit.norm for unit, _ in final], dtype=np.float64)
    shrunk = [row for row, (unit, steps) in enumerate(final) if len(steps) < len(unit.members)]
    norms[shrunk] = geometry([final[row][1] for row in shrunk], history.vectors)[0]
    rows = tuple(Unit(unit.view, unit.key, tuple(steps)) for unit, steps in final)
    return Pool(history, config, rows, padded, sizes, norms, history.marks, gram)
