"""WebArena with its own judge: `browsergym-webarena` in its own process and Chromium, on a stub site."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.originals import runnable

from rebind.envs.adapters.browsergym.env import written
from rebind.envs.adapters.webarena.original.check import plays, right, wrong
from rebind.envs.adapters.webarena.original.env import WebArenaEnv
from rebind.envs.adapters.webarena.original.runner import WebArenaRunner, judging
from rebind.envs.adapters.webarena.original.tasks import sites, task, tasks
from rebind.envs.adapters.webarena.original.world import WebArenaWorld
from rebind.envs.adapters.webarena.sites import SITES, variable
from rebind.errors import CannotShift, EnvironmentFailure, UserError
from rebind.types import Code, Completion, Request, ToolCall

NEEDS_JUDGE = 168


@pytest.fixture(autouse=True)
def _no_sites(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test here asks the real sites, wherever they may be."""
    for site in SITES:
        monkeypatch.delenv(variable(site), raising=False)


@pytest.fixture(scope="module")
def world() -> WebArenaWorld:
    return runnable(WebArenaWorld())


@pytest.fixture(scope="module")
def env(world: WebArenaWorld) -> Iterator[WebArenaEnv]:
    made = WebArenaEnv()
    yield made
    made.close()


class _Agreeing:
    """A judge's model that finds every answer right, and notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Request] = []

    def complete(self, request: Request) -> Completion:
        self.asked.append(request)
        return Completion(text="They are the same.")

    def count(self, request: Request) -> int:
        return 0


@pytest.fixture
def model() -> _Agreeing:
    return _Agreeing()


@pytest.fixture
def runner(world: WebArenaWorld, model: _Agreeing) -> Iterator[WebArenaRunner]:
    made = WebArenaRunner(sites(stubbed=True), judging(model, "simulated/judge"))
    yield made
    made.close()


def test_answers_are_judged_by_webarena(env: WebArenaEnv) -> None:
    """The right answer passes, another does not; the goal is WebArena's, and so are the tools."""
    target = WebArenaWorld().target(task(132, stubbed=True))
    assert target.task.goal == "How many commits did kilian make to a11yproject on 3/5/2023?"
    assert plays(env, target.seal, right(132))
    assert {"click", "fill", "goto", "send_msg_to_user"} <= {tool.name for tool in env.tools()}
    assert not plays(env, target.seal, wrong(132))


def test_evaluators_wait_for_the_end(env: WebArenaEnv) -> None:
    """A page that solves the task does not end it, as stock would: the evaluators are asked once the agent has stopped.
    What is no action is refused with words, and so are
    the machine's files, among which the answers are."""
    env.reset(options={"seal": WebArenaWorld().target(task(45, stubbed=True)).seal})
    go, done = right(45)
    seen, _, over, _, info = env.step(go)
    assert "/-/issues/?sort=created_asc" in seen
    assert (over, info["error"]) == (False, None)
    assert "no Python" in env.step(Code(code="1"))[4]["error"]
    assert "begin with http" in env.step(ToolCall(tool="goto", args={"url": "file:///etc/passwd"}))[4]["error"]
    assert "Could not find element" in env.step(ToolCall(tool="click", args={"bid": "999"}))[4]["error"]
    assert env.step(done)[2]
    assert env.verify().success


def test_text_arrives_and_leaving_ends(env: WebArenaEnv) -> None:
    """Quotes, backslashes and other letters reach the page unchanged; an open page that is not of the sites is no
    success, as WebArena has it."""
    env.reset(options={"seal": WebArenaWorld().target(task(132, stubbed=True)).seal})
    address = f"{sites(stubbed=True)['gitlab']}/users/sign_in"
    seen = env.step(ToolCall(tool="goto", args={"url": address}))[0]
    field = next(line for line in seen.splitlines() if "textbox 'Username" in line).split("]")[0].strip("\t [")
    text = 'it\'s "so", \\ übel (1)'
    seen, _, _, _, info = env.step(ToolCall(tool="fill", args={"bid": field, "value": text}))
    assert info["error"] is None
    assert repr(text) in seen or text in seen
    assert env.step(ToolCall(tool="goto", args={"url": "http://127.0.0.1:9/"}))[4]["error"]
    assert not env.verify().success


def test_the_judge_is_asked_once(runner: WebArenaRunner, model: _Agreeing) -> None:
    """A task whose answer a model compares asks the judge that was given, once, when the agent has stopped."""
    runner.start(task=NEEDS_JUDGE)
    assert runner.act(written("send_msg_to_user", {"text": "there is none"})).ended
    assert model.asked == []
    assert runner.score().score == 1.0
    (asked,) = model.asked
    assert (asked.model, asked.purpose, [m.role for m in asked.messages]) == (
        "simulated/judge",
        "judge",
        ["system", "user"],
    )
    assert "there is none" in asked.messages[1].content


def test_a_judge_that_says_nothing_to_the_point_is_no_score_of_0(world: WebArenaWorld) -> None:
    """Stock takes an answer that it cannot read for a failed task; it says nothing of the agent."""
    runner = WebArenaRunner(sites(stubbed=True), lambda _: "It is hard to say.")
    try:
        runner.start(task=NEEDS_JUDGE)
        runner.act(written("send_msg_to_user", {"text": "there is none"}))
        with pytest.raises(EnvironmentFailure, match="hard to say"):
            runner.score()
    finally:
        runner.close()


def test_without_a_judge_its_tasks_are_left_out(world: WebArenaWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """With all sites set, the 118 tasks that need a judge are families' only where there is one; with some sites set,
    the others are named."""
    for site, address in sites(stubbed=True).items():
        monkeypatch.setenv(variable(site), address)
    counts = [len(list(tasks(judge))) for judge in (True, False)]
    assert counts == [812, 812 - 118]
    assert world.unavailable() is None
    monkeypatch.delenv("WA_MAP")
    assert "WA_MAP" in str(world.unavailable())
    with pytest.raises(UserError, match="WA_MAP"):
        WebArenaRunner(sites(stubbed=False))


def test_an_unreachable_site_is_infrastructure(world: WebArenaWorld) -> None:
    """A site that does not answer at the login is an environment failure."""
    made = WebArenaRunner(dict.fromkeys(SITES, "http://127.0.0.1:9"))
    try:
        with pytest.raises(EnvironmentFailure, match="ERR_"):
            made.start(task=132)
    finally:
        made.close()


def test_tasks_of_a_template_are_shifts(world: WebArenaWorld) -> None:
    """Two tasks of a template are each other's shifts; `none` cannot be had, for a task is worded once."""
    source = world.sample("webarena-stub/322", 0)
    shifted = world.shift(source.seal, "medium", 0)
    assert set(shifted.seal.changed) == {"user", "date"}
    with pytest.raises(CannotShift, match="wording"):
        world.shift(source.seal, "none", 0)


def test_not_installed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package there are no families, and every way in says how to install it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = WebArenaWorld()
    assert "rebind envs install webarena" in str(made.unavailable())
    assert made.families() == ()
    with pytest.raises(UserError, match="rebind envs install webarena"):
        made.sample("webarena-stub/322", 0)
