"""Units before pruning: steps grouped by entity, tool and subgoal, split at gaps and capped (paper, section 3.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain

import numpy as np

from rebind.memory.osu.config import VIEW_PRIORITY, OsuConfig, View
from rebind.memory.osu.kernels import Floats, kernels
from rebind.memory.osu.trajectory import Note, Vectors

Group = tuple[View, str, Sequence[int]]
"""View, key and ascending members of a unit to be."""

_RANK: dict[View, int] = {view: rank for rank, view in enumerate(VIEW_PRIORITY)}


@dataclass(eq=False)
class RawUnit:
    """A unit before pruning."""

    view: View
    key: str
    members: tuple[int, ...]
    norm: float
    """Length of the sum of the members' vectors, on the grid."""
    pull: Sequence[float]
    """Each member's inner product with the centroid, in member order."""

    def standing(self, step: int) -> tuple[int, float, str]:
        """Sort key of a step's memberships, best first: view priority, then closeness to the centroid, then name."""
        return _RANK[self.view], -self.pull[self.members.index(step)], self.key


def keys(note: Note, views: Sequence[View]) -> Iterator[tuple[View, str]]:
    """The annotation-keyed groups that a step belongs to; each once."""
    if "entity" in views:
        yield from (("entity", entity) for entity in dict.fromkeys(note.entities))  # pyright: ignore[reportReturnType]  # literal
    if "tool" in views and note.tool is not None:
        yield "tool", note.tool
    if "subgoal" in views and note.subgoal is not None:
        yield "subgoal", str(note.subgoal)


def segments(steps: Sequence[int], gap: int) -> Iterator[list[int]]:
    """Runs of ascending steps in which no two neighbours are more than `gap` apart."""
    run: list[int] = []
    for step in steps:
        if run and step - run[-1] > gap:
            yield run
            run = []
        run.append(step)
    if run:
        yield run


def chunks(run: Sequence[int], cap: int) -> Iterator[Sequence[int]]:
    """Pieces of a run, each of at most `cap` members.

    Full pieces come first and the last 2 · `cap` members at most are split evenly (ours): up to there this is the even
    split into ⌈n/cap⌉, and beyond it appending a member never moves the border of an earlier piece.
    """
    start = 0
    while len(run) - start > 2 * cap:
        yield run[start : start + cap]
        start += cap
    rest = run[start:]
    if len(rest) <= cap:
        yield rest
    else:
        half = (len(rest) + 1) // 2
        yield rest[:half]
        yield rest[half:]


def keyed_groups(notes: Sequence[Note], config: OsuConfig) -> list[Group]:
    """All units of the annotation-keyed views, without those below f_min."""
    steps_of: dict[tuple[View, str], list[int]] = {}
    for step, note in enumerate(notes):
        for key in keys(note, config.views):
            steps_of.setdefault(key, []).append(step)
    return [
        (view, key, piece)
        for (view, key), steps in steps_of.items()
        for run in segments(steps, config.gap(view))
        for piece in chunks(run, config.max_size)
        if len(piece) >= config.min_size
    ]


def measure(groups: Sequence[Group], vectors: Vectors) -> list[RawUnit]:
    """The groups with their geometry."""
    if not groups:
        return []
    members = [tuple(steps) for _, _, steps in groups]
    norms, pulls = geometry(members, vectors)
    units, at, pull = [], 0, pulls.tolist()
    for (view, key, _), steps, norm in zip(groups, members, norms.tolist(), strict=True):
        units.append(RawUnit(view, key, steps, norm, pull[at : at + len(steps)]))
        at += len(steps)
    return units


def geometry(members: Sequence[Sequence[int]], vectors: Vectors) -> tuple[Floats, Floats]:
    """`Kernels.measure` over lists of members, none of them empty."""
    starts = np.fromiter(accumulate(map(len, members), initial=0), dtype=np.int32, count=len(members) + 1)
    flat = np.fromiter(chain.from_iterable(members), dtype=np.int32, count=int(starts[-1]))
    return kernels().measure(vectors, flat, starts)


def kept(units: Sequence[RawUnit], step: int, limit: int) -> Sequence[RawUnit]:
    """The memberships of one step that stand under the cap M_max (section 3.4)."""
    return units if len(units) <= limit else sorted(units, key=lambda unit: unit.standing(step))[:limit]
