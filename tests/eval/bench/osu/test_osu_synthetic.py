"""The synthetic benchmark: its generator's published statistics, its fit without units, and what its result holds."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from rebind.eval.bench.osu import published, synthetic
from rebind.eval.bench.osu.cells import shares
from rebind.eval.bench.osu.generator import World, episodes
from rebind.eval.bench.osu.synthetic import FROZEN, run_synthetic
from rebind.eval.bench.osu.synthetic_tables import tables


def test_the_generator_has_the_published_statistics() -> None:
    made = [e for seed in (200, 201) for e in episodes(FROZEN, seed)]
    queries = [(e.history, q) for e in made for q in e.queries]
    notes = [[history.notes[step] for step in q.evidence] for history, q in queries]
    assert len(queries) / 2 == pytest.approx(published.GENERATOR["queries"], rel=0.03)
    assert np.mean([len(q.evidence) for _, q in queries]) == pytest.approx(2.5, abs=0.05)
    assert all(shares(group).entity for group in notes)
    assert np.mean([shares(group).tool for group in notes]) == pytest.approx(
        published.GENERATOR["tool_shared"], abs=0.03
    )


def test_the_same_seed_gives_the_same_episodes() -> None:
    world = replace(FROZEN, episodes=2)
    one, other = (list(episodes(world, 3)) for _ in range(2))
    assert [e.history.vectors.tobytes() for e in one] == [e.history.vectors.tobytes() for e in other]
    assert [q.evidence.tolist() for e in one for q in e.queries] == [
        q.evidence.tolist() for e in other for q in e.queries
    ]


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_evidence_lies_apart_and_before_its_query(length: int) -> None:
    world = World(episodes=20, burst_length=length)
    for episode in episodes(world, 0):
        for query in episode.queries:
            assert query.at - query.evidence.max() >= world.least_age
            assert np.diff(query.evidence).min() >= world.burst_gap


def test_the_result_has_its_contract_and_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole benchmark on three episodes; the figures are meaningless at that size, the shape is not."""
    monkeypatch.setattr(synthetic, "FROZEN", replace(FROZEN, episodes=3))
    told: list[tuple[int, int]] = []
    result = run_synthetic((0,), lambda done, total: told.append((done, total)), (0,), (100,))
    assert told[-1][0] == told[-1][1]
    assert {"method", "budget", "hit2", "recall", "near", "far"} == set(result["rows"][0])
    assert {"recall", "recall_ci_low", "hit2", "hit2_ci_low", "p"} <= set(result["gain"])
    assert len(result["grid"]) == 12
    assert result["configuration"]["name"]
    json.dumps(result, allow_nan=False)
    assert all(len(row) == len(columns) for _, columns, rows in tables(result) for row in rows)
