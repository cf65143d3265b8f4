"""Random annotated trajectories for the tests of OSU-Mem, drawn by hypothesis from a seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from rebind.memory.osu.trajectory import Note, Trajectory, Vectors, on_grid, trajectory

DIMENSIONS = 16


@dataclass(frozen=True, eq=False)
class Made:
    """Raw embeddings and the trajectory made of them, with a query."""

    raw: NDArray[np.float64]
    history: Trajectory
    query: Vectors


def made(seed: int, longest: int = 120) -> Made:
    """A trajectory with themes, repeated entities and tools, and one step in five a copy of another."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, longest + 1))
    themes = rng.normal(size=(max(2, n // 6), DIMENSIONS))
    raw = themes[rng.integers(len(themes), size=n)] + rng.normal(size=(n, DIMENSIONS))
    copies = rng.random(n) < 0.2
    raw[copies] = raw[rng.integers(n, size=int(copies.sum()))]
    entities, most, tools, stretch = (int(rng.integers(1, high)) for high in (20, 9, 6, 30))
    notes = [
        Note(
            tuple(f"e{rng.integers(entities)}" for _ in range(rng.integers(most))),
            None if rng.random() < 0.2 else f"t{rng.integers(tools)}",
            None if rng.random() < 0.1 else step // stretch,
        )
        for step in range(n)
    ]
    history = trajectory(raw, rng.integers(5, 41, size=n), notes)
    return Made(raw, history, on_grid(rng.normal(size=DIMENSIONS)))


histories = st.integers(0, 2**32 - 1).map(made)
