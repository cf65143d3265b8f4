"""WebArena's tasks in a real Chromium on a stub site, judged by `webarena-verified` itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.originals import runnable

from rebind.envs.adapters.webarena import stub
from rebind.envs.adapters.webarena.check import plays
from rebind.envs.adapters.webarena.env import WebArenaVerifiedEnv
from rebind.envs.adapters.webarena.install import dataset
from rebind.envs.adapters.webarena.judge import Judge
from rebind.envs.adapters.webarena.runs import right, wrong
from rebind.envs.adapters.webarena.sites import SITES, STATE_VARIABLE, variable
from rebind.envs.adapters.webarena.tasks import task
from rebind.envs.adapters.webarena.world import WebArenaVerifiedWorld
from rebind.envs.browser.engine import engine
from rebind.errors import CannotShift, EnvironmentFailure, UserError
from rebind.types import ToolCall

SOMEWHERE = {site: f"http://127.0.0.1:4{n}000" for n, site in enumerate(SITES)}
ANSWER, REQUEST = "AgentResponseEvaluator", "NetworkEventEvaluator"


@pytest.fixture(autouse=True)
def _no_sites(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test here asks the real sites, wherever they may be."""
    for name in (*map(variable, SITES), STATE_VARIABLE):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def world() -> WebArenaVerifiedWorld:
    return runnable(WebArenaVerifiedWorld())


@pytest.fixture(scope="module")
def env(world: WebArenaVerifiedWorld) -> Iterator[WebArenaVerifiedEnv]:
    made = WebArenaVerifiedEnv()
    yield made
    made.close()


@pytest.fixture
def judge(env: WebArenaVerifiedEnv) -> Judge:
    """The environment's own, for each of its own takes seconds to start."""
    return env._official


@pytest.mark.parametrize(
    ("number", "fails"),
    [
        pytest.param(132, ANSWER, id="a retrieved answer"),
        pytest.param(45, REQUEST, id="the last page opened"),
        pytest.param(399, REQUEST, id="a POST of fields, answered by a redirect"),
        pytest.param(389, REQUEST, id="a POST of JSON, with values in its address"),
        pytest.param(453, REQUEST, id="a POST of parts"),
        pytest.param(511, REQUEST, id="a cookie of the answer"),
        pytest.param(528, REQUEST, id="a request that must not be made"),
    ],
)
def test_right_run_scores_one_and_wrong_run_zero(env: WebArenaVerifiedEnv, number: int, fails: str) -> None:
    """On recordings of a real Chromium the package gives the right run 1.0 in every part, and the wrong one 0.0 for the
    part that it is wrong in alone."""
    one = task(number, stub=True)
    assert plays(env, one, right(number)) == 1.0
    assert env.judgement is not None
    assert all(part.passed for part in env.judgement.parts)
    assert plays(env, one, wrong(number)) == 0.0
    failed = [part for part in env.judgement.parts if not part.passed]
    assert [part.name for part in failed] == [fails]
    assert failed[0].why
    assert failed[0].unwanted == (number == 528)


def test_check_proves_a_template(world: WebArenaVerifiedWorld) -> None:
    """`rebind envs check webarena-verified` counts tasks and shares, and does not call them WebArena scores."""
    found = world.check(["webarena-stub/322"], range(1), lambda *_: None)
    assert found == {
        "data": "stub site of our own, no WebArena scores",
        "families": 1,
        "tasks": 1,
        "right_pass": 1.0,
        "wrong_pass": 0.0,
        "noop_pass": 0.0,
        "failures": [],
    }
    with pytest.raises(UserError, match="did you mean 'webarena-stub/322'"):
        world.check(["webarena-stub/32"], range(1), lambda *_: None)


def test_trace_archives_lack_the_body(env: WebArenaVerifiedEnv, judge: Judge, tmp_path: Path) -> None:
    """The same run scores 0.0 on Playwright's trace archive, in which the package finds no request body, and 1.0 on our
    recording of it: the reason for recording ourselves."""
    one, archive = task(399, stub=True), tmp_path / "trace.zip"
    env.reset(options={"seal": WebArenaVerifiedWorld().target(one).seal})
    session = env._session
    assert session is not None
    engine().run(session.context.tracing.start(snapshots=True), 20.0, "starting a trace")
    for action in right(399):
        env.step(action)
    engine().run(session.context.tracing.stop(path=archive), 20.0, "ending a trace")
    said = str(right(399)[-1].args["text"])
    from_archive = judge.evaluate(399, said, archive, stub.addresses())
    from_recording = judge.evaluate(399, said, env.har(), stub.addresses())
    assert (from_archive.score, from_recording.score) == (0.0, 1.0)
    assert "Checked 1 event" in from_archive.parts[1].why


def test_every_kind_of_answer_is_judged(judge: Judge) -> None:
    """Of each of the 41 forms of retrieved data a task accepts its own expected answer, and refuses it with another
    status: what is installed is enough for dates, money, addresses, coordinates, durations and the rest."""
    entry = {
        "request": {"method": "GET", "url": "http://127.0.0.1:40000/", "headers": []},
        "response": {"status": 200, "headers": [], "redirectURL": "", "content": {}},
    }
    har, forms = {"log": {"entries": [entry]}}, {}
    for raw in json.loads(dataset().read_text(encoding="utf-8")):
        if [one["evaluator"] for one in raw["eval"]] == [ANSWER] and "retrieved_data" in raw["eval"][0]["expected"]:
            forms[json.dumps(raw["eval"][0]["results_schema"], sort_keys=True)] = raw
    assert len(forms) == 41
    for raw in forms.values():
        expected = raw["eval"][0]["expected"]
        answer = {**expected, "retrieved_data": _first(expected["retrieved_data"])}
        assert judge.evaluate(raw["task_id"], answer, har, SOMEWHERE).score == 1.0
        assert judge.evaluate(raw["task_id"], {**answer, "status": "UNKNOWN_ERROR"}, har, SOMEWHERE).score == 0.0


def test_a_body_that_nobody_tells_is_no_failure_of_the_agent(env: WebArenaVerifiedEnv, judge: Judge) -> None:
    """A form with a chosen file has a body that Chromium tells nobody. Where a part fails that looks for such a one,
    the run cannot be judged; where nothing looks for it, it can."""
    one = task(399, stub=True)
    env.reset(options={"seal": WebArenaVerifiedWorld().target(one).seal})
    for action in right(399)[:2]:
        env.step(action)
    session = env._session
    assert session is not None
    page = session.page
    change = """f => {
        f.enctype = 'multipart/form-data';
        f.append(Object.assign(document.createElement('input'), {type: 'file', name: 'picture'}));
    }"""
    picture = {"name": "a.png", "mimeType": "image/png", "buffer": b"dots"}
    engine().run(page.eval_on_selector("form", change), 20.0, "changing the form")
    engine().run(page.set_input_files("[name=picture]", [picture]), 20.0, "choosing a file")  # type: ignore[list-item]
    for action in right(399)[2:]:
        env.step(action)
    with pytest.raises(EnvironmentFailure, match=r"cannot be judged.*body of POST http.*/edit_biography"):
        env.verify()
    said = str(right(132)[-1].args["text"])
    assert judge.evaluate(132, said, env.har(), stub.addresses()).score == 1.0
    assert judge.evaluate(389, said, env.har(), stub.addresses()).score == 0.0  # another site's request


def _first(data: Any) -> Any:
    """One of the expected answers: a list within the list names alternatives."""
    return [one[0] if isinstance(one, list) else one for one in data] if isinstance(data, list) else data


def test_what_cannot_be_judged_is_infrastructure(judge: Judge, tmp_path: Path) -> None:
    """An unknown task, an empty recording and a broken file are environment failures with the package's words."""
    with pytest.raises(EnvironmentFailure, match="could not judge task 100000"):
        judge.evaluate(100_000, None, {"log": {"entries": [{}]}}, SOMEWHERE)
    with pytest.raises(EnvironmentFailure, match="holds no request"):
        judge.evaluate(132, None, {"log": {"entries": []}}, SOMEWHERE)
    broken = tmp_path / "broken.har"
    broken.write_text("{")
    with pytest.raises(EnvironmentFailure, match="could not judge task 132"):
        judge.evaluate(132, None, broken, SOMEWHERE)


def test_tasks_of_a_template_are_shifts(world: WebArenaVerifiedWorld) -> None:
    """Two tasks of a template are each other's shifts, their goal without any address; `none` cannot be had."""
    source = world.sample("webarena-stub/322", 0)
    shifted = world.shift(source.seal, "medium", 0)
    assert set(shifted.seal.changed) == {"user", "date"}
    assert shifted.task.key != source.task.key
    assert "127.0.0.1" not in source.task.goal
    with pytest.raises(CannotShift, match="wording"):
        world.shift(source.seal, "none", 0)


@pytest.fixture
def gitlab(monkeypatch: pytest.MonkeyPatch) -> str:
    """A GitLab whose address is set as that of a real one would be."""
    address = stub.addresses()["gitlab"]
    monkeypatch.setenv(variable("gitlab"), f"{address}/")
    return address


def test_addresses_make_all_tasks_of_a_site(
    world: WebArenaVerifiedWorld, env: WebArenaVerifiedEnv, gitlab: str
) -> None:
    """With a site's address set its tasks are WebArena's, run there and judged; there is no solution to play."""
    names = world.families()
    assert len(names) > 40
    assert all(name.startswith("webarena-verified/") for name in names)
    seal = WebArenaVerifiedWorld().target(task(45, stub=False)).seal
    seen, _ = env.reset(options={"seal": seal})
    assert f"gitlab: {gitlab}" in seen
    for action in right(45):
        env.step(action)
    assert env.verify().success
    with pytest.raises(UserError, match="no solutions"):
        world.oracle(seal)


def test_a_task_of_an_unset_site_names_the_variable(env: WebArenaVerifiedEnv, gitlab: str) -> None:
    """A task of a site without an address is refused, and told which variable it needs."""
    with pytest.raises(UserError, match="WA_REDDIT"):
        env.reset(options={"seal": WebArenaVerifiedWorld().target(task(399, stub=False)).seal})


def test_an_unreachable_site_is_infrastructure(env: WebArenaVerifiedEnv, monkeypatch: pytest.MonkeyPatch) -> None:
    """A site that does not answer is an environment failure, not the agent's."""
    monkeypatch.setenv(variable("gitlab"), "http://127.0.0.1:9")
    with pytest.raises(EnvironmentFailure, match=r"127\.0\.0\.1:9|ERR_"):
        env.reset(options={"seal": WebArenaVerifiedWorld().target(task(45, stub=False)).seal})


def test_logins_are_used_and_old_ones_refused(
    env: WebArenaVerifiedEnv, gitlab: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user's storage state is sent to the site; one with expired cookies, or that is none, is an error with the
    file's name."""
    seal, file = WebArenaVerifiedWorld().target(task(45, stub=False)).seal, tmp_path / "state.json"
    monkeypatch.setenv(STATE_VARIABLE, str(file))
    cookie = {"name": "_gitlab_session", "value": "abc", "domain": "127.0.0.1", "path": "/"}
    file.write_text(json.dumps({"cookies": [{**cookie, "expires": -1}], "origins": []}))
    env.reset(options={"seal": seal})
    assert {"name": "_gitlab_session", "value": "abc"} in env.har()["log"]["entries"][0]["request"]["cookies"]
    file.write_text(json.dumps({"cookies": [{**cookie, "expires": 1_000_000}], "origins": []}))
    with pytest.raises(UserError, match=r"state\.json holds expired logins \(_gitlab_session\)"):
        env.reset(options={"seal": seal})
    file.write_text("[]")
    with pytest.raises(UserError, match="no storage state of Playwright"):
        env.reset(options={"seal": seal})


def test_being_signed_out_is_infrastructure(
    env: WebArenaVerifiedEnv, gitlab: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A start page that leads to the sign-in page is an environment failure that says what to renew."""
    monkeypatch.setattr("rebind.envs.adapters.webarena.env._SIGN_IN", ("/a11yproject",))
    monkeypatch.setattr(
        "rebind.envs.adapters.webarena.tasks.WebArenaTask.addresses",
        lambda *_: (gitlab, f"{gitlab}/a11yproject/a11yproject.com"),
    )
    with pytest.raises(EnvironmentFailure, match=STATE_VARIABLE):
        env.reset(options={"seal": WebArenaVerifiedWorld().target(task(45, stub=False)).seal})


def test_not_installed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package there are no families, and every way in says how to install it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = WebArenaVerifiedWorld()
    assert "rebind envs install webarena-verified" in str(made.unavailable())
    assert made.families() == ()
    with pytest.raises(UserError, match="rebind envs install webarena-verified"):
        Judge().start()
    with pytest.raises(UserError, match="rebind envs install webarena-verified"):
        made.sample("webarena-stub/322", 0)


def test_answer_ends_and_other_words_do_not_pass(env: WebArenaVerifiedEnv) -> None:
    """An answer that is no JSON ends the episode and fails; the milestone is the answer where no request is looked
    for."""
    env.reset(options={"seal": WebArenaVerifiedWorld().target(task(132, stub=True)).seal})
    assert env.step(ToolCall(tool="send_msg_to_user", args={"text": "one commit"}))[2]
    found = env.verify()
    assert not found.success
    assert [one.reached for one in found.milestones] == [False]
