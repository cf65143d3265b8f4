"""Progress where there is no terminal: lines for a log."""

from __future__ import annotations

import pytest

from rebind.cli import output


def test_what_is_left_is_told_by_what_this_run_did(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Fifteen of twenty were there before: one in ten seconds leaves four, forty seconds."""
    clock = iter([0.0, 0.0, 10.0, 20.0])
    monkeypatch.setattr(output.time, "monotonic", lambda: next(clock))
    with output.progress("demo") as advance:
        advance("episodes", 15, 20)
        advance("episodes", 16, 20)
        advance("a word that is far longer than a narrow terminal is wide " * 3, 17, 20)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "demo: 15/20 after 0 s  episodes"
    assert lines[1] == "demo: 16/20 after 10 s, about 40 s left  episodes"
    assert len(lines) == 3


def test_each_part_of_the_work_has_a_time_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second part begins at 100 s: one of two after 5 s leaves 5 s."""
    clock = iter([0.0, 0.0, 100.0, 100.0, 105.0])
    monkeypatch.setattr(output.time, "monotonic", lambda: next(clock))
    with output.progress("build") as advance:
        for word, done in (("rollouts", 0), ("rollouts", 2), ("skills", 0), ("skills", 1)):
            advance(word, done, 2)
    assert capsys.readouterr().err.splitlines()[-1] == "build: 1/2 after 105 s, about 5 s left  skills"
