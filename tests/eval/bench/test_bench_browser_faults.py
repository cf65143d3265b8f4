"""The benchmark of faults in the browser would see an episode that is called what it is not, and a fault that lasts."""

from __future__ import annotations

from typing import Any

import pytest

from rebind.envs.browser.engine import missing
from rebind.eval.bench import browser_faults
from rebind.eval.bench.browser_fault_kinds import CASES, Case, draw, role
from rebind.eval.bench.browser_faults import _clean, _misnamed, run
from rebind.types import Cell, Episode, Outcome, TokenAccount

CELL = Cell(target="t", condition="none", seed=0)


def episode(outcome: Outcome, success: bool | None) -> Episode:
    tokens = TokenAccount(i_base=None, i_mem=None, i_syn=None, o_syn=None, o_act=None, once=None)
    rest: dict[str, Any] = {"milestone": None, "steps": 0, "api_calls": 0, "tokens": tokens}
    return Episode(cell=CELL, attempt=0, outcome=outcome, ending="done", success=success, **rest)


def test_two_hundred_episodes_meet_every_fault_more_than_once() -> None:
    drawn = draw(200)
    assert len(drawn) == 200
    assert all(drawn.count(case) >= 2 for case in CASES)


def test_an_episode_called_otherwise_than_its_fault_demands_is_seen() -> None:
    died, coped = Case("k", "h", "invalid-infra"), Case("k", "h", says="told")
    assert _misnamed(died, False, episode("invalid-infra", None), []) is None
    assert _misnamed(died, False, episode("valid", False), []) is not None
    assert _misnamed(coped, False, episode("valid", True), ["it was told"]) is None
    assert _misnamed(coped, False, episode("valid", True), ["nothing"]) is not None
    assert _misnamed(coped, False, episode("invalid-infra", None), ["told"]) is not None
    assert _misnamed(coped, True, episode("valid", False), ["told"]) is None
    assert _misnamed(coped, True, episode("valid", True), ["told"]) is not None


def test_an_episode_that_sees_something_of_the_last_one_is_not_clean() -> None:
    assert _clean(episode("valid", True), ["Visits: 1"]) is None
    for seen in ("Visits: 2", "Visits: 1\nnote: a dialog was accepted", "tabs: *0\nVisits: 1"):
        assert _clean(episode("valid", True), [seen]) is not None
    assert _clean(episode("invalid-infra", None), ["Visits: 1"]) is not None
    assert _clean(None, []) is not None


@pytest.mark.parametrize(
    ("command", "is_"),
    [
        (["/x/playwright/driver/node", "/x/playwright/driver/package/cli.js"], "driver"),
        (["/usr/lib/chromium/chromium", "--headless"], "browser"),
        (["/usr/lib/chromium/chromium --type=renderer --lang=en"], "renderer"),
        (["/usr/lib/chromium/chromium", "--type=zygote"], "helper"),
        (["/usr/bin/python", "-m", "pytest"], ""),
        ([], ""),
    ],
)
def test_a_browsers_processes_are_told_by_their_command(command: list[str], is_: str) -> None:
    assert role(command) == is_


def test_faults_that_happen_are_counted_and_one_that_is_expected_wrongly_is_misattributed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    why = missing()
    if why:
        pytest.skip(f"needs a browser: {why}")
    cases = [
        Case("server-killed", "before a link", "invalid-infra", kill="server"),
        Case("crash", "browser", "invalid-infra", kill="browser", at=1),
        Case("crash", "as if nothing had happened", "valid", kill="renderer", at=1),
    ]
    monkeypatch.setattr(browser_faults, "draw", lambda count: cases[:count])
    result = run(3)
    assert (result["episodes"], result["hung"], result["next_clean"]) == (3, 0, 3)
    assert (result["leftover_processes"], result["leftover_contexts"]) == (0, 0)
    assert result["misattributed"] == 1
    assert "as if nothing had happened: episode 2 is invalid-infra, not valid" in result["details"][0]
    assert result["kinds"]["crash"]["misattributed"] == 1
