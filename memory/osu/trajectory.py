"""What a memory holds: steps with their embedding, token cost and annotation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rebind.errors import UserError

Vectors = NDArray[np.float32]
Whole = NDArray[np.int16]
"""Vectors on the grid as whole numbers: half the memory, and the compiled loops multiply them twice as fast."""
Steps = NDArray[np.int64]

GRID = 4000
"""Embeddings are held as whole multiples of 1/4000. Every inner product of two of them is then a whole number below
2²⁴, which float32 sums exactly in any order: appending gives bit for bit what rebuilding gives, and numba, numpy and
every BLAS agree. A cosine moves by about 2e-4."""


class TrajectoryError(UserError):
    """Embeddings, costs and annotations that do not fit together."""


@dataclass(frozen=True)
class Note:
    """The annotation of one step (paper, section 3.3)."""

    entities: tuple[str, ...] = ()
    tool: str | None = None
    subgoal: int | None = None


@dataclass(frozen=True, eq=False)
class Marks:
    """Entities and tools as numbers: `entities[starts[i]:starts[i + 1]]` are step i's, `tools[i]` is its tool or -1."""

    starts: NDArray[np.int32]
    entities: NDArray[np.int32]
    tools: NDArray[np.int32]
    entity_names: Sequence[str]
    """What each number stands for."""
    tool_names: Sequence[str]


@dataclass(frozen=True, eq=False)
class Trajectory:
    """An interaction history H_t. `vectors` is (n, d) on the grid, `costs` (n,) tokens, `notes` n annotations."""

    vectors: Vectors
    costs: NDArray[np.int64]
    notes: Sequence[Note]

    def __len__(self) -> int:
        return len(self.notes)

    @cached_property
    def marks(self) -> Marks:
        """Numbers for the entities and tools of the annotations, in order of name."""
        held = [e if len(e) < 2 else tuple(dict.fromkeys(e)) for e in (note.entities for note in self.notes)]
        named = list(chain.from_iterable(held))
        tools = [note.tool for note in self.notes]
        entity_names, tool_names = sorted(set(named)), sorted({tool for tool in tools if tool is not None})
        entity_number = dict(zip(entity_names, count()))
        tool_number: dict[str | None, int] = {**dict(zip(tool_names, count())), None: -1}
        starts = np.zeros(len(held) + 1, dtype=np.int32)
        np.cumsum(np.fromiter(map(len, held), np.int32, len(held)), out=starts[1:])
        return Marks(
            starts,
            np.fromiter(map(entity_number.__getitem__, named), np.int32, len(named)),
            np.fromiter(map(tool_number.__getitem__, tools), np.int32, len(tools)),
            entity_names,
            tool_names,
        )

    @cached_property
    def whole(self) -> Whole:
        """(n, d) `vectors` as whole numbers."""
        return self.vectors.astype(np.int16)

    @cached_property
    def gram(self) -> Vectors:
        """(n, n) inner products."""
        products: Vectors = self.vectors @ self.vectors.T
        return products

    def before(self, step: int) -> Trajectory:
        """The history at the time of that step: all steps before it."""
        return Trajectory(self.vectors[:step], self.costs[:step], self.notes[:step])


def trajectory(embeddings: ArrayLike, costs: Sequence[int] | NDArray[np.int64], notes: Sequence[Note]) -> Trajectory:
    """A trajectory from raw embeddings (n, d), which are normalised and put on the grid.

    Raises:
        TrajectoryError: lengths differ, a cost is not positive, or an embedding has no direction.
    """
    vectors = on_grid(embeddings)
    priced = np.asarray(costs, dtype=np.int64)
    if vectors.ndim != 2 or not len(vectors) == len(priced) == len(notes):
        raise TrajectoryError(
            f"{len(vectors)} embeddings, {len(priced)} costs and {len(notes)} notes: one of each a step"
        )
    if (priced <= 0).any():
        raise TrajectoryError(f"step {int(np.argmax(priced <= 0))} costs {priced.min()} tokens; a cost is at least 1")
    return Trajectory(vectors, priced, tuple(notes))


def on_grid(embeddings: ArrayLike) -> Vectors:
    """Embeddings of length 1, as whole multiples of 1/`GRID` (the numbers stored are the multiples).

    Raises:
        TrajectoryError: an embedding is zero or not finite.
    """
    raw = np.asarray(embeddings, dtype=np.float64)
    if raw.ndim == 1:  # the same sum, far faster on numbers than on arrays of one
        norms: float | NDArray[np.float64] = math.sqrt(np.add.reduce(raw * raw))
        directed = 0.0 < norms < np.inf
    else:
        norms = np.sqrt(np.add.reduce(raw * raw, axis=-1, keepdims=True))
        directed = bool(((norms > 0.0) & (norms < np.inf)).all())
    if not directed:
        raise TrajectoryError("an embedding is zero or not finite, so it has no direction")
    multiples = raw * (GRID / norms)
    return np.rint(multiples, out=multiples).astype(np.float32)


def similarities(vectors: Vectors, query: Vectors) -> NDArray[np.float64]:
    """Cosines of steps (n, d) with a query (d,), both on the grid."""
    products: NDArray[np.float32] = vectors @ query
    return products.astype(np.float64) / GRID**2


def join(sources: Sequence[Trajectory]) -> Trajectory:
    """One trajectory from several, in order. Every entity and tool is prefixed with its source's place ("src2:user"),
    and subgoals are renumbered, so that no unit bridges two sources (paper, Appendix C: without this, generic strings
    do).
    """
    notes: list[Note] = []
    first_subgoal = 0
    for place, source in enumerate(sources):
        notes.extend(_prefixed(note, f"src{place}:", first_subgoal) for note in source.notes)
        first_subgoal += 1 + max((note.subgoal for note in source.notes if note.subgoal is not None), default=-1)
    return Trajectory(
        np.concatenate([s.vectors for s in sources]), np.concatenate([s.costs for s in sources]), tuple(notes)
    )


def _prefixed(note: Note, prefix: str, first_subgoal: int) -> Note:
    return Note(
        entities=tuple(prefix + entity for entity in note.entities),
        tool=None if note.tool is None else prefix + note.tool,
        subgoal=None if note.subgoal is None else first_subgoal + note.subgoal,
    )
