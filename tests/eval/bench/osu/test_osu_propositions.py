"""Propositions 1 to 3 of the paper on random pools, and the arithmetic of its predictive rule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.osu_histories import Made, histories

from rebind.eval.bench.osu import published
from rebind.eval.bench.osu.cells import break_even, marginals, oracle_ceiling, shares
from rebind.eval.bench.osu.propositions import cluster_recall, dilution, reachability
from rebind.memory.osu.pool import build_pool
from rebind.memory.osu.trajectory import Note


@settings(max_examples=60, deadline=None)
@given(histories, st.floats(-0.2, 0.6))
def test_proposition_1_overlap_reaches_all_that_one_membership_reaches(case: Made, threshold: float) -> None:
    reach = reachability(build_pool(case.history), case.query, threshold)
    assert (reach.overlap >= reach.best_view).all()


@settings(max_examples=60, deadline=None)
@given(histories, st.data())
def test_proposition_2_shared_tool_and_entity_units_reach_at_least_two_evidence_steps(
    case: Made, data: st.DataObject
) -> None:
    """For evidence that two units of the pool bind, as the proposition assumes."""
    units = build_pool(case.history).units
    entity = [u for u in units if u.view == "entity"]
    tool = [u for u in units if u.view == "tool"]
    assume(entity and tool)
    chosen = {*data.draw(st.sampled_from(entity)).members[:2], *data.draw(st.sampled_from(tool)).members[:2]}
    evidence = np.array(sorted(chosen))
    recall = cluster_recall(case.history, evidence)
    assert recall.combined >= 2 / len(evidence)
    assert recall.combined >= recall.entity >= recall.disjoint


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 20), st.data())
def test_proposition_3_relevance_is_the_mixture_of_equation_6(seed: int, members: int, data: st.DataObject) -> None:
    rng = np.random.default_rng(seed)
    vectors, query = rng.normal(size=(members, 12)), rng.normal(size=12)
    evidence = np.arange(members) < data.draw(st.integers(0, members))
    found = dilution(vectors, evidence, query)
    assert found.relevance == pytest.approx(found.mixed)


@given(st.integers(0, 2**32 - 1))
def test_proposition_3_a_unit_full_of_other_steps_points_away_from_its_evidence(seed: int) -> None:
    """As m_e / m falls to 0, relevance goes to that of the non-evidence mean."""
    rng = np.random.default_rng(seed)
    others, query = rng.normal(size=12), rng.normal(size=12)
    vectors = np.vstack([rng.normal(size=(1, 12)), np.tile(others, (20_000, 1))])
    found = dilution(vectors, np.arange(len(vectors)) == 0, query)
    assert found.relevance == pytest.approx(float(others @ query) / float(np.linalg.norm(others)), abs=0.05)


def test_a_cell_is_what_two_distinct_evidence_steps_share() -> None:
    a, b, c = Note(("x",), "t"), Note(("y",), "t"), Note(("y",), "u")
    assert [shares(group).cell for group in ([a, b, c], [a, b], [b, c], [a, c])] == ["T+E+", "T+E-", "T-E+", "T-E-"]


def test_the_papers_cells_give_its_break_even_and_ceiling() -> None:
    """Table 4 gives p* = 21.1 %, π_T+* = 49.0 %, π_any+* ≈ 62 % and a ceiling of 5.2 points (Appendix I)."""
    counts = {"T+E+": 56, "T+E-": 96, "T-E+": 44, "T-E-": 132}
    fractions = {cell: n / 328 for cell, n in counts.items()}
    gaps = {cell: published.TABLE_4[cell]["hit2"] for cell in counts}
    even = break_even(fractions, gaps)
    assert even.p == pytest.approx(0.211, abs=0.002)
    assert even.tool == pytest.approx(0.490, abs=0.002)
    assert even.any == pytest.approx(0.62, abs=0.005)
    assert oracle_ceiling(fractions, gaps) == pytest.approx(published.ORACLE, abs=0.001)
    assert marginals(fractions).any == pytest.approx(1 - 132 / 328)


def test_a_population_with_one_sign_has_no_break_even() -> None:
    fractions = dict.fromkeys(("T+E+", "T+E-", "T-E+", "T-E-"), 0.25)
    assert break_even(fractions, dict.fromkeys(fractions, 0.1)).always == "positive"
    assert break_even(fractions, dict.fromkeys(fractions, -0.1)).always == "negative"
