"""Processes of another Python."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rebind.envs.adapters.lines import Refused, Side
from rebind.errors import EnvironmentFailure

_PROGRAM = """
import os, subprocess, sys, time
def answer(do):
    print("packages print what they like")
    if do == "environment":
        return dict(os.environ)
    elif do == "refuse":
        raise ValueError("no such thing")
    elif do == "child":
        return subprocess.Popen(["sleep", "60"]).pid
    elif do == "die":
        sys.exit("out of luck")
    elif do == "sleep":
        time.sleep(60)
"""


@pytest.fixture
def side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Side]:
    monkeypatch.setenv("OPENAI_API_KEY", "secret-of-ours")
    package = tmp_path / "program"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "main.py").write_text(_PROGRAM)
    made = Side(Path(sys.executable), package)
    yield made
    made.close()


def test_no_key_crosses_over(side: Side) -> None:
    """The other process sees no variable of ours that could hold a key."""
    seen = side.ask("environment")
    assert "OPENAI_API_KEY" not in seen
    assert "secret-of-ours" not in str(seen)


def test_refusal_keeps_the_process(side: Side) -> None:
    """A refusal carries the other side's words, and the next question is answered."""
    with pytest.raises(Refused, match="no such thing"):
        side.ask("refuse")
    assert side.ask("environment")["LANG"] == "C.UTF-8"


def test_death_is_infrastructure(side: Side) -> None:
    """A process that ends while asked is an environment failure with its last words."""
    with pytest.raises(EnvironmentFailure, match="out of luck"):
        side.ask("die")


def test_deadline_kills(side: Side) -> None:
    """A process that does not answer in time is killed, and later questions fail at once."""
    with pytest.raises(EnvironmentFailure, match="in time"):
        side.ask("sleep", seconds=0.3)
    with pytest.raises(EnvironmentFailure):
        side.ask("environment")


def test_close_ends_children(side: Side) -> None:
    """Closing ends what the process started, too."""
    child = side.ask("child")
    side.close()
    for _ in range(100):
        if not _alive(child):
            break
        time.sleep(0.02)
    assert not _alive(child)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
