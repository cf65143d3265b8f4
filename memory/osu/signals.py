"""What can be seen of a query without its evidence: similarities, annotations, units, and what both retrievals picked.

Everything that seemed to bear on the choice is here; nothing was selected by a result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rebind.memory.osu.config import VIEW_PRIORITY
from rebind.memory.osu.kernels import Floats
from rebind.memory.osu.pool import Pool
from rebind.memory.osu.retrieve import Expanded
from rebind.memory.osu.trajectory import GRID, Note, Steps, Vectors, similarities

_BEST = 6
"""How many tool calls are looked at pairwise."""
_TEMPERATURE = 0.05
"""Of the softmax over cosines that weighs steps by how likely they are wanted."""
_FAR = 100
"""Distance in steps from which two steps count as wholly apart."""

_SETS = ("all", "overlap", "flat")
_PAIRS = ("tool", "entity", "distance", "subgoal")
FEATURES: tuple[str, ...] = (
    *("similarity of calls", "calls over other steps", "lead of the best step"),
    *(f"{pair} shared by best calls of {which}" for which in _SETS for pair in _PAIRS),
    *(f"weight of {kind} picked by {which}" for kind in ("steps", "calls") for which in ("overlap", "flat")),
    *(f"{what} of {which}" for what in ("share of calls", "similarity of calls") for which in ("overlap", "flat")),
    *(f"{what} of {which}" for what in ("bound by entity", "commonest tool") for which in ("overlap", "flat")),
    *("picks in common", "calls only overlap picks", "calls only flat picks"),
    *("similarity of what only overlap picks", "similarity of what only flat picks"),
    *(f"best {view} unit over best step" for view in VIEW_PRIORITY),
    *(f"second step of best {view} unit" for view in ("entity", "tool")),
    *(f"{view} units with two of the best calls" for view in ("entity", "tool")),
    *(f"opened {view} units" for view in VIEW_PRIORITY),
    *("memberships of best calls", "memberships of flat's picks"),
    *("spread of overlap", "spread of flat", "steps of overlap over flat"),
)


@dataclass(frozen=True, eq=False)
class _Scene:
    """One query against one pool."""

    pool: Pool
    sims: Floats
    overlap: Expanded
    flat: Steps

    @property
    def notes(self) -> Sequence[Note]:
        return self.pool.history.notes

    @cached_property
    def is_call(self) -> NDArray[np.bool_]:
        return self.pool.history.marks.tools >= 0

    @cached_property
    def order(self) -> Steps:
        return np.argsort(-self.sims, kind="stable")

    @cached_property
    def weight(self) -> Floats:
        """Softmax of the cosines."""
        raised = np.exp((self.sims - self.sims.max()) / _TEMPERATURE)
        weights: Floats = raised / raised.sum()
        return weights

    def calls(self, steps: Steps) -> Steps:
        """The tool calls among the steps."""
        return steps[self.is_call[steps]]


def features(pool: Pool, query: Vectors, overlap: Expanded, flat: Steps) -> Floats:
    """The numbers of `FEATURES` for one query (d,) on the grid. Reads no evidence."""
    if not len(pool.history):
        return np.zeros(len(FEATURES))
    scene = _Scene(pool, similarities(pool.history.vectors, query), overlap, flat)
    picked = (overlap.steps, flat)
    calls = scene.calls(scene.order)
    return np.array(
        [
            *_scores(scene, calls),
            *(value for steps in (calls, *map(scene.calls, picked)) for value in _pairs(scene, steps[:_BEST])),
            *(scene.weight[steps].sum() for steps in picked),
            *(scene.weight[scene.calls(steps)].sum() / max(scene.weight[calls].sum(), 1e-9) for steps in picked),
            *(_mean(scene.is_call[steps]) for steps in picked),
            *(scene.sims[scene.calls(steps)].sum() for steps in picked),
            *(_bound(scene, steps) for steps in picked),
            *(_commonest(scene, steps) for steps in picked),
            *_differences(scene),
            *_units(scene, calls),
            *(pool.memberships()[steps].mean() if len(steps) else 0.0 for steps in (calls[:4], flat)),
            *(float(np.std(steps)) / len(pool.history) if len(steps) else 0.0 for steps in picked),
            len(overlap.steps) / max(1, len(flat)),
        ],
        dtype=np.float64,
    )


def _mean(values: NDArray[np.bool_] | Floats) -> float:
    return float(values.mean()) if len(values) else 0.0


def _scores(scene: _Scene, calls: Steps) -> list[float]:
    other = scene.order[~scene.is_call[scene.order]]
    sims = scene.sims
    apart = float(sims[calls[:2]].mean() - sims[other[:2]].mean()) if len(calls) and len(other) else 0.0
    return [_mean(sims[calls[:_BEST]]), apart, float(sims[scene.order[0]] - sims[scene.order[:5][-1]])]


def _pairs(scene: _Scene, steps: Steps) -> list[float]:
    """Over pairs of steps, weighted by the product of their weights: share with one tool, share with a common entity,
    mean distance, share with one subgoal."""
    if len(steps) < 2:
        return [0.0, 0.0, 1.0, 0.0]
    notes = [scene.notes[i] for i in steps.tolist()]
    one, other = np.triu_indices(len(steps), 1)
    weight = scene.weight[steps[one]] * scene.weight[steps[other]]
    pairs = list(zip(one.tolist(), other.tolist(), strict=True))
    values = np.array(
        [
            [
                notes[i].tool == notes[j].tool,
                not set(notes[i].entities).isdisjoint(notes[j].entities),
                min(abs(int(steps[i] - steps[j])), _FAR) / _FAR,
                notes[i].subgoal is not None and notes[i].subgoal == notes[j].subgoal,
            ]
            for i, j in pairs
        ],
        dtype=np.float64,
    )
    shares: list[float] = (weight @ values / weight.sum()).tolist()
    return shares


def _bound(scene: _Scene, steps: Steps) -> float:
    """Share of steps that have an entity in common with another of them."""
    held = [set(scene.notes[i].entities) for i in steps.tolist()]
    count = Counter(entity for entities in held for entity in entities)
    return sum(any(count[e] > 1 for e in entities) for entities in held) / max(1, len(held))


def _commonest(scene: _Scene, steps: Steps) -> float:
    """Share of steps that use the tool most of them use."""
    count = Counter(scene.pool.history.marks.tools[scene.calls(steps)].tolist())
    return max(count.values(), default=0) / max(1, len(steps))


def _differences(scene: _Scene) -> list[float]:
    overlap, flat = scene.overlap.steps, scene.flat
    only = (np.setdiff1d(overlap, flat), np.setdiff1d(flat, overlap))
    return [
        len(np.intersect1d(overlap, flat)) / max(1, len(flat)),
        *(_mean(scene.is_call[steps]) for steps in only),
        *(_mean(scene.sims[steps]) for steps in only),
    ]


def _units(scene: _Scene, calls: Steps) -> list[float]:
    """Relevance of the best unit of each view; how well entity and tool units hold two steps; what was opened."""
    pool, sims = scene.pool, scene.sims
    present = pool.members >= 0
    inside = np.where(present, np.append(sims, 0.0)[pool.members], 0.0)
    relevance = np.where(pool.sizes > 0, inside.sum(axis=1) * GRID / pool.norms, -np.inf)
    view = np.where(pool.sizes > 0, np.array(VIEW_PRIORITY)[pool.views], "")
    top = float(sims[scene.order[0]])
    second_best = float(sims[scene.order[:2][-1]])
    second = np.sort(np.where(present, inside, -np.inf), axis=1)[:, -2]
    held = np.isin(pool.members, calls[:8]).sum(axis=1)
    opened = view[scene.overlap.units]
    return [
        *(float(relevance[view == v].max()) - top if (view == v).any() else -1.0 for v in VIEW_PRIORITY),
        *(float(second[view == v].max()) - second_best if (view == v).any() else -1.0 for v in ("entity", "tool")),
        *(float((held[view == v] >= 2).sum()) for v in ("entity", "tool")),
        *(float((opened == v).mean()) if len(opened) else 0.0 for v in VIEW_PRIORITY),
    ]
