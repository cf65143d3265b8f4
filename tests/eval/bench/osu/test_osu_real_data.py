"""τ-bench and ToolBench as the paper prepares them, on the real files."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from rebind.agents.llm import LLM
from rebind.agents.simulated import Script, SimulatedModel
from rebind.eval.bench.osu import published
from rebind.eval.bench.osu.routing import development, route
from rebind.eval.bench.osu.selection import listed, reader, recalls, run_selection
from rebind.eval.bench.osu.selection import tables as selection_tables
from rebind.eval.bench.osu.tau_data import (
    DataError,
    Encode,
    Source,
    TauEpisode,
    augment,
    concatenate,
    load,
    noisy_mean,
)
from rebind.eval.bench.osu.toolbench import run_toolbench
from rebind.eval.bench.osu.toolbench_tables import tables


@pytest.fixture(scope="module")
def tau_sources(bench_data: Path, encode: Encode) -> list[Source]:
    return load(bench_data / "tau-bench", encode)


@pytest.fixture(scope="module")
def tau_episodes(tau_sources: list[Source]) -> list[TauEpisode]:
    return concatenate(tau_sources)


def test_cells_are_within_four_points_of_the_papers(tau_episodes: list[TauEpisode]) -> None:
    cells = Counter(q.cell for e in tau_episodes for q in e.queries if q.crosstab)
    for cell, fraction in published.TAU_CELLS.items():
        assert cells[cell] / cells.total() == pytest.approx(fraction, abs=0.04)


def test_evidence_is_a_tool_call_of_the_focal_run(tau_episodes: list[TauEpisode]) -> None:
    for episode in tau_episodes:
        tools = {(episode.history.notes[step].tool or "").split(":")[0] for q in episode.queries for step in q.evidence}
        assert len(tools) == 1
        assert 256 <= len(episode.history) <= 311


def test_augmentation_lifts_every_query_into_the_favourable_cell(tau_episodes: list[TauEpisode]) -> None:
    for episode in tau_episodes[:20]:
        lifted = augment(episode)
        for before, after in zip(episode.queries, lifted.queries, strict=True):
            assert len(after.evidence) == 4 * len(before.evidence)
            assert after.cell.startswith("T+")


def test_a_noise_draw_is_reproducible_and_draws_differ(tau_episodes: list[TauEpisode]) -> None:
    episode = tau_episodes[0]
    query = episode.queries[0]
    one, again, other = (noisy_mean(episode, query, draw) for draw in (0, 0, 1))
    assert (one == again).all()
    assert (one != other).any()


def test_the_router_reports_every_cell_with_its_denominator(tau_sources: list[Source]) -> None:
    first, second = route(tau_sources[::4], (64, 256), contexts=2, draws=1)
    assert [first["budget"], second["budget"]] == [256, 64]
    for part in ("rows", "untouched"):
        assert [row["cell"] for row in first[part]] == ["T+E+", "T+E-", "T-E+", "T-E-", "all"]
        assert sum(row["n"] for row in first[part][:-1]) == first[part][-1]["n"]
    assert first["rows"][-1]["n"] == 2 * first["rows"][-1]["queries"]


def test_the_routers_design_was_settled_on_half_of_the_tasks() -> None:
    tasks = [f"retail/{i}" for i in range(40)]
    chosen = development(tasks)
    assert len(chosen) == 20
    assert chosen == development(tasks[::-1]) <= set(tasks)


def test_another_context_has_the_same_queries_in_other_company(tau_sources: list[Source]) -> None:
    one, other = ({e.name: e for e in concatenate(tau_sources, context)} for context in (0, 1))
    assert one.keys() == other.keys()
    name = next(iter(one))
    assert [q.cell for q in one[name].queries] == [q.cell for q in other[name].queries]
    assert one[name].texts != other[name].texts


def test_missing_data_is_one_clear_sentence(tmp_path: Path, encode: Encode) -> None:
    with pytest.raises(DataError, match=r"airline-gpt-4o.json.gz is missing"):
        load(tmp_path, encode)


def test_the_toolbench_result_has_its_contract_and_prints(bench_data: Path, encode: Encode) -> None:
    result = run_toolbench(bench_data / "toolbench", encode=encode, seeds=(42,), episodes=4)
    assert len(result["beta"]) == 20
    assert {"recall", "recall_p", "published"} <= set(result["beta"][0])
    json.dumps(result, allow_nan=False)
    assert all(len(row) == len(columns) for _, columns, rows in tables(result) for row in rows)


def test_selection_counts_what_a_model_lists_from_the_retrieved_steps(
    bench_data: Path, encode: Encode, tau_episodes: list[TauEpisode]
) -> None:
    """A simulated model over HTTP names an evidence step where the prompt shows it, and something else where not."""
    shown = {e.texts[step] for e in tau_episodes for q in e.queries for step in q.evidence}
    script = Script(otherwise=(*((text, text) for text in sorted(shown)), ("", "Nothing of note.")))
    with SimulatedModel("quoting", script) as simulated:
        model = LLM({simulated.name: simulated.endpoint})
        result = run_selection(bench_data / "tau-bench", model, simulated.name, encode=encode, limit=12, seeds=(0, 1))
    whole = result["rows"][-1]
    assert result["simulated"]
    assert len(simulated.requests) == 12 * 3 * 2
    assert whole["n"] == 12
    assert whole["hard_osu"] > whole["hard_none"]
    json.dumps(result, allow_nan=False)
    assert "SIMULATED" in selection_tables(result)[0][0]
    assert all(len(row) == len(columns) for _, columns, rows in selection_tables(result) for row in rows)


def test_the_canned_reader_names_three_events_and_keeps_its_label(tau_episodes: list[TauEpisode]) -> None:
    with reader("simulated/canned") as model:
        assert len(listed(model, "simulated/canned", "Hello", tau_episodes[0].texts[:3])) == 3


def test_recalls_are_the_best_cosine_and_the_share_above_one_half() -> None:
    evidence = np.array([[1.0, 0.0], [0.0, 1.0]], dtype=np.float32)
    found = recalls(evidence, ["x"], lambda texts: np.array([[1.0, 0.0]] * len(texts), dtype=np.float32))
    assert found == (0.5, 0.5)
    assert recalls(evidence, [], lambda texts: evidence) == (0.0, 0.0)
