"""τ-bench as the paper prepares it: matched gold actions, concatenated episodes, queries, augmentation (Stages B to
D)."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebind.errors import UserError
from rebind.eval.bench.osu.cells import shares
from rebind.memory.osu.annotations import Annotated, annotate_messages, token_cost, tool_calls
from rebind.memory.osu.trajectory import Note, Steps, Trajectory, Vectors, join, on_grid, trajectory

RUNS = ("airline-gpt-4o.json.gz", "retail-tool-calling.json.gz")
FAULT_RUNS = ("retail-faults-503.json.gz",)
"""Runs whose calls were made to fail; their cells are counted, but nothing is measured on them."""
Encode = Callable[[Sequence[str]], NDArray[np.float32]]

LEAST_EVIDENCE, MOST_EVIDENCE = 2, 7
"""A query's evidence steps in the cross-tabulation; the upper bound is ours (design: it gives the paper's cells)."""
_LEAST_STEPS = 8
_SHORTEST, _LONGEST = 256, 311
"""Length of a concatenated episode (the paper's resulting cache, Appendix C)."""
_QUERY_NOISE = 0.25
_COPY_NOISE = 0.10
_COPIES = 3
_COPY_GAP = 18
_SEED = 42


class DataError(UserError):
    """Benchmark data that is not where it was said to be, or not what it should be."""


@dataclass(frozen=True, eq=False)
class Source:
    """One recorded run: its steps, and which of them are gold actions."""

    task: str
    steps: tuple[Annotated, ...]
    gold: Steps
    """Steps that match a gold action, ascending."""
    turns: Steps
    """Steps that are the user's words."""
    vectors: NDArray[np.float32]
    """(n, d) as encoded."""

    @property
    def history(self) -> Trajectory:
        costs = [token_cost(step.text) for step in self.steps]
        return trajectory(self.vectors, costs, [step.note for step in self.steps])


@dataclass(frozen=True, eq=False)
class TauQuery:
    """A user turn of the focal run, asked at the end of the episode: which gold actions came before the turn."""

    evidence: Steps
    words: NDArray[np.float32]
    """The user's own words as encoded (d,)."""
    text: str
    """Those words."""
    cell: str
    number: int
    crosstab: bool
    """Whether it is in the cross-tabulation, or only in the wider set of section 6.6."""


@dataclass(frozen=True, eq=False)
class TauEpisode:
    """A focal run among others (Stage C)."""

    name: str
    task: str
    history: Trajectory
    vectors: NDArray[np.float32]
    """(n, d) as encoded, for queries made of evidence."""
    texts: tuple[str, ...]
    queries: tuple[TauQuery, ...]


def load(data: Path, encode: Encode) -> list[Source]:
    """The runs with at least 2 matched gold actions and 8 steps, in file order (Stage B).

    Args:
        data: the folder that holds `runs/`, or `runs` itself.
        encode: texts to vectors; called once.

    Raises:
        DataError: a file is missing or is no list of runs.
    """
    kept = _kept(data, RUNS)
    texts = list(dict.fromkeys(step.text for _, steps, _ in kept for step in steps))
    row = {text: i for i, text in enumerate(texts)}
    encoded = encode(texts)
    return [
        Source(
            task=f"{run['domain']}/{run['task_id']}",
            steps=steps,
            gold=np.array(gold),
            turns=_user_turns(run),
            vectors=encoded[[row[step.text] for step in steps]],
        )
        for run, steps, gold in kept
    ]


def cells_of(data: Path, names: Sequence[str]) -> Counter[str]:
    """How many queries of the cross-tabulation the runs of some files have in each cell; nothing is encoded.

    Raises:
        DataError: a file is missing or is no list of runs.
    """
    return Counter(
        shares([steps[step].note for step in before]).cell
        for run, steps, gold in _kept(data, names)
        for before in (np.array(gold)[np.array(gold) < turn] for turn in _user_turns(run))
        if LEAST_EVIDENCE <= len(before) <= MOST_EVIDENCE
    )


def _kept(data: Path, names: Sequence[str]) -> list[tuple[dict[str, Any], tuple[Annotated, ...], list[int]]]:
    """Runs with their steps and matched gold actions, without those that have too few of either."""
    runs = [run for name in names for run in _read(data, name)]
    parsed = [(run, tuple(annotate_messages(run["traj"])), _matched(run)) for run in runs]
    return [(r, steps, gold) for r, steps, gold in parsed if len(gold) >= LEAST_EVIDENCE and len(steps) >= _LEAST_STEPS]


def _user_turns(run: Mapping[str, Any]) -> Steps:
    return np.array([i for i, m in enumerate(_spoken(run)) if m["role"] == "user"])


def _read(data: Path, name: str) -> list[dict[str, Any]]:
    folder = data / "runs" if (data / "runs").is_dir() else data
    path = folder / name
    if not path.is_file():
        raise DataError(f"{path} is missing: give the folder of the τ-bench data that holds runs/{name}")
    try:
        with gzip.open(path, "rt", encoding="utf-8") as handle:
            runs = json.load(handle)
        return [{**run, "domain": name.split("-", 1)[0]} for run in runs if run["traj"] is not None]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise DataError(f"{path} is no list of τ-bench runs: {error}") from error


def _spoken(run: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [m for m in run["traj"] if m["role"] != "system"]


def _matched(run: Mapping[str, Any]) -> list[int]:
    """Steps whose call equals a gold action by name and arguments; each gold action is matched once, greedily."""
    left = [(action["name"], action["kwargs"]) for action in run["info"]["task"]["actions"]]
    found = []
    for step, message in enumerate(_spoken(run)):
        for call in tool_calls(message):
            if call in left:
                left.remove(call)
                found.append(step)
    return sorted(set(found))


def concatenate(sources: Sequence[Source], context: int = 0) -> list[TauEpisode]:
    """One episode for every run that has a query: the run among others drawn at random, 256 to 311 steps, its place
    drawn too; entities and tools prefixed by source (Stage C; that every run is focal once is ours: it uses all
    queries). Another `context` draws other company; the benchmark's tables are of context 0."""
    rng = np.random.default_rng([_SEED, context] if context else _SEED)
    episodes = []
    for number in rng.permutation(len(sources)).tolist():
        asked = list(_turns(sources[number]))
        if asked:
            episodes.append(_episode(number, sources, asked, rng))
    return episodes


def _turns(source: Source) -> Iterator[tuple[int, Steps]]:
    """User turns with at least two gold actions before them, and those actions."""
    for turn in source.turns.tolist():
        before = source.gold[source.gold < turn]
        if len(before) >= LEAST_EVIDENCE:
            yield turn, before


def _episode(
    focal: int, sources: Sequence[Source], asked: Sequence[tuple[int, Steps]], rng: np.random.Generator
) -> TauEpisode:
    order, length = [focal], len(sources[focal].steps)
    for other in rng.permutation(len(sources)).tolist():
        if length >= _SHORTEST:
            break
        if other != focal and length + len(sources[other].steps) <= _LONGEST:
            order.append(other)
            length += len(sources[other].steps)
    order.insert(int(rng.integers(len(order))), order.pop(0))
    offset = sum(len(sources[i].steps) for i in order[: order.index(focal)])
    source, history = sources[focal], join([sources[i].history for i in order])
    return TauEpisode(
        name=f"{source.task}#{focal}",
        task=source.task,
        history=history,
        vectors=np.concatenate([sources[i].vectors for i in order]),
        texts=tuple(step.text for i in order for step in sources[i].steps),
        queries=tuple(
            TauQuery(
                evidence=before + offset,
                words=source.vectors[turn],
                text=source.steps[turn].text,
                cell=shares([history.notes[step] for step in before + offset]).cell,
                number=number,
                crosstab=len(before) <= MOST_EVIDENCE,
            )
            for number, (turn, before) in enumerate(asked)
        ),
    )


def noisy_mean(episode: TauEpisode, query: TauQuery, draw: int = 0) -> Vectors:
    """The paper's query: the mean of the evidence's embeddings with noise of σ = .25 per dimension, on the grid."""
    name = [ord(c) for c in episode.name]
    rng = np.random.default_rng([_SEED, draw, query.number, *name])
    mean = episode.vectors[query.evidence].mean(axis=0)
    return on_grid(mean + rng.normal(0.0, _QUERY_NOISE, size=mean.shape))


def verbatim(query: TauQuery) -> Vectors:
    """The user's words at the turn, on the grid."""
    return on_grid(query.words)


def augment(episode: TauEpisode) -> TauEpisode:
    """Stage D: three copies of every evidence step, noise σ = .10 per dimension, same annotations and cost, each at
    least 18 steps after the one before, counted as evidence of the same queries.

    The focal run is too short to hold them 18 apart, so they go into the steps that follow it (ours), and wrap around
    to the steps before it where the episode ends.
    """
    rng = np.random.default_rng([_SEED, *[ord(c) for c in episode.name]])
    n = len(episode.history)
    anchors = np.unique(np.concatenate([q.evidence for q in episode.queries]))
    placed = [
        (int(a + j * (_COPY_GAP + rng.integers(1, 7))) % n, int(a)) for a in anchors for j in range(1, _COPIES + 1)
    ]
    order = sorted([*((step, 0, step) for step in range(n)), *((at, 1, anchor) for at, anchor in placed)])
    origin = np.array([source for _, _, source in order])
    copied = np.array([copy == 1 for _, copy, _ in order])
    vectors = episode.vectors[origin].astype(np.float64)
    vectors[copied] += rng.normal(0.0, _COPY_NOISE, size=(int(copied.sum()), vectors.shape[1]))
    notes: list[Note] = [episode.history.notes[i] for i in origin]
    queries = tuple(replace(q, evidence=np.flatnonzero(np.isin(origin, q.evidence))) for q in episode.queries)
    return replace(
        episode,
        history=trajectory(vectors, episode.history.costs[origin], notes),
        vectors=vectors.astype(np.float32),
        texts=tuple(episode.texts[i] for i in origin),
        queries=tuple(replace(q, cell=shares([notes[step] for step in q.evidence]).cell) for q in queries),
    )
