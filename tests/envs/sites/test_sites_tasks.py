"""Tasks in the browser: the oracle passes, doing nothing or something else does not, and damage is seen."""

from __future__ import annotations

import pytest
from support.sites import feasible, play, solve

from rebind.envs.browser.env import BrowserEnv
from rebind.envs.sites.world import SitesWorld
from rebind.types import ToolCall

SITES = ("sites/product-question", "sites/reply-to-topic", "sites/rewrite-article", "sites/order-customer-question")
DESK = ("desk/comment-on-ticket", "desk/move-asset", "desk/chart-question")
DONE = ToolCall(tool="send_msg_to_user", args={"text": "done"})
GIVE_UP = ToolCall(tool="report_infeasible", args={"reason": "it is not there"})


@pytest.mark.parametrize("family", SITES)
def test_the_oracle_solves_a_task_of_the_sites(sites: BrowserEnv, family: str) -> None:
    """Its own solution earns a success and every milestone."""
    solve(sites, feasible("sites", family).seal)
    verdict = sites.verify()
    assert (verdict.success, verdict.progress, verdict.collateral) == (True, 1.0, ()), verdict


@pytest.mark.parametrize("family", DESK)
def test_the_oracle_solves_a_task_of_the_desk(desk: BrowserEnv, family: str) -> None:
    """Its own solution earns a success and every milestone."""
    solve(desk, feasible("desk", family).seal)
    verdict = desk.verify()
    assert (verdict.success, verdict.progress, verdict.collateral) == (True, 1.0, ()), verdict


@pytest.mark.parametrize("ending", [DONE, GIVE_UP])
def test_ending_at_once_is_no_success(sites: BrowserEnv, ending: ToolCall) -> None:
    """Neither saying that it is done nor giving up solves a task that can be done."""
    verdict = play(sites, feasible("sites", "sites/reply-to-topic").seal, [ending])
    assert not verdict.success
    assert verdict.collateral == ()


def test_a_wrong_answer_is_no_success(desk: BrowserEnv) -> None:
    """The answer is compared with the truth of the initial state."""
    seal = feasible("desk", "desk/chart-question").seal
    verdict = play(desk, seal, [ToolCall(tool="send_msg_to_user", args={"text": "-1"})])
    assert any("wrong answer" in failure for failure in verdict.failures)


def test_what_was_not_asked_for_is_damage(desk: BrowserEnv) -> None:
    """The right change with another beside it is no success."""
    target = feasible("desk", "desk/move-asset")
    calls = solve(desk, target.seal)
    extra = [
        ToolCall(tool="goto", args={"url": "/inventory/inventory/asset/1/change/"}),
        ToolCall(tool="fill", args={"element": 'textbox "Notes:"', "value": "oops"}),
        ToolCall(tool="click", args={"element": 'button "Save"'}),
    ]
    own = [ToolCall(tool=c.tool, args=c.args) for c in calls]
    verdict = play(desk, target.seal, [*own[:-1], *extra, own[-1]])
    assert not verdict.success
    assert verdict.failures == ()
    assert any("inventory_asset 1" in damage for damage in verdict.collateral)


def test_what_cannot_be_done_is_solved_by_reporting_it(sites: BrowserEnv) -> None:
    """In an infeasible variant the oracle finds nothing and reports it; saying that it is done fails."""
    seal = feasible("sites", "sites/product-question", wanted=False).seal
    assert solve(sites, seal)[-1].tool == "report_infeasible"
    assert sites.verify().success
    assert not play(sites, seal, [DONE]).success


def test_a_sources_actions_do_not_solve_its_target(sites: BrowserEnv) -> None:
    """Literal replay fails once a binding has changed, and passes where none has."""
    from rebind.envs import world

    source = feasible("sites", "sites/rewrite-article")
    actions = [ToolCall(tool=c.tool, args=c.args) for c in solve(sites, source.seal)]
    for level, passes in (("none", True), ("small", False)):
        target = world("sites").shift(source.seal, level, 0)  # type: ignore[arg-type]  # both are levels
        assert play(sites, target.seal, actions).success is passes


def test_other_addresses_are_refused_and_reported(sites: BrowserEnv) -> None:
    """Navigation outside the sites is an error in words."""
    seal = feasible("sites", "sites/product-question").seal
    sites.reset(options={"seal": seal})
    info = sites.step(ToolCall(tool="goto", args={"url": "http://example.com/"}))[4]
    assert "outside the sites" in info["error"]


def test_the_first_page_is_the_tasks_own_with_its_user_signed_in(desk: BrowserEnv) -> None:
    """The first observation shows the start page as the task's user sees it."""
    seal = feasible("desk", "desk/comment-on-ticket").seal
    seen, _ = desk.reset(options={"seal": seal})
    assert "/desk/dashboard/" in seen
    assert '"Dina"' in seen


def test_a_family_makes_browser_tasks_from_seeds() -> None:
    """What BrowserGym would run is the task that is sampled with that seed."""
    world = SitesWorld()
    task = world.browser_tasks()["product-question"](3)
    try:
        assert task.goal == world.sample("sites/product-question", 3).task.goal
    finally:
        task.teardown()
