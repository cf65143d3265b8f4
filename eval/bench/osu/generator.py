"""The synthetic benchmark's episodes (paper, sections 3.2 and 5.1): embeddings from basis vectors, evidence by
event."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rebind.memory.osu.trajectory import Note, Trajectory, Vectors, on_grid, trajectory

DIMENSIONS = 64
_TRIES = 200
"""How often a place for an event is sought; its number of bursts stays, so that long events are not thinned out."""


@dataclass(frozen=True)
class World:
    """One configuration of the generator. The first group is the paper's text, the second what it leaves open.

    Steps are counted in steps of the episode; probabilities and rates are in [0, 1].
    """

    episodes: int = 200
    shortest: int = 150
    longest: int = 296
    event_noise: float = 0.55
    """Standard deviation per dimension, like the two below."""
    background_noise: float = 0.45
    query_noise: float = 0.25
    random_tool: float = 0.20
    """Share of event steps that draw a random tool."""

    actions: int = 5
    templates: int = 3
    events: float = 4.55
    """Mean of the Poisson number of events, one query each."""
    third_burst: float = 0.5
    """Probability that an event has three bursts rather than two; one evidence step a burst."""
    burst_length: int = 4
    """L: event steps in a row."""
    burst_gap: int = 18
    """Least distance between the evidence steps of one event."""
    least_age: int = 10
    """Least distance of the last evidence step from the query."""
    mean_age: float = 20.0
    """Mean of what the last evidence step's distance has beyond that."""
    query_from: float = 0.75
    """Queries come after this share of the episode."""
    entities: int = 12
    background_entity: float = 0.2
    """Rate of background steps that carry an entity annotation; their embedding has the factor in any case."""
    subgoals: int = 8
    segment: tuple[int, int] = (8, 16)
    """Length of a run of background steps with one subgoal, both ends included."""


@dataclass(frozen=True, eq=False)
class Query:
    """A question at a time of an episode: which earlier steps are its evidence."""

    at: int
    vector: Vectors
    evidence: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Episode:
    history: Trajectory
    queries: tuple[Query, ...]


@lru_cache(maxsize=4096)
def basis(kind: str, number: int) -> NDArray[np.float64]:
    """The deterministic basis vector of a factor (64 dimensions, length 1)."""
    seed = [ord(c) for c in kind] + [number]
    vector = np.random.default_rng(seed).normal(size=DIMENSIONS)
    unit: NDArray[np.float64] = vector / np.linalg.norm(vector)
    return unit


def episodes(world: World, seed: int) -> Iterator[Episode]:
    """All episodes of a seed; each depends on the seed and its own number alone."""
    for number in range(world.episodes):
        yield _Maker(world, np.random.default_rng([seed, number]), number).make()


@dataclass(frozen=True)
class _Event:
    factor: int
    entity: int
    subgoal: int
    action: int
    bursts: tuple[int, ...]
    """First step of each burst."""
    evidence: tuple[int, ...]
    at: int


class _Maker:
    def __init__(self, world: World, rng: np.random.Generator, number: int) -> None:
        self._world = world
        self._rng = rng
        self._number = number
        self._length = int(rng.integers(world.shortest, world.longest + 1))
        self._owner = np.full(self._length, -1)
        """Which event a step belongs to."""

    def make(self) -> Episode:
        events = self._events()
        vectors, notes = self._background()
        for event in events:
            for start in event.bursts:
                for step in range(start, start + self._world.burst_length):
                    vectors[step], notes[step] = self._event_step(event)
        costs = np.maximum(5, np.rint(self._rng.normal(15.0, 3.0, size=self._length))).astype(np.int64)
        queries = tuple(Query(e.at, on_grid(self._query(e)), np.array(e.evidence)) for e in events)
        return Episode(trajectory(vectors, costs, notes), queries)

    def _events(self) -> list[_Event]:
        world, rng = self._world, self._rng
        events: list[_Event] = []
        for _ in range(rng.poisson(world.events)):
            placed = self._place()
            if placed is None:
                continue
            bursts, evidence, at = placed
            for start in bursts:
                self._owner[start : start + world.burst_length] = len(events)
            events.append(
                _Event(
                    factor=self._number * 64 + len(events),
                    entity=int(rng.integers(world.entities)),
                    subgoal=int(rng.integers(world.subgoals)),
                    action=int(rng.integers(world.actions)),
                    bursts=tuple(bursts),
                    evidence=tuple(evidence),
                    at=at,
                )
            )
        return events

    def _place(self) -> tuple[list[int], list[int], int] | None:
        """Bursts, evidence and query time of one event, free of other events' bursts; None where no place was found."""
        world, rng = self._world, self._rng
        earlier = 1 + int(rng.random() < world.third_burst)
        for _ in range(_TRIES):
            at = int(rng.integers(int(world.query_from * self._length), self._length))
            last = at - world.least_age - int(rng.exponential(world.mean_age))
            evidence = sorted([last, *rng.integers(0, max(last, 1), size=earlier).tolist()])
            offsets = rng.integers(world.burst_length, size=len(evidence))
            bursts = [e - int(o) for e, o in zip(evidence, offsets, strict=True)]
            apart = min(b - a for a, b in pairwise(evidence)) >= world.burst_gap
            if apart and bursts[0] >= 0 and bursts[-1] + world.burst_length <= at and self._free(bursts):
                return bursts, evidence, at
        return None

    def _free(self, bursts: list[int]) -> bool:
        return all((self._owner[start : start + self._world.burst_length] < 0).all() for start in bursts)

    def _background(self) -> tuple[NDArray[np.float64], list[Note]]:
        world, rng, n = self._world, self._rng, self._length
        vectors, notes = np.empty((n, DIMENSIONS)), []
        subgoal, left = 0, 0
        for step in range(n):
            if left == 0:
                subgoal, left = (
                    int(rng.integers(world.subgoals)),
                    int(rng.integers(world.segment[0], world.segment[1] + 1)),
                )
            left -= 1
            entity, action = int(rng.integers(world.entities)), int(rng.integers(world.actions))
            mean = 0.35 * basis("entity", entity) + 0.35 * basis("tool", action) + 0.30 * basis("subgoal", subgoal)
            vectors[step] = mean + rng.normal(0.0, world.background_noise, size=DIMENSIONS)
            named = (f"entity{entity}",) if rng.random() < world.background_entity else ()
            notes.append(Note(named, self._signature(action), subgoal))
        return vectors, notes

    def _event_step(self, event: _Event) -> tuple[NDArray[np.float64], Note]:
        world, rng = self._world, self._rng
        action = int(rng.integers(world.actions)) if rng.random() < world.random_tool else event.action
        mean = 0.55 * basis("event", event.factor) + 0.20 * basis("entity", event.entity)
        mean = mean + 0.15 * basis("tool", action) + 0.10 * basis("subgoal", event.subgoal)
        vector = mean + rng.normal(0.0, world.event_noise, size=DIMENSIONS)
        return vector, Note((f"entity{event.entity}",), self._signature(action), event.subgoal)

    def _query(self, event: _Event) -> NDArray[np.float64]:
        mean = 0.70 * basis("event", event.factor) + 0.15 * basis("entity", event.entity)
        mean = mean + 0.10 * basis("tool", event.action) + 0.05 * basis("subgoal", event.subgoal)
        return mean + self._rng.normal(0.0, self._world.query_noise, size=DIMENSIONS)

    def _signature(self, action: int) -> str:
        return f"tool{action}#{int(self._rng.integers(self._world.templates))}"
