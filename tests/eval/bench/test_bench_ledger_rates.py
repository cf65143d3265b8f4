"""The ledger's rates are taken on whole episodes that really were appended and committed."""

from __future__ import annotations

from pathlib import Path

from rebind.eval.bench.ledger_rates import measure


def test_rates_and_what_they_were_taken_on_are_reported(tmp_path: Path) -> None:
    found = measure(events=50, episodes=6, threads=3, folder=tmp_path)
    assert (found["events"], found["episodes"], found["threads"], found["episode_events"]) == (50, 6, 3, 26)
    assert found["append_per_s"] > 0
    assert found["episodes_per_s"] > 0
    assert found["fsyncs_per_s"] > 0
    assert found["episode_bytes"] > 10 * found["step_bytes"] > 5_000
    assert list(tmp_path.iterdir()) == []
