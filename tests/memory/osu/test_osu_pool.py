"""Units: how they are split, capped and pruned, and that a growing pool is always the pool a full build gives."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.osu_histories import DIMENSIONS, Made, histories

from rebind.memory.osu.config import OsuConfig
from rebind.memory.osu.growing import GrowingPool
from rebind.memory.osu.kernels import Ints, Kernels, kernels
from rebind.memory.osu.long import LongOsuMem
from rebind.memory.osu.plain import PLAIN
from rebind.memory.osu.pool import Pool, build_pool
from rebind.memory.osu.retrieve import OsuMem
from rebind.memory.osu.trajectory import GRID, Note, TrajectoryError, Whole, join, trajectory
from rebind.memory.osu.units import chunks, segments

configs = st.builds(
    OsuConfig,
    window=st.integers(5, 160),
    max_memberships=st.integers(1, 6),
    max_size=st.integers(3, 20),
    neighbours=st.integers(1, 6),
)


def grown(case: Made, config: OsuConfig, steps: int) -> Pool:
    pool = GrowingPool(DIMENSIONS, config)
    for step in range(steps):
        pool.append(case.raw[step], int(case.history.costs[step]), case.history.notes[step])
    return pool.pool


def compiled() -> Kernels:
    pytest.importorskip("numba", reason="the compiled kernels need the extra `osu`")
    from rebind.memory.osu.compiled import COMPILED

    return COMPILED


def by_unit(pool: Pool) -> dict[object, tuple[float, bytes]]:
    """Norm and centroid of every unit, bit for bit."""
    return {
        unit: (float(pool.norms[row]), pool.centroids[row].tobytes())
        for row, unit in enumerate(pool.rows)
        if unit is not None
    }


@settings(max_examples=20, deadline=None)
@given(histories, configs, st.data())
def test_appending_steps_gives_exactly_the_pool_of_a_full_build(
    case: Made, config: OsuConfig, data: st.DataObject
) -> None:
    steps = data.draw(st.integers(1, len(case.history)))
    appended, whole = grown(case, config, steps), build_pool(case.history.before(steps), config)
    assert appended.units == whole.units
    assert by_unit(appended) == by_unit(whole)
    for budget in (64, 256):
        assert (
            OsuMem(appended).retrieve(case.query, budget).tolist()
            == OsuMem(whole).retrieve(case.query, budget).tolist()
        )


@settings(max_examples=15, deadline=None)
@given(histories, configs)
def test_pools_and_what_is_retrieved_are_the_same_without_numba(case: Made, config: OsuConfig) -> None:
    found = []
    for kernel in (compiled(), PLAIN):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("rebind.memory.osu.kernels._loaded", kernel)
            pools = (build_pool(case.history, config), grown(case, config, len(case.history)))
            memories = [memory(pool) for pool in pools for memory in (OsuMem, LongOsuMem)]
            found.append(
                ([by_unit(pool) for pool in pools], [m.retrieve(case.query, 256).tolist() for m in memories]),
            )
    assert found[0] == found[1]


@settings(max_examples=30, deadline=None)
@given(histories, configs)
def test_no_unit_or_membership_is_beyond_its_cap(case: Made, config: OsuConfig) -> None:
    pool = build_pool(case.history, config)
    assert all(config.min_size <= len(unit.members) <= config.max_size for unit in pool.units)
    assert pool.memberships().max(initial=0) <= config.max_memberships
    for unit in pool.units:
        if unit.view != "similarity":
            assert np.diff(unit.members).max() <= len(case.history)


@settings(max_examples=30, deadline=None)
@given(histories)
def test_members_of_an_annotated_unit_share_its_key(case: Made) -> None:
    for unit in build_pool(case.history).units:
        for note in (case.history.notes[step] for step in unit.members):
            if unit.view == "entity":
                assert unit.key in note.entities
            elif unit.view == "tool":
                assert unit.key == note.tool
            elif unit.view == "subgoal":
                assert unit.key == str(note.subgoal)


@settings(max_examples=30, deadline=None)
@given(histories)
def test_centroids_are_the_normalised_means_of_the_members(case: Made) -> None:
    pool = build_pool(case.history)
    for row, unit in enumerate(pool.rows):
        assert unit is not None
        mean = case.history.vectors[list(unit.members)].mean(axis=0)
        assert np.allclose(pool.centroids[row], mean / np.linalg.norm(mean), atol=1e-5)


def test_a_step_in_too_many_units_leaves_those_of_later_views_first() -> None:
    notes = [Note(("a", "b"), "t", 0)] * 4
    history = trajectory(np.eye(4), [10] * 4, notes)
    views = {
        limit: {unit.view for unit in build_pool(history, OsuConfig(max_memberships=limit)).units}
        for limit in (2, 3, 4)
    }
    assert views == {2: {"entity"}, 3: {"entity", "tool"}, 4: {"entity", "tool", "subgoal"}}


def test_disjoint_units_evict_a_step_whose_unit_falls_below_two_members() -> None:
    """Steps 0 and 1 share entity `a`; step 1 is closer to `b`, so `a` keeps one member and is dropped."""
    vectors = [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    history = trajectory(vectors, [10] * 3, [Note(("a",)), Note(("a", "b")), Note(("b",))])
    disjoint, overlap = (OsuConfig(views=("entity",), max_memberships=limit) for limit in (1, 5))
    assert build_pool(history, disjoint).memberships().tolist() == [0, 1, 1]
    assert build_pool(history, overlap).memberships().tolist() == [1, 2, 1]


def test_runs_split_where_neighbours_are_farther_apart_than_the_gap() -> None:
    assert list(segments([0, 5, 9, 18, 19], 8)) == [[0, 5, 9], [18, 19]]


@given(st.integers(1, 200), st.integers(2, 20))
def test_pieces_cover_a_run_in_order_and_stay_below_the_cap(length: int, cap: int) -> None:
    pieces = list(chunks(list(range(length)), cap))
    assert [step for piece in pieces for step in piece] == list(range(length))
    assert all(len(piece) <= cap for piece in pieces)
    grown_pieces = list(chunks(list(range(length + 1)), cap))
    assert grown_pieces[: max(0, len(pieces) - 2)] == pieces[: max(0, len(pieces) - 2)]


def test_what_an_append_measures_anew_does_not_grow_with_the_trajectory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted in members of units whose geometry is computed; steps share entities and tools all along."""
    counted: list[int] = []

    def counting(computed: Callable[..., object]) -> Callable[..., object]:
        def counted_too(vectors: Whole, flat: Ints, *given: object) -> object:
            counted[-1] += len(flat)
            return computed(vectors, flat, *given)

        return counted_too

    for name in ("measure", "lay"):
        monkeypatch.setattr(kernels(), name, counting(getattr(kernels(), name)))
    rng = np.random.default_rng(0)
    pool = GrowingPool(DIMENSIONS, OsuConfig(window=64))
    for step in range(1_400):
        note = Note((f"e{rng.integers(12)}",), f"t{rng.integers(4)}", step // 10)
        counted.append(0)
        pool.append(rng.normal(size=DIMENSIONS), 10, note)
    early, late = np.array(counted[600:900]), np.array(counted[1_100:1_400])  # every tail is full from about 500 on
    assert late.mean() <= 1.1 * early.mean()
    assert late.max() < 200


def test_joined_sources_share_no_unit() -> None:
    one = trajectory(np.eye(4)[:2], [10, 10], [Note(("user",), "search", 0), Note(("user",), "search", 0)])
    joined = join([one, one])
    assert [note.entities for note in joined.notes] == [("src0:user",)] * 2 + [("src1:user",)] * 2
    assert [note.subgoal for note in joined.notes] == [0, 0, 1, 1]
    keyed = [u for u in build_pool(joined).units if u.view != "similarity"]
    assert keyed
    assert all(max(u.members) < 2 or min(u.members) >= 2 for u in keyed)


def test_embeddings_lie_on_the_grid_and_near_length_one() -> None:
    history = trajectory(np.random.default_rng(0).normal(size=(5, 384)), [10] * 5, [Note()] * 5)
    assert (history.vectors == np.rint(history.vectors)).all()
    assert np.allclose(np.linalg.norm(history.vectors, axis=1) / GRID, 1.0, atol=1e-3)


@pytest.mark.parametrize(
    ("vectors", "costs", "words"),
    [([[0.0, 0.0]], [5], "no direction"), ([[1.0, 0.0]], [0], "at least 1"), ([[1.0, 0.0]], [5, 5], "one of each")],
)
def test_a_trajectory_that_does_not_fit_together_is_refused(
    vectors: list[list[float]], costs: list[int], words: str
) -> None:
    with pytest.raises(TrajectoryError, match=words):
        trajectory(vectors, costs, [Note()])


def test_a_growing_pool_refuses_a_step_of_another_dimension() -> None:
    with pytest.raises(TrajectoryError, match="step 0"):
        GrowingPool(3).append([1.0, 0.0], 5, Note())


def test_the_number_of_units_selected_follows_pool_and_budget() -> None:
    config = OsuConfig()
    assert [config.coarse(u, b) for u, b in ((5, 256), (50, 64), (200, 64), (50, 512))] == [5, 8, 20, 18]
    assert dataclasses.replace(config, max_units=10).coarse(200, 64) == 10
