"""ToolBench trajectories and the planted-retrieval episodes made of them (paper, Appendix G.1)."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebind.eval.bench.osu.cells import shares
from rebind.eval.bench.osu.tau_data import DataError, Encode
from rebind.memory.osu.annotations import Annotated, annotate_toolbench, token_cost
from rebind.memory.osu.trajectory import Steps, Trajectory, Vectors, on_grid, trajectory

_ANSWERS = "data_example/answer"
_TRACES = "toolbench/tooleval/results/default_evalset/gpt-3.5-turbo_CoT"
_SPLITS = ("G1", "G2")
_CLOSING = "Finish"
"""The harness's own call that ends a run; it is no API."""

BACKGROUND = 500
_CONFOUNDERS = 0.75
_NEIGHBOURS = 30


@dataclass(frozen=True, eq=False)
class Run:
    """One trajectory: its query and its function calls."""

    split: str
    query: str
    steps: tuple[Annotated, ...]
    truncated: bool
    """Whether its messages are cut at 100 characters upstream."""


@dataclass(frozen=True, eq=False)
class Library:
    """All runs, encoded."""

    runs: tuple[Run, ...]
    queries: NDArray[np.float32]
    """(runs, d)"""
    steps: tuple[NDArray[np.float32], ...]
    """Per run (n, d)."""


@dataclass(frozen=True, eq=False)
class Planted:
    """One episode: evidence of one run among the steps of others."""

    name: str
    history: Trajectory
    query: Vectors
    evidence: Steps
    cell: str


def load(data: Path, encode: Encode) -> Library:
    """The G1 and G2 trajectories: full answers, and the evaluation traces.

    Raises:
        DataError: a folder is missing or a file is not as it should be.
    """
    runs = [run for run in (*_answers(data / _ANSWERS), *_traces(data / _TRACES)) if run.steps]
    texts = list(dict.fromkeys([*(run.query for run in runs), *(step.text for run in runs for step in run.steps)]))
    row = {text: i for i, text in enumerate(texts)}
    vectors = encode(texts)
    return Library(
        runs=tuple(runs),
        queries=vectors[[row[run.query] for run in runs]],
        steps=tuple(vectors[[row[step.text] for step in run.steps]] for run in runs),
    )


def _answers(folder: Path) -> Iterator[Run]:
    for path in _files(folder, "G?_answer/*.json.gz"):
        answer = _json(path)["answer_generation"]
        chain: list[Any] = max(
            answer.get("train_messages", []), key=len, default=[]
        )  # absent where no branch came to an answer
        calls = [m for m in chain if m.get("function_call", {}).get("name") != _CLOSING]
        yield Run(path.parent.name[:2], answer["query"], tuple(annotate_toolbench(calls)), truncated=False)


def _traces(folder: Path) -> Iterator[Run]:
    for path in _files(folder, "G?_*.json.gz"):
        for trace in _json(path).values():
            chain = list(map(_message, _longest(trace["answer"]["answer_details"])))
            yield Run(path.name[:2], trace["query"], tuple(annotate_toolbench(chain)), truncated=True)


def _files(folder: Path, pattern: str) -> list[Path]:
    found = [p for p in sorted(folder.glob(pattern)) if any(s in (p.parent.name[:2], p.name[:2]) for s in _SPLITS)]
    if not found:
        raise DataError(f"{folder} has no {pattern}: give the ToolBench folder that holds {_ANSWERS} and {_TRACES}")
    return found


def _json(path: Path) -> Any:
    try:
        with gzip.open(path, "rt", encoding="utf-8") as handle:
            return json.load(handle)
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read: {error}") from error


def _longest(nodes: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The longest path from a root of the answer tree."""
    paths = [[node, *_longest(node["next"])] for node in nodes]
    return max(paths, key=len, default=[])


def _message(node: Mapping[str, Any]) -> dict[str, Any]:
    """A trace's node as a chat message. Tool nodes hold the call as cut text; arguments that are whole are kept."""
    if node["role"] != "tool":
        return {"role": node["role"], "content": node["message"]}
    name = re.match(r"\{'name': '([^']+)'", node["message"])
    if name is None or name[1] == _CLOSING:
        return {"role": "tool"}
    rest = node["message"][name.end() :].split("'response':", 1)[0].replace("\\n", "\n").replace('\\\\"', '\\"')
    pairs = re.findall(r'"(\w+)"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?=\s*[,}]))', rest)
    return {
        "role": "assistant",
        "content": None,
        "function_call": {"name": name[1], "arguments": {key: _value(value) for key, value in pairs}},
    }


def _value(raw: str) -> str | float:
    try:
        value: str | float = json.loads(raw)
    except json.JSONDecodeError:
        return raw.strip('"')
    return value


def plant(library: Library, seed: int, evidence: int, episodes: int = 200) -> Iterator[Planted]:
    """Episodes of one seed: `evidence` steps of a target run at even places in a shuffled background of about 500
    steps, three quarters from the 30 runs nearest by query, drawn with replacement (30 runs have fewer steps than
    that)."""
    rng = np.random.default_rng(seed)
    able = [i for i, run in enumerate(library.runs) if len(run.steps) >= evidence]
    near = library.queries @ library.queries.T
    for number in range(episodes):
        target = able[int(rng.integers(len(able)))]
        order = [i for i in np.argsort(-near[target], kind="stable").tolist() if i != target]
        wanted = round(BACKGROUND * _CONFOUNDERS)
        background = _draw(library, order[:_NEIGHBOURS], wanted, rng)
        background += _draw(library, order[_NEIGHBOURS:], BACKGROUND - wanted, rng)
        placed = [background[i] for i in rng.permutation(len(background))]
        chosen = np.sort(rng.choice(len(library.runs[target].steps), evidence, replace=False)).tolist()
        at = [(len(placed) * (j + 1)) // (evidence + 1) + j for j in range(evidence)]
        for position, step in zip(at, chosen, strict=True):
            placed.insert(position, (target, step))
        yield _planted(library, target, placed, np.array(at), f"{seed}/{number}")


def _draw(library: Library, runs: Sequence[int], count: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    steps = [(run, step) for run in runs for step in range(len(library.runs[run].steps))]
    return [steps[i] for i in rng.integers(len(steps), size=count)]


def _planted(library: Library, target: int, placed: Sequence[tuple[int, int]], at: Steps, name: str) -> Planted:
    annotated = [library.runs[run].steps[step] for run, step in placed]
    vectors = np.array([library.steps[run][step] for run, step in placed])
    notes = [step.note for step in annotated]
    return Planted(
        name=name,
        history=trajectory(vectors, [token_cost(step.text) for step in annotated], notes),
        query=on_grid(library.queries[target]),
        evidence=at,
        cell=shares([notes[i] for i in at]).cell,
    )
