"""AppWorld as an environment: the contract on the real engine with a small world of our own, and each known trap."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from rebind.envs.adapters.appworld import guard, install
from rebind.envs.adapters.appworld.env import AppWorldEnv
from rebind.envs.adapters.appworld.install import ROOT_VARIABLE, missing, small_root
from rebind.envs.adapters.appworld.world import AppWorldWorld
from rebind.errors import CannotShift, EnvironmentFailure, UserError
from rebind.types import Code, Target, ToolCall

_ENDLESS = """
while True:
    try:
        while True:
            apis.supervisor.show_profile
    except:
        continue
"""


@pytest.fixture(scope="module")
def world() -> AppWorldWorld:
    if os.environ.get(ROOT_VARIABLE) or missing():
        pytest.skip(f"needs the small world: {missing() or f'unset {ROOT_VARIABLE}'}")
    return AppWorldWorld()


@pytest.fixture(scope="module")
def shared(world: AppWorldWorld) -> Iterator[AppWorldEnv]:
    """One server for all tests that only run our own code, for it takes some ten seconds to start."""
    made = AppWorldEnv(trusted=True)
    yield made
    made.close()


@pytest.fixture
def target(world: AppWorldWorld) -> Target:
    return world.target(world.listed()["appworld-small/5a1c0e1"][0])


def test_contract_on_the_real_engine(world: AppWorldWorld) -> None:
    """Solutions pass, doing nothing fails, and another variant's solution fails, in every task of the small world."""
    found = world.check(None, range(3), lambda *_: None)
    assert found["failures"] == []
    assert found["tasks"] >= 12
    assert (found["oracle_pass"], found["noop_pass"], found["stale_pass"]) == (1.0, 0.0, 0.0)
    assert "no AppWorld scores" in found["data"]


def test_solution_ends_and_is_logged(world: AppWorldWorld, shared: AppWorldEnv, target: Target) -> None:
    """The solution ends the episode with all milestones reached; its calls are those of AppWorld's log, by name."""
    shared.reset(options={"seal": target.seal})
    seen = [shared.step(action) for action in world.oracle(target.seal)(shared)]
    assert [one[2] for one in seen] == [True]
    calls = [call.tool for call in seen[0][4]["calls"]]
    assert calls[-2:] == ["simple_note__create_note", "supervisor__complete_task"]
    verdict = shared.verify()
    assert (verdict.success, verdict.progress, verdict.collateral) == (True, 1.0, ())


def test_doing_nothing_scores_zero(shared: AppWorldEnv, target: Target) -> None:
    """A do-nothing run reaches no milestone, although AppWorld counts its tests of no damage as passed."""
    shared.reset(options={"seal": target.seal})
    assert shared.step(ToolCall(tool="supervisor__complete_task"))[2]
    verdict = shared.verify()
    assert (verdict.success, verdict.progress, verdict.collateral) == (False, 0.0, ())


def test_damage_elsewhere_is_collateral(shared: AppWorldEnv, target: Target) -> None:
    """A test that doing nothing passes and the run fails is reported as collateral damage."""
    shared.reset(options={"seal": target.seal})
    made = shared.step(
        ToolCall(
            tool="todoist__signup",
            args={"first_name": "A", "last_name": "B", "email": "a.b@example.com", "password": "longenough"},
        )
    )
    assert made[4]["calls"][0].ok, made[0]
    assert shared.verify().collateral == ("no table but simple_note.Note has changed.",)


def test_failed_call_has_its_status(shared: AppWorldEnv, target: Target) -> None:
    """A call that AppWorld refuses is an observation, an error, and a call with the status it was refused with."""
    shared.reset(options={"seal": target.seal})
    seen, _, over, _, info = shared.step(
        ToolCall(tool="simple_note__login", args={"username": "x@y.zz", "password": "no"})
    )
    assert seen.startswith("Execution failed")
    assert info["error"]
    assert not over
    assert [call.status for call in info["calls"]] == [401]


def test_calls_that_code_makes_have_their_own_status(shared: AppWorldEnv, target: Target) -> None:
    """A refused call that the code shrugs off is no success, and the one after it no failure."""
    shared.reset(options={"seal": target.seal})
    code = """
try:
    apis.simple_note.login(username="nobody@example.com", password="x")
except Exception:
    pass
apis.supervisor.show_profile()
"""
    info = shared.step(Code(code=code))[4]
    assert info["error"] is None
    assert [(call.tool, call.status) for call in info["calls"]] == [
        ("simple_note__login", 401),
        ("supervisor__show_profile", 200),
    ]


def test_other_code_builds_another_small_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The small world's folder is named after the code that builds it: what older code left is not used."""
    before = small_root()
    shutil.copytree(install.SIDE, tmp_path / "side")
    monkeypatch.setattr(install, "SIDE", tmp_path / "side")
    assert small_root() == before
    with (tmp_path / "side" / "scenarios.py").open("a") as code:
        code.write("# another\n")
    assert small_root() != before


def test_experiment_names_differ(shared: AppWorldEnv, target: Target) -> None:
    """Every attempt writes below a name of its own."""
    names = set()
    for _ in range(3):
        shared.reset(options={"seal": target.seal})
        names.add(shared._experiment)
    assert len(names) == 3


@pytest.mark.parametrize(
    "code",
    [
        "import os",
        "import pathlib as p",
        "from appworld.task import Task",
        "import appworld.requester",
        "from appworld import requester",
        "requester.request('admin', 'x')",
        "Requester()",
        "__import__('os')",
        "if True:\n    from os import path",
    ],
)
def test_ways_around_are_refused(code: str) -> None:
    """Imports of os, pathlib, appworld and the requester are refused with the name that is not allowed."""
    assert "is refused" in str(guard.refused(code))


def test_usual_code_is_not_refused() -> None:
    """Code that uses the APIs and harmless modules runs; broken code goes on to AppWorld's own message."""
    assert guard.refused("import json, re\nprint(json.dumps(apis.supervisor.show_profile()))") is None
    assert guard.refused("def (") is None


def test_refusal_is_in_the_step(shared: AppWorldEnv, target: Target) -> None:
    """What is refused never reaches AppWorld, and the step's error says it, which is what the ledger keeps."""
    shared.reset(options={"seal": target.seal})
    seen, _, over, _, info = shared.step(Code(code="import os"))
    assert "import of os is refused" in seen
    assert "import of os is refused" in info["error"]
    assert (over, info["calls"]) == (False, ())


def test_ground_truth_is_out_of_reach(shared: AppWorldEnv, target: Target) -> None:
    """The served folder has no ground truth, and the process cannot open the judge's files by their full name."""
    shared.reset(options={"seal": target.seal})
    worker = shared._worker
    assert worker is not None
    assert not list(worker.root.rglob("ground_truth"))
    truth = worker.task.folder / "ground_truth" / "private_data.json"
    assert truth.exists()
    seen = shared.step(Code(code=f"reading = open\nprint(reading({str(truth)!r}).read())"))[0]
    assert "outside of the world's folder" in seen
    assert truth.read_text() not in seen


def test_no_key_crosses_over(shared: AppWorldEnv, target: Target) -> None:
    """The server's environment has no variable of ours, and it listens on the loopback address only."""
    shared.reset(options={"seal": target.seal})
    assert shared._worker is not None
    told = Path(f"/proc/{shared._worker.pid}/environ").read_bytes().decode().split("\0")
    assert not [one for one in told if "KEY" in one.split("=")[0] or "TOKEN" in one.split("=")[0]]
    assert os.getsid(shared._worker.pid) == shared._worker.pid
    assert shared._worker._http.base_url.host == "127.0.0.1"
    sockets = {os.readlink(one) for one in Path(f"/proc/{shared._worker.pid}/fd").iterdir()}
    listening = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    own = [row[1] for row in listening if row[3] == "0A" and f"socket:[{row[9]}]" in sockets]
    assert own
    assert all(address.startswith("0100007F:") for address in own)


def test_endless_code_is_killed(world: AppWorldWorld, target: Target) -> None:
    """A loop that catches everything outlives AppWorld's alarm; the deadline kills it, and the failure is not the
    agent's."""
    env = AppWorldEnv(timeout_seconds=1, margin_seconds=60.0)
    try:
        env.reset(options={"seal": target.seal})
        assert env._worker is not None
        pid = env._worker.pid
        env._margin = 3.0
        with pytest.raises(EnvironmentFailure, match="killed"):
            pytest.fail(env.step(Code(code=_ENDLESS))[0])
        assert not Path(f"/proc/{pid}").exists()
        assert env._worker is None
    finally:
        env.close()


def test_refused_initialize_discards_the_worker(shared: AppWorldEnv, target: Target) -> None:
    """After any answer but 200 to /initialize the server is gone, and the next reset starts another."""
    shared.reset(options={"seal": target.seal})
    worker = shared._worker
    assert worker is not None
    with pytest.raises(EnvironmentFailure, match="status"):
        shared._ask("/initialize", experiment_name=7, timeout_seconds="soon")
    assert shared._worker is None
    assert not Path(f"/proc/{worker.pid}").exists()
    assert "You act for" in shared.reset(options={"seal": target.seal})[0]


def test_shifts_are_other_variants(world: AppWorldWorld) -> None:
    """A shifted target is another variant of the scenario with its changed bindings named; `none` cannot be had."""
    source = world.sample("appworld-small/5a1c0e1", 0)
    shifted = world.shift(source.seal, "medium", 0)
    assert shifted.seal.family == source.seal.family
    assert set(shifted.seal.changed) == {"title", "content"}
    assert shifted.task.key != source.task.key
    for level, reason in (("none", "wording"), ("large", "level")):
        with pytest.raises(CannotShift, match=reason):
            world.shift(source.seal, level, 0)  # type: ignore[arg-type]


def test_not_installed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package the world lists no families and says how to install it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = AppWorldWorld()
    assert "rebind envs install appworld" in str(made.unavailable())
    assert made.families() == ()
    with pytest.raises(UserError, match="rebind envs install appworld"):
        made.sample("appworld-small/5a1c0e1", 0)
