"""Units of a whole trajectory before pruning, as arrays (paper, section 3.3); `units.py` has the rules one by one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rebind.memory.osu.config import VIEW_PRIORITY, OsuConfig, View
from rebind.memory.osu.kernels import Floats, Ints, kernels
from rebind.memory.osu.nearest import labelled
from rebind.memory.osu.trajectory import Trajectory

Keys = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RawUnits:
    """Unit u holds `steps[starts[u]:starts[u + 1]]`, ascending, and is called `keys[u]` in view `views[u]`."""

    views: NDArray[np.int8]
    """Places in `VIEW_PRIORITY`."""
    keys: Keys
    """Number of the entity or tool, the subgoal, or the first member of a community. A trajectory's entities are
    numbered by name."""
    starts: Ints
    steps: Ints
    norms: Floats
    pulls: Floats
    """Each member's inner product with the centroid, on the grid."""


@dataclass(frozen=True, eq=False)
class _Pieces:
    """Units of some views, without geometry."""

    views: NDArray[np.int8]
    keys: Keys
    sizes: Keys
    steps: Keys


def raw_units(history: Trajectory, config: OsuConfig) -> RawUnits:
    """The units before pruning; M_max is all of `config` that they do not depend on."""
    parts = [_keyed(history, config)]
    if "similarity" in config.views:
        parts.append(_similar(history, config))
    views = np.concatenate([p.views for p in parts])
    keys = np.concatenate([p.keys for p in parts])
    steps = np.concatenate([p.steps for p in parts]).astype(np.int32)
    starts = np.zeros(len(keys) + 1, dtype=np.int32)
    np.cumsum(np.concatenate([p.sizes for p in parts]), out=starts[1:])
    return RawUnits(views, keys, starts, steps, *kernels().measure(history.whole, steps, starts))


def _keyed(history: Trajectory, config: OsuConfig) -> _Pieces:
    """All units of the annotation-keyed views, without those below f_min: see `units.segments` and `units.chunks`."""
    view, key, step = _memberships(history, config)
    cap, gaps = config.max_size, np.array([0 if v == "similarity" else config.gap(v) for v in VIEW_PRIORITY])
    apart = np.ones(len(step), dtype=bool)  # where a run begins
    apart[1:] = (key[1:] != key[:-1]) | (view[1:] != view[:-1]) | (step[1:] - step[:-1] > gaps[view[1:]])
    begins = np.flatnonzero(apart)
    lengths = np.diff(begins, append=len(step))
    full = np.maximum(0, -(-lengths // cap) - 2)  # pieces of `cap` members before the last 2 · cap
    rest = lengths - full * cap
    tail = np.where(rest > cap, (rest + 1) // 2, rest)  # members of the piece behind the full ones
    run = np.cumsum(apart) - 1
    place = np.arange(len(step)) - begins[run]
    border = full[run] * cap
    starts_piece = np.where(place < border, place % cap == 0, (place == border) | (place == border + tail[run]))
    starts = np.flatnonzero(starts_piece)
    sizes = np.diff(starts, append=len(step))
    large = sizes >= config.min_size
    return _Pieces(view[starts[large]], key[starts[large]], sizes[large], step[np.repeat(large, sizes)])


def _memberships(history: Trajectory, config: OsuConfig) -> tuple[NDArray[np.int8], Keys, Keys]:
    """View, key and step of every membership in an annotation-keyed group, sorted by them in this order."""
    n, marks = len(history), history.marks
    every = np.arange(n)
    found: dict[View, tuple[NDArray[np.int32] | Keys, Keys]] = {
        "entity": (marks.entities, np.repeat(every, np.diff(marks.starts))),
        "tool": (marks.tools[marks.tools >= 0], every[marks.tools >= 0]),
    }
    if "subgoal" in config.views:
        held = [(note.subgoal, step) for step, note in enumerate(history.notes) if note.subgoal is not None]
        subgoals = np.array(held, dtype=np.int64).reshape(-1, 2)
        found["subgoal"] = (subgoals[:, 0], subgoals[:, 1])
    views, keys, steps = [np.empty(0, dtype=np.int8)], [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for rank, view in enumerate(VIEW_PRIORITY):
        if view in found and view in config.views:
            key, step = found[view]
            order = np.argsort(key, kind="stable")
            views.append(np.full(len(key), rank, dtype=np.int8))
            keys.append(key[order].astype(np.int64))
            steps.append(step[order])
    return np.concatenate(views), np.concatenate(keys), np.concatenate(steps)


def _similar(history: Trajectory, config: OsuConfig) -> _Pieces:
    """Communities of the mutual k-NN graph of each window, named by their first member."""
    labels = np.full(len(history), -1, dtype=np.int64)
    for start in range(0, len(history), config.window):
        window = history.vectors[start : start + config.window]
        gram = history.gram if len(history) <= config.window else window @ window.T
        found = labelled(gram, config)
        labels[start : start + len(window)] = np.where(found >= 0, found + start, -1)
    steps = np.argsort(labels, kind="stable")
    steps = steps[np.searchsorted(labels[steps], 0) :]
    keys, sizes = np.unique(labels[steps], return_counts=True)
    rank = VIEW_PRIORITY.index("similarity")
    return _Pieces(np.full(len(keys), rank, dtype=np.int8), keys, sizes, steps)
