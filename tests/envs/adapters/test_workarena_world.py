"""WorkArena through `browsergym-workarena` in its own process; no ServiceNow instance is asked here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue
from support.servicenow import MODULE, OTHER, Instance, served

from rebind.envs.adapters.reach import SNOW
from rebind.envs.adapters.workarena.configurations import NAMES, file
from rebind.envs.adapters.workarena.install import configurations, missing
from rebind.envs.adapters.workarena.runner import WorkArenaRunner
from rebind.envs.adapters.workarena.tasks import VARIABLE, WorkArenaTask, listed
from rebind.envs.adapters.workarena.world import WorkArenaWorld
from rebind.envs.browser.engine import missing as no_browser
from rebind.errors import CannotShift, EnvironmentFailure, UserError
from rebind.types import Seal, ToolCall

_ASKING = {
    "knowledge-base-search", "multi-chart-min-max-retrieval", "multi-chart-value-retrieval",
    "single-chart-min-max-retrieval", "single-chart-value-retrieval",
}  # fmt: skip
"""Classes whose goal the package reads with an instance."""


class Handler(BaseHTTPRequestHandler):
    """A server that is no ServiceNow: a login page where its path says so, greetings elsewhere."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        login = self.path.startswith("/login")
        self.wfile.write(b'<form>Password <input type="password"></form>' if login else b"welcome")

    def log_message(self, format: str, *args: Any) -> None: ...


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    with served(Handler) as url:
        yield url


@pytest.fixture(autouse=True)
def _no_instance(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test here asks a real instance, wherever it may be."""
    for name in (*SNOW, VARIABLE):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def runner() -> Iterator[WorkArenaRunner]:
    if why := missing() or no_browser():
        pytest.skip(f"workarena cannot run here: {why}")
    made = WorkArenaRunner({})
    yield made
    made.close()


def _name(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    for name, value in zip(SNOW, (url, "admin", "-secret-"), strict=True):
        monkeypatch.setenv(name, value)


def _first(name: str) -> JsonValue:
    """A class's first configuration, without reading the tens of megabytes after it."""
    path = file(configurations(), name)
    assert path is not None
    with path.open(encoding="utf-8") as text:
        found: JsonValue = json.JSONDecoder().raw_decode(text.read(1_000_000).lstrip("[ \n"))[0]
    return found


def _seal() -> Seal:
    world: dict[str, JsonValue] = {"task": "all-menu", "config": dict(MODULE), "goal": "Navigate"}
    return Seal(canary="c" * 32, env="rebind/WorkArena-v0", task_key="k", family="workarena/all-menu", world=world)


def test_the_package_has_the_33_classes(runner: WorkArenaRunner) -> None:
    """The names that Rebind goes by are the package's, and each has a file of configurations."""
    assert sorted(runner.kinds()) == sorted(NAMES)
    assert len(NAMES) == 33
    assert [one.removeprefix("workarena/") for one in listed()] == list(NAMES)


def test_28_goals_need_no_instance(runner: WorkArenaRunner) -> None:
    """The package words the first configuration of 28 classes without an instance; the other 5 say what they need."""
    goals = {name: runner.word(name, _first(name)).goal for name in NAMES if name not in _ASKING}
    for name in _ASKING:
        with pytest.raises(EnvironmentFailure, match="SNOW_INSTANCE_URL"):
            runner.word(name, _first(name))
    assert len(goals) == 28
    assert all(goals.values())
    assert goals["impersonation"] == "Impersonate the user ATF Change Management."
    assert goals["order-apple-watch"] == 'Go to the hardware store and order 1 "Apple Watch"'
    assert goals["create-incident"].startswith("Create a new incident with a value of ")


def test_drawn_names_are_the_configurations(runner: WorkArenaRunner) -> None:
    """Names and serial numbers that stock draws anew at each start are the same in another process, are told in the
    goal, and stay when the task is made again of what was drawn."""
    config = _first("create-user")
    first, other = runner.word("create-user", config), WorkArenaRunner({})
    try:
        assert other.word("create-user", config) == first
    finally:
        other.close()
    values = {b.name: b.value for b in WorkArenaTask("create-user", first.config).bindings()}
    assert f'"{values["first_name"]}"' in first.goal
    assert values["email"] in first.goal
    assert isinstance(config, dict)
    assert isinstance(first.config, dict)
    assert first.config["template_record"] != config["template_record"]


def test_without_an_instance_nothing_starts(runner: WorkArenaRunner) -> None:
    """The process refuses to start a task where no instance is named, and says which variable is not set."""
    with pytest.raises(EnvironmentFailure, match="SNOW_INSTANCE_URL"):
        runner.start(task="all-menu", config=MODULE)


def test_unset_variables_are_named() -> None:
    """Without the variables there are no families, and a reset names them, as the listing does."""
    world = WorkArenaWorld()
    assert all(name in str(world.unavailable()) for name in SNOW)
    assert "rebind doctor" in str(world.unavailable())
    assert world.families() == ()
    with pytest.raises(EnvironmentFailure, match="SNOW_INSTANCE_URL, SNOW_INSTANCE_UNAME, SNOW_INSTANCE_PWD"):
        world.make().reset(options={"seal": _seal()})


@pytest.mark.parametrize(
    ("url", "why", "what"),
    [
        ("http://127.0.0.1:9", "unreachable", "SNOW_INSTANCE_URL"),
        ("{origin}", "is no ServiceNow instance", "SNOW_INSTANCE_URL"),
        ("{origin}/login", "refuses the user admin", "SNOW_INSTANCE_PWD"),
    ],
)
def test_an_instance_that_is_none_is_infrastructure(
    origin: str, monkeypatch: pytest.MonkeyPatch, url: str, why: str, what: str
) -> None:
    """A server that does not answer, is no ServiceNow, or shows its login page is an environment failure that says so
    and names the variable, not the password."""
    _name(monkeypatch, url.format(origin=origin))
    with pytest.raises(EnvironmentFailure, match=why) as failed:
        WorkArenaWorld().make().reset(options={"seal": _seal()})
    assert what in str(failed.value)
    assert "-secret-" not in str(failed.value)
    assert why in str(WorkArenaWorld().unavailable())


def test_the_package_itself_fails_on_another_server(
    origin: str, runner: WorkArenaRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Past our own check, the package's setup on a server that is no ServiceNow is an environment failure, too."""
    made = WorkArenaRunner(dict(zip(SNOW, (origin, "admin", "-secret-"), strict=True)))
    try:
        with pytest.raises(EnvironmentFailure, match="WorkArena could not start") as failed:
            made.start(task="all-menu", config=MODULE)
        assert "-secret-" not in str(failed.value)
    finally:
        made.close()


def test_a_task_is_played_through(runner: WorkArenaRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a stand-in for an instance: WorkArena makes its user, signs in and words the goal; its evaluator is asked when
    the agent has stopped, fails who does nothing, and passes who opens the module."""
    (tmp_path / "all_menu.json").write_text(json.dumps([MODULE, OTHER]))
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with served(Instance) as url:
        _name(monkeypatch, url)
        world = WorkArenaWorld()
        assert world.unavailable() is None
        both = [world.sample("workarena/all-menu", seed) for seed in (0, 1)]
        target = next(one for one in both if "Create New" in one.task.goal)
        assert target.task.goal == 'Navigate to the "Create New" module of the "Incident" application.'
        assert set(world.shift(target.seal, "small", 0).seal.changed) == {"module"}
        env = world.make()
        try:
            env.reset(options={"seal": target.seal})
            assert env.step(ToolCall(tool="report_infeasible", args={"reason": "no such module"}))[2]
            assert env.verify().failures == ("WorkArena's score is 0: Not at expected URL.",)
            seen = env.reset(options={"seal": target.seal})[0]
            link = next(line for line in seen.splitlines() if "link 'Create New'" in line).split("]")[0].strip("\t [")
            seen, _, ended, _, info = env.step(ToolCall(tool="click", args={"bid": link}))
            assert MODULE["url"] in seen
            assert (ended, info["error"]) == (False, None)
            assert env.step(ToolCall(tool="send_msg_to_user", args={"text": "done"}))[2]
            assert env.verify().success
        finally:
            env.close()


def test_the_check_plays_the_packages_solutions(
    runner: WorkArenaRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the same stand-in, WorkArena's own solution passes its evaluator, and doing nothing does not."""
    (tmp_path / "all_menu.json").write_text(json.dumps([MODULE, OTHER]))
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with served(Instance) as url:
        _name(monkeypatch, url)
        found = WorkArenaWorld().check(["workarena/all-menu"], range(1), lambda *_: None)
    assert found == {"families": 1, "tasks": 1, "oracle_pass": 1.0, "noop_pass": 0.0, "failures": []}


def test_configurations_of_a_class_are_shifts(runner: WorkArenaRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other configurations of a class are a task's shifts, with goals that the package words and that need no instance
    which answers; `none` cannot be had, for a task is worded once."""
    _name(monkeypatch, "http://127.0.0.1:9")
    world = WorkArenaWorld()
    assert len(world.families()) == 33
    source = world.sample("workarena/order-apple-watch", 0)
    shifted = world.shift(source.seal, "small", 0)
    assert shifted.seal.changed == ("quantity",)
    assert shifted.task.goal != source.task.goal
    assert source == world.sample("workarena/order-apple-watch", 0)
    with pytest.raises(CannotShift, match="wording"):
        world.shift(source.seal, "none", 0)
    with pytest.raises(EnvironmentFailure, match="not reachable"):
        world.sample("workarena/knowledge-base-search", 0)


def test_a_folder_of_ones_own_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """REBIND_WORKARENA names task configurations in place of the package's; a folder without any is a user error."""
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(UserError, match=VARIABLE):
        listed()
    (tmp_path / "impersonation_users.json").write_text('["Ada Lovelace", "Alan Turing"]')
    assert list(listed()) == ["workarena/impersonation"]
    assert [b.value for b in listed()["workarena/impersonation"][0].bindings()] == ["Ada Lovelace"]


def test_not_installed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package every way in says how to install it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    _name(monkeypatch, "http://127.0.0.1:9")
    assert "rebind envs install workarena" in str(WorkArenaWorld().unavailable())
    assert WorkArenaWorld().families() == ()
    with pytest.raises(UserError, match="rebind envs install workarena"):
        WorkArenaWorld().sample("workarena/all-menu", 0)
