"""The rules by which steps form units: keys, split at gaps, cap, standing (paper, section 3.3 and 3.4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rebind.memory.osu.config import VIEW_PRIORITY, View
from rebind.memory.osu.trajectory import Note

_RANK: dict[View, int] = {view: rank for rank, view in enumerate(VIEW_PRIORITY)}


@dataclass(eq=False)
class RawUnit:
    """A unit before pruning, as it stands."""

    view: View
    key: str
    number: int
    """See `grouping.RawUnits.keys`."""
    members: Sequence[int] = ()
    """Ascending."""
    pull: Sequence[float] | None = None
    """Each member's inner product with the centroid, in member order, once measured."""

    @property
    def rank(self) -> int:
        """Place of the view in `VIEW_PRIORITY`."""
        return _RANK[self.view]

    def standing(self, step: int) -> tuple[int, float, str]:
        """Sort key of a step's memberships, best first: view priority, then closeness to the centroid, then name."""
        assert self.pull is not None, "standing is asked for before the unit is measured"
        return self.rank, -self.pull[self.members.index(step)], self.key


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
