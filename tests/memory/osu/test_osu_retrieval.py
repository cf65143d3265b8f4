"""Retrieval: budgets hold for every memory, compiled and plain kernels agree, and the greedy rule is the paper's."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.osu_histories import Made, histories, made

from rebind.memory.osu.config import DISJOINT, OsuConfig
from rebind.memory.osu.flat import Flat, NoMemory, PeriodicSummary, Replay, SlidingWindow
from rebind.memory.osu.greedy import CohesionGreedy, CoverageAware, CoverageGuided, Mmr
from rebind.memory.osu.hierarchy import DisjointHierarchy, TreeAbstraction
from rebind.memory.osu.kernels import EPSILON, Kernels
from rebind.memory.osu.long import LongOsuMem
from rebind.memory.osu.nearest import floor_of
from rebind.memory.osu.packing import Memory
from rebind.memory.osu.plain import PLAIN
from rebind.memory.osu.pool import Pool, build_pool
from rebind.memory.osu.retrieve import GroundTruthFiltered, OsuMem, ask
from rebind.memory.osu.router import SHARES, Examples, Routed, Router, mixed
from rebind.memory.osu.signals import FEATURES, features
from rebind.memory.osu.trajectory import Note, Trajectory, TrajectoryError, on_grid, similarities, trajectory

MEMORIES: dict[str, Callable[[Trajectory], Memory]] = {
    "none": NoMemory,
    "replay": Replay,
    "window": SlidingWindow,
    "summary": PeriodicSummary,
    "flat": Flat,
    "mmr": Mmr,
    "coverage": CoverageAware,
    "hierarchy": DisjointHierarchy,
    "tree": TreeAbstraction,
    "osu": OsuMem.of,
    "disjoint": lambda h: OsuMem.of(h, DISJOINT),
    "flat fill": lambda h: OsuMem.of(h, OsuConfig(flat_fill=True)),
    "guided": lambda h: CoverageGuided(build_pool(h)),
    "cohesion": lambda h: CohesionGreedy(build_pool(h), 0.02),
    "filtered": lambda h: GroundTruthFiltered(build_pool(h), np.array([0])),
    "long": lambda h: LongOsuMem(build_pool(h)),
    "routed": lambda h: Routed(build_pool(h), Router.fit(examples())),
}


@pytest.mark.parametrize("name", MEMORIES)
@settings(max_examples=12, deadline=None)
@given(case=histories, budget=st.integers(0, 600))
def test_every_memory_keeps_its_budget_and_takes_no_step_twice(name: str, case: Made, budget: int) -> None:
    steps = MEMORIES[name](case.history).retrieve(case.query, budget)
    assert case.history.costs[steps].sum() <= budget
    assert len(np.unique(steps)) == len(steps)
    assert not len(steps) or (steps.min() >= 0 and steps.max() < len(case.history))


@pytest.mark.parametrize("name", MEMORIES)
def test_every_memory_gives_the_same_steps_again(name: str) -> None:
    case = made(7)
    once, again = (MEMORIES[name](case.history).retrieve(case.query, 256).tolist() for _ in range(2))
    assert once == again


def compiled() -> Kernels:
    pytest.importorskip("numba", reason="the compiled kernels need the extra `osu`")
    from rebind.memory.osu.compiled import COMPILED

    return COMPILED


@settings(max_examples=60, deadline=None)
@given(histories, st.integers(0, 600), st.integers(1, 5), st.booleans())
def test_compiled_and_plain_kernels_take_the_same_steps(case: Made, budget: int, limit: int, gram: bool) -> None:
    pool = build_pool(case.history, OsuConfig(max_memberships=limit))
    if not gram:
        pool = dataclasses.replace(pool, gram=np.zeros((0, 0), dtype=np.float32))
    wanted = ask(pool.config, case.query, pool.config.coarse(len(pool.units), budget), budget)
    ours, theirs = compiled().expand(pool.layout, wanted), PLAIN.expand(pool.layout, wanted)
    assert [part.tolist() for part in ours] == [part.tolist() for part in theirs]


@settings(max_examples=30, deadline=None)
@given(histories, st.integers(1, 7))
def test_compiled_and_plain_kernels_build_the_same_communities(case: Made, k: int) -> None:
    gram = case.history.vectors @ case.history.vectors.T
    lists = [kernel.nearest(gram, k) for kernel in (compiled(), PLAIN)]
    assert all((one == other).all() for one, other in zip(*lists, strict=True))
    values, indices = lists[0]
    floor = floor_of(np.sort(values[indices >= 0]), 75.0)
    labels = [kernel.communities(values, indices, floor, 20).tolist() for kernel in (compiled(), PLAIN)]
    assert labels[0] == labels[1]


def reference(pool: Pool, query: np.ndarray, budget: int) -> list[int]:  # type: ignore[type-arg]  # any array will do
    """Algorithm 1 written out step by step, as the paper and the design state it."""
    config, history = pool.config, pool.history
    sims = similarities(history.vectors, query)
    cosine = (history.vectors @ history.vectors.T).astype(np.float64) / 4000.0**2
    relevance = {
        unit: sims[list(unit.members)].sum() * 4000.0 / pool.norms[row] for row, unit in enumerate(pool.rows) if unit
    }
    k = config.coarse(len(relevance), budget)
    open_units = sorted(relevance, key=lambda u: (-relevance[u], u.members))[:k]
    taken: list[int] = []
    left = budget

    def novelty(i: int) -> float:
        notes = history.notes
        seen = {e for j in taken for e in notes[j].entities}
        tools = {notes[j].tool for j in taken}
        new_tool = notes[i].tool is not None and notes[i].tool not in tools
        structural = min(1.0, 0.6 * len(set(notes[i].entities) - seen) + 0.4 * new_tool)
        return 0.6 * (1.0 - max(cosine[i][j] for j in taken)) + 0.4 * structural

    while open_units:
        scored = []
        for unit in open_units:
            ranked = sorted((i for i in unit.members if i not in taken), key=lambda i: (-sims[i], i))
            best = ranked[: config.candidates]
            if best:
                nu = float(np.mean([novelty(i) for i in best])) if taken and budget >= config.novelty_budget else 0.0
                cost = int(history.costs[best].sum())
                scored.append(((relevance[unit] + config.novelty * nu) / (cost + EPSILON), unit, ranked))
        if not scored:
            break
        _score, unit, ranked = max(scored, key=lambda entry: entry[0])
        open_units.remove(unit)
        for i in ranked:
            if history.costs[i] <= left:
                taken.append(i)
                left -= int(history.costs[i])
    return sorted(taken)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("budget", [64, 256])
def test_retrieval_is_algorithm_1(seed: int, budget: int) -> None:
    rng = np.random.default_rng(seed)
    notes = [Note((f"e{rng.integers(8)}",), f"t{rng.integers(4)}", i // 6) for i in range(60)]
    history = trajectory(rng.normal(size=(60, 24)), rng.integers(5, 41, size=60), notes)
    pool, query = build_pool(history), on_grid(rng.normal(size=24))
    assert sorted(OsuMem(pool).retrieve(query, budget).tolist()) == reference(pool, query, budget)


def test_sliding_window_stops_where_replay_skips_and_goes_on() -> None:
    history = trajectory(np.eye(4), [5, 30, 50, 10], [Note()] * 4)
    query = on_grid(np.ones(4))
    assert SlidingWindow(history).retrieve(query, 45).tolist() == [3]
    assert Replay(history).retrieve(query, 45).tolist() == [3, 1, 0]


def test_a_covered_label_earns_its_bonus_once() -> None:
    """Step 1 is a little better than step 2, but its subgoal is covered by step 0."""
    vectors = [[1.0, 0.0], [0.9, 0.43], [0.88, 0.47]]
    history = trajectory(vectors, [10] * 3, [Note(subgoal=0), Note(subgoal=0), Note(subgoal=1)])
    assert CoverageAware(history, bonus=0.12).retrieve(on_grid([1.0, 0.0]), 20).tolist() == [0, 2]
    assert Flat(history).retrieve(on_grid([1.0, 0.0]), 20).tolist() == [0, 1]


def test_the_long_index_finds_what_exact_retrieval_finds() -> None:
    shares = []
    for seed in range(20):
        case = made(seed)
        pool = build_pool(case.history)
        exact, found = OsuMem(pool).retrieve(case.query, 256), LongOsuMem(pool).retrieve(case.query, 256)
        shares.append(np.isin(exact, found).mean() if len(exact) else 1.0)
    assert np.mean(shares) >= 0.98


def examples(count: int = 240) -> Examples:
    """Queries whose first feature decides: overlap alone is right where it is positive, flat alone where it is not."""
    rows = np.random.default_rng(0).normal(size=(count, len(FEATURES)))
    right = rows[:, 0] > 0
    outcomes = np.column_stack([right, right, ~right, ~right]).astype(np.float64)
    return Examples(rows, outcomes, [str(i // 4) for i in range(count)], ["a" if i % 3 else "b" for i in range(count)])


def test_a_router_learns_which_share_is_right_and_survives_storage() -> None:
    past = examples()
    router = Router.from_json(Router.fit(past).to_json())
    chosen = past.outcomes[np.arange(len(past.rows)), router.choose(past.rows)]
    assert chosen.mean() > 0.85
    with pytest.raises(TrajectoryError, match="features"):
        Router.from_json({**router.to_json(), "features": ["other"]})


def test_a_router_refuses_examples_of_another_shape() -> None:
    with pytest.raises(TrajectoryError, match=f"{len(FEATURES)} features"):
        Examples(np.zeros((3, 2)), np.zeros((3, len(SHARES))), ["t"] * 3, ["k"] * 3)


def test_no_fold_divides_a_group_and_every_query_is_held_out_once() -> None:
    past = examples()
    held = np.zeros(len(past.rows), dtype=int)
    for mask in past.folds(7, seed=3):
        assert not set(past.groups[mask]) & set(past.groups[~mask])
        held += mask
    assert (held == 1).all()


@settings(max_examples=40, deadline=None)
@given(histories, st.integers(0, 600), st.sampled_from(SHARES))
def test_a_mixture_keeps_the_budget_and_takes_from_both_picks_alone(case: Made, budget: int, share: float) -> None:
    overlap = OsuMem.of(case.history).retrieve(case.query, budget)
    flat = Flat(case.history).retrieve(case.query, budget)
    steps = mixed(overlap, flat, case.history.costs, budget, share)
    assert case.history.costs[steps].sum() <= budget
    assert len(np.unique(steps)) == len(steps)
    assert np.isin(steps, np.union1d(overlap, flat)).all()


def test_a_mixture_gives_overlap_its_share_first() -> None:
    costs = np.full(8, 10, dtype=np.int64)
    steps = mixed(np.array([0, 1, 2, 3]), np.array([4, 0, 5, 6]), costs, 40, 0.5)
    assert steps.tolist() == [0, 1, 4, 5]


@settings(max_examples=30, deadline=None)
@given(histories, st.integers(0, 600))
def test_what_a_router_sees_is_one_finite_number_a_feature(case: Made, budget: int) -> None:
    pool = build_pool(case.history)
    flat = Flat(case.history).retrieve(case.query, budget)
    row = features(pool, case.query, OsuMem(pool).expand(case.query, budget), flat)
    assert row.shape == (len(FEATURES),)
    assert np.isfinite(row).all()
