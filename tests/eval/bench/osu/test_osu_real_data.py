"""τ-bench and ToolBench as the paper prepares them, on the real files."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rebind.eval.bench.osu import published
from rebind.eval.bench.osu.routing import route
from rebind.eval.bench.osu.selection import recalls, run_selection
from rebind.eval.bench.osu.tau_data import DataError, Encode, TauEpisode, augment, concatenate, load, noisy_mean
from rebind.eval.bench.osu.toolbench import run_toolbench
from rebind.eval.bench.osu.toolbench_tables import tables
from rebind.types import Completion, Request


@pytest.fixture(scope="module")
def tau_episodes(bench_data: Path, encode: Encode) -> list[TauEpisode]:
    return concatenate(load(bench_data / "tau-bench", encode))


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


def test_the_router_reports_every_cell_with_its_denominator(tau_episodes: list[TauEpisode]) -> None:
    result = route(tau_episodes[:40], draws=1)
    assert [row["cell"] for row in result["rows"]] == ["T+E+", "T+E-", "T-E+", "T-E-", "all"]
    assert sum(row["n"] for row in result["rows"][:-1]) == result["rows"][-1]["n"]


def test_missing_data_is_one_clear_sentence(tmp_path: Path, encode: Encode) -> None:
    with pytest.raises(DataError, match=r"airline-gpt-4o.json.gz is missing"):
        load(tmp_path, encode)


def test_the_toolbench_result_has_its_contract_and_prints(bench_data: Path, encode: Encode) -> None:
    result = run_toolbench(bench_data / "toolbench", encode=encode, seeds=(42,), episodes=4)
    assert len(result["beta"]) == 20
    assert {"recall", "recall_p", "published"} <= set(result["beta"][0])
    json.dumps(result, allow_nan=False)
    assert all(len(row) == len(columns) for _, columns, rows in tables(result) for row in rows)


class Quoting:
    """A `Model` that quotes the last three lines of the history it is shown."""

    def complete(self, request: Request) -> Completion:
        history = request.messages[0].content.split("The user now says:")[0].strip().splitlines()[1:]
        return Completion(text="\n".join(history[-3:]))

    def count(self, request: Request) -> int:
        return sum(len(m.content.split()) for m in request.messages)


def test_selection_counts_what_a_model_lists_from_the_retrieved_steps(bench_data: Path, encode: Encode) -> None:
    result: dict[str, Any] = run_selection(bench_data / "tau-bench", Quoting(), "quoting", encode=encode, limit=12)
    whole = result["rows"][-1]
    assert whole["n"] == 12
    assert whole["hard_osu"] > whole["hard_none"]


def test_recalls_are_the_best_cosine_and_the_share_above_one_half() -> None:
    evidence = np.array([[1.0, 0.0], [0.0, 1.0]], dtype=np.float32)
    found = recalls(evidence, ["x"], lambda texts: np.array([[1.0, 0.0]] * len(texts), dtype=np.float32))
    assert found == (0.5, 0.5)
    assert recalls(evidence, [], lambda texts: evidence) == (0.0, 0.0)
