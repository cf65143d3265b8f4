"""`rebind bench osu speed`: build, append and retrieve, beside a flat product and LlamaIndex's MMR (issue; paper,
Appendix E).

All times are medians of the thread's CPU time in milliseconds, one thread; the wall-clock medians stand in `wall`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebind.eval.bench.osu.scoring import Progress, Table
from rebind.memory.osu.greedy import MMR_LAMBDA, Mmr
from rebind.memory.osu.growing import GrowingPool
from rebind.memory.osu.kernels import kernels
from rebind.memory.osu.long import LongOsuMem
from rebind.memory.osu.pool import build_pool
from rebind.memory.osu.retrieve import OsuMem
from rebind.memory.osu.trajectory import Note, Trajectory, Vectors, on_grid, trajectory

STEPS, DIMENSIONS, BUDGET = 300, 384, 256
LONG_STEPS = 100_000
_QUERIES = 40
LIMITS = {"retrieve_ms": 0.1, "build_ms": 8.0, "append_ms": 0.2, "retrieve_100k_ms": 5.0}


@dataclass(frozen=True, eq=False)
class _Case:
    """A made-up trajectory with the kind of structure real ones have, and queries near its themes."""

    raw: NDArray[np.float32]
    history: Trajectory
    queries: tuple[Vectors, ...]


def run_speed(progress: Progress | None = None, long_steps: int = LONG_STEPS) -> dict[str, Any]:
    """All measurements in one run, about two minutes. `long_steps` is the length of the long trajectory."""
    from threadpoolctl import threadpool_limits

    case = _case(STEPS, themes=STEPS // 6)
    llama = _llama_index(case)
    with threadpool_limits(limits=1):
        short = {name: _median(*job) for name, job in _jobs(case, llama).items()}
        if progress is not None:
            progress(1, 2)
        long, found = _long(long_steps)
    if progress is not None:
        progress(2, 2)
    times = {**short, **long}
    missing: dict[str, None] = {"mmr_ms": None} if isinstance(llama, str) else {}
    return {
        **{name: cpu for name, (cpu, _) in times.items()},
        **missing,
        **found,
        "wall": {**{name: wall for name, (_, wall) in times.items()}, **missing},
        "limits": LIMITS,
        "kernels": type(kernels()).__name__.lower(),
        "steps": STEPS,
        "dimensions": DIMENSIONS,
        "budget": BUDGET,
        "long_steps": long_steps,
        "llama_index": None if isinstance(llama, str) else version("llama-index-core"),
        "not_measured": llama if isinstance(llama, str) else None,
    }


def _jobs(case: _Case, llama: Callable[[int], object] | str) -> dict[str, tuple[Callable[[int], object], int]]:
    """What is timed on the short trajectory, and how often."""
    memory, mmr, growing = OsuMem(build_pool(case.history)), Mmr(case.history), _growing(case)
    vectors, queries = case.history.vectors, case.queries
    jobs: dict[str, tuple[Callable[[int], object], int]] = {
        "retrieve_ms": (lambda i: memory.retrieve(queries[i % _QUERIES], BUDGET), 2_000),
        "flat_ms": (lambda i: np.argsort(-(vectors @ queries[i % _QUERIES])), 2_000),
        "build_ms": (lambda _: build_pool(replace(case.history)), 60),  # a copy has nothing computed yet
        "append_ms": (lambda _: next(growing), STEPS // 2),
        "own_mmr_ms": (lambda i: mmr.retrieve(queries[i % _QUERIES], BUDGET), 200),
    }
    if not isinstance(llama, str):
        jobs["mmr_ms"] = (lambda i: llama(i % _QUERIES), 40)
    return jobs


def _long(steps: int) -> tuple[dict[str, tuple[float, float]], dict[str, float]]:
    """A long trajectory: times of the exact algorithm and of the approximate index over centroids, and the share of the
    exact one's steps that the approximate one finds."""
    case = _case(steps, themes=max(2, steps // 50))
    pool, queries = build_pool(case.history), case.queries
    exact, approximate = OsuMem(pool), LongOsuMem(pool)
    shares = []
    for query in queries:
        wanted = exact.retrieve(query, BUDGET)
        shares.append(len(np.intersect1d(wanted, approximate.retrieve(query, BUDGET))) / max(len(wanted), 1))
    times = {
        "retrieve_100k_ms": _median(lambda i: approximate.retrieve(queries[i % _QUERIES], BUDGET), 3 * _QUERIES),
        "exact_100k_ms": _median(lambda i: exact.retrieve(queries[i % _QUERIES], BUDGET), 10),
    }
    return times, {"recall_100k": float(np.mean(shares)), "units_100k": float((pool.sizes > 0).sum())}


def _median(job: Callable[[int], object], times: int) -> tuple[float, float]:
    """Median thread CPU time and wall-clock time of a job, in milliseconds, after one warm-up call."""
    job(0)
    cpu, wall = [], []
    for i in range(times):
        wall_start, cpu_start = time.perf_counter(), time.thread_time()
        job(i)
        cpu.append(time.thread_time() - cpu_start)
        wall.append(time.perf_counter() - wall_start)
    return float(np.median(cpu)) * 1e3, float(np.median(wall)) * 1e3


def _case(steps: int, themes: int) -> _Case:
    """Themes of six steps or so with a spectrum that falls like that of sentence embeddings (λ_i ∝ 1/i)."""
    rng = np.random.default_rng(0)
    spectrum = np.arange(1, DIMENSIONS + 1, dtype=np.float32) ** -0.5
    basis = rng.normal(size=(themes, DIMENSIONS)).astype(np.float32) * spectrum
    theme = np.repeat(rng.integers(themes, size=steps // 6 + 1), 6)[:steps]
    raw = basis[theme] + rng.normal(size=(steps, DIMENSIONS)).astype(np.float32) * spectrum
    notes = [
        Note((f"entity{theme[i]}", f"id{i // 60}.{rng.integers(60)}"), f"tool{rng.integers(12)}", i // 9)
        for i in range(steps)
    ]
    queries = basis[rng.integers(themes, size=_QUERIES)] + 0.7 * rng.normal(size=(_QUERIES, DIMENSIONS)) * spectrum
    history = trajectory(raw, rng.integers(5, 41, size=steps), notes)
    return _Case(raw, history, tuple(on_grid(query) for query in queries))  # pyright: ignore[reportArgumentType]  # numpy


def _growing(case: _Case) -> Iterator[None]:
    """Appends the second half of the case, a step at a time; the first half is there before the first time."""
    pool = GrowingPool(DIMENSIONS)
    for step in range(STEPS):
        pool.append(case.raw[step], int(case.history.costs[step]), case.history.notes[step])
        if step + 1 >= STEPS // 2:
            yield


@contextmanager
def _without_checkout() -> Iterator[None]:
    """Hides the checkout from imports: LlamaIndex needs a package called `banks`, and so is a folder of ours."""
    checkout = Path(__file__).resolve().parents[3]
    before = list(sys.path)
    sys.path[:] = [entry for entry in before if Path(entry or ".").resolve() != checkout]
    try:
        yield
    finally:
        sys.path[:] = before


def _llama_index(case: _Case) -> Callable[[int], object] | str:
    """LlamaIndex's MMR over the same embeddings, for as many nodes as the budget holds; or why it cannot run."""
    try:
        with _without_checkout():
            from llama_index.core.indices.query import embedding_utils  # pyright: ignore[reportMissingImports]  # an extra
    except ImportError as error:
        return f"mmr_ms is null, as llama-index-core cannot be imported (install rebind[bench]): {error}"
    embeddings = case.history.vectors.tolist()
    queries = [query.tolist() for query in case.queries]
    count = int(BUDGET / case.history.costs.mean())
    return lambda i: embedding_utils.get_top_k_mmr_embeddings(
        queries[i], embeddings, similarity_top_k=count, mmr_threshold=MMR_LAMBDA
    )


def tables(result: Mapping[str, Any]) -> list[Table]:
    """For the terminal: every time with its limit."""
    keys = (
        "retrieve_ms",
        "flat_ms",
        "mmr_ms",
        "own_mmr_ms",
        "build_ms",
        "append_ms",
        "retrieve_100k_ms",
        "exact_100k_ms",
    )
    rows = [
        [key, _shown(result[key]), _shown(result["wall"].get(key)), _shown(result["limits"].get(key))] for key in keys
    ]
    rows.append(["recall_100k", f"{result['recall_100k']:.3f}", "", "≥ 0.98"])
    title = f"{result['steps']} steps × {result['dimensions']}, B = {result['budget']}, {result['kernels']} kernels"
    if result["llama_index"] is not None:
        title += f", mmr_ms by llama-index-core {result['llama_index']}"
    found = [(title, ["measure", "CPU ms", "wall ms", "limit"], rows)]
    return found if result["not_measured"] is None else [*found, ("Not measured", ["why"], [[result["not_measured"]]])]


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
