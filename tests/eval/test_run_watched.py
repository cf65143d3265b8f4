"""A run can be watched from its ledger alone: before it begins, while it goes, after it was killed and at its end."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from support.audited import CONDITIONS, Entry, clean_run, write

from rebind.cli.watching import draw, span
from rebind.eval.ledger import LEDGER_FILE, Ledger
from rebind.eval.watch import Watch


def frame(folder: Path) -> dict[str, Any]:
    watch = Watch(folder)
    watch.refresh()
    return watch.frame()


def shown(seen: dict[str, Any]) -> str:
    screen = Console(width=200, record=True, file=open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 — rich's own
    screen.print(draw(seen))
    return screen.export_text()


def begun(entries: list[Entry], episodes: int) -> list[Entry]:
    """A run in the middle of an episode, after so many whole ones; with what a start notes."""
    ends = [n for n, entry in enumerate(entries) if entry.kind == "episode"]
    first = next(n for n, entry in enumerate(entries) if entry.kind == "start")
    plan = {**entries[0].data, "attempts": 2}
    note = Entry("note", {"workers": 3, "cells_left": 10})
    limit = Entry("note", {"concurrency": 2, "provider": "openai", "why": "429"})
    middle = ends[episodes - 1] + 5
    return [Entry("plan", plan), *entries[1:first], note, *entries[first:middle], limit]


def test_a_run_that_has_not_begun_is_said_to_be_so(tmp_path: Path) -> None:
    seen = frame(tmp_path / "nowhere")
    assert (seen["state"], seen["cells"]["total"]) == ("not begun", 0)
    assert "nothing was run there yet" in shown(seen)


def test_a_run_that_goes_on_shows_cells_episodes_under_way_tokens_and_limits(tmp_path: Path) -> None:
    with Ledger.open(tmp_path) as ledger:
        for entry in begun(clean_run(), episodes=3):
            ledger.append(entry.kind, entry.data, entry.cell, entry.attempt)
        ledger.commit()
        seen = frame(tmp_path)
    assert seen["state"] == "running"
    assert seen["cells"] == {"total": 10, "done": 3, "left": 7}
    assert seen["conditions"] == {c: {"valid": 1} if n < 3 else {} for n, c in enumerate(CONDITIONS)}
    (one,) = seen["running"]
    assert (one["step"], one["attempt"]) == (1, 0)
    assert one["last"].startswith("mail_forward")
    assert seen["tokens"]["prompt"] > 0
    asked = 1 + 2 * 3 + 2  # the ranker, the whole episodes, and the one under way
    assert seen["cost"] == pytest.approx(0.5 * asked)
    assert (seen["workers"], seen["concurrency"]) == (3, {"openai": 2})
    text = shown(seen)
    assert "3/10 cells" in text
    assert "openai: at most 2 requests at once" in text


def test_a_run_whose_process_is_gone_says_how_to_go_on(tmp_path: Path) -> None:
    write(begun(clean_run(), episodes=2), tmp_path, seal=False)
    (tmp_path / "ledger.lock").write_text("4194999\n", encoding="ascii")
    seen = frame(tmp_path)
    assert (seen["state"], seen["running"], seen["eta_seconds"]) == ("no process", [], None)
    assert "resumes it" in shown(seen)


def test_a_run_that_stopped_at_its_cost_limit_says_so(tmp_path: Path) -> None:
    stop = Entry("note", {"stopped": "max_cost", "spent": 1.25, "limit": 1.0, "cells_left": 8})
    write([*begun(clean_run(), episodes=2), stop], tmp_path, seal=False)
    seen = frame(tmp_path)
    assert (seen["state"], seen["why"]) == ("stopped", "max_cost 1 reached at 1.2500")


def test_a_finished_run_is_finished(tmp_path: Path) -> None:
    seen = frame(write(clean_run(), tmp_path))
    assert (seen["state"], seen["cells"]["left"], seen["simulated"]) == ("finished", 0, True)
    assert "simulated model" in shown(seen)


def test_watching_takes_in_whole_lines_only_each_once_and_never_writes(tmp_path: Path) -> None:
    write(clean_run(), tmp_path / "whole")
    content = (tmp_path / "whole" / LEDGER_FILE).read_bytes()
    folder = tmp_path / "growing"
    folder.mkdir()
    watch = Watch(folder)
    for end in range(0, len(content) + 1, 3001):
        (folder / LEDGER_FILE).write_bytes(content[:end])
        watch.refresh()
    (folder / LEDGER_FILE).write_bytes(content)
    watch.refresh()
    whole = frame(tmp_path / "whole")
    assert watch.frame()["conditions"] == whole["conditions"]
    assert watch.frame()["tokens"] == whole["tokens"]
    assert [p.name for p in folder.iterdir()] == [LEDGER_FILE]


def test_a_cell_that_infrastructure_failed_is_not_done_while_attempts_are_left(tmp_path: Path) -> None:
    entries = begun(clean_run(), episodes=1)
    ended = next(n for n, e in enumerate(entries) if e.kind == "episode")
    entries[ended] = entries[ended]._replace(data={**entries[ended].data, "outcome": "invalid-infra"})
    seen = frame(write(entries[: ended + 1], tmp_path, seal=False))
    assert (seen["cells"]["done"], seen["infra"]["episodes"]) == (0, 1)


@pytest.mark.parametrize(("seconds", "said"), [(5, "5 s"), (65, "1 min 05 s"), (7260, "2 h 01 min")])
def test_lengths_of_time_are_said_in_words(seconds: float, said: str) -> None:
    assert span(seconds) == said
