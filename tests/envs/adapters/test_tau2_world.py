"""τ² as an environment: the contract on the real package, and what the agent meets."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.originals import installed

from rebind.agents.simulated import SimulatedModel
from rebind.banks.rollers import oracle_roller
from rebind.envs.adapters.tau2.env import Tau2Env
from rebind.envs.adapters.tau2.install import PLACE
from rebind.envs.adapters.tau2.tasks import tasks
from rebind.envs.adapters.tau2.user import Customer
from rebind.envs.adapters.tau2.world import Tau2World
from rebind.envs.adapters.variants import by_family
from rebind.errors import CannotShift, EnvironmentFailure, UserError
from rebind.types import Code, Completion, Request, Target, ToolCall, Usage

_RETURN = "tau2/retail/return_delivered_order_items/86737910"


@pytest.fixture(scope="module")
def world() -> Tau2World:
    installed(PLACE)
    return Tau2World()


@pytest.fixture
def env(world: Tau2World) -> Iterator[Tau2Env]:
    made = Tau2Env()
    yield made
    made.close()


def _solve(world: Tau2World, env: Tau2Env, target: Target) -> bool:
    env.reset(options={"seal": target.seal})
    over = [env.step(action)[2] for action in world.oracle(target.seal)(env)]
    assert over[-1]
    assert not any(over[:-1])
    return env.verify().success


def test_contract_in_every_domain(world: Tau2World) -> None:
    """Gold calls pass, doing nothing fails, and the gold calls of another task of the family fail, in each domain."""
    chosen = [n for d in ("airline", "retail", "telecom") for n in _shared(d)]
    result = world.check(chosen, range(1), lambda *_: None)
    assert result["failures"] == []
    assert set(result["by_domain"]) == {"airline", "retail", "telecom"}
    for shares in result["by_domain"].values():
        assert (shares["oracle_pass"], shares["noop_pass"], shares["stale_pass"]) == (1.0, 0.0, 0.0)
        assert shares["pairs"] > 0


def _shared(domain: str) -> list[str]:
    """The first family of a domain that has tasks with different bindings."""
    for name, members in by_family(tasks()).items():
        if members[0].domain == domain and len({str(one.bindings()) for one in members}) > 1:
            return [name]
    return []


def test_oracle_passes_through_the_environment(world: Tau2World, env: Tau2Env) -> None:
    """The gold calls, one step each, solve a task of each domain with all milestones reached and nothing damaged."""
    for domain in ("airline", "retail", "telecom"):
        name = _shared(domain)[0]
        assert _solve(world, env, world.sample(name, 0))
        verdict = env.verify()
        assert verdict.progress == 1.0
        assert verdict.collateral == ()


def test_bank_builder_can_follow_the_oracle(world: Tau2World, env: Tau2Env) -> None:
    """The oracle is a generator that takes the calls of its steps, as the bank builder sends them."""
    trace = oracle_roller(world, rate=0.0)(env, world.sample(_RETURN, 0), 0)
    assert env.verify().success
    assert [call.tool for step in trace.steps for call in step.calls] == ["return_delivered_order_items", "done"]


def test_wrong_order_is_damage(world: Tau2World, env: Tau2Env) -> None:
    """Cancelling an order that the task does not name fails it and is reported as collateral damage."""
    target = world.sample(_RETURN, 0)
    env.reset(options={"seal": target.seal})
    seen, _, _, _, info = env.step(
        ToolCall(tool="cancel_pending_order", args={"order_id": "#W5199551", "reason": "no longer needed"})
    )
    assert info["calls"][0].ok, seen
    verdict = env.verify()
    assert not verdict.success
    assert verdict.collateral == ("orders/#W5199551",)


def test_state_is_reset(world: Tau2World, env: Tau2Env) -> None:
    """What one episode changed is not there in the next."""
    target = world.sample(_RETURN, 0)
    assert _solve(world, env, target)
    env.reset(options={"seal": target.seal})
    assert not env.verify().success
    assert env.verify().collateral == ()


def test_refusals_are_observations(world: Tau2World, env: Tau2Env) -> None:
    """An unknown tool, refused arguments, Python and broken JSON come back as words; the episode goes on."""
    env.reset(options={"seal": world.sample(_RETURN, 0).seal})
    for action, words in (
        (ToolCall(tool="order_pizza"), "no tool"),
        (ToolCall(tool="get_order_details", args={"order_id": "#W0"}), "Order not found"),
        (ToolCall(tool="calculate", args={"expression": "9**9**9"}), "Invalid characters"),
        (ToolCall(tool="done", args={"text": "bye"}), "one argument"),
        (Code(code="1 + 1"), "no Python"),
        ("{", "not valid JSON"),
    ):
        seen, reward, over, _, info = env.step(action)
        assert words in seen
        assert info["error"]
        assert (reward, over) == (0.0, False)


def test_killed_process_is_infrastructure(world: Tau2World, env: Tau2Env) -> None:
    """A process that is killed mid-episode is an environment failure; the next reset starts another."""
    target = world.sample(_RETURN, 0)
    env.reset(options={"seal": target.seal})
    assert env._side is not None
    pid = env._side.pid
    os.kill(pid, 9)
    with pytest.raises(EnvironmentFailure):
        env.verify()
    assert _solve(world, env, target)


def test_close_ends_the_process(world: Tau2World) -> None:
    """Closing the environment leaves no process behind."""
    env = Tau2Env()
    env.reset(options={"seal": world.sample(_RETURN, 0).seal})
    assert env._side is not None
    pid = env._side.pid
    env.close()
    time.sleep(0.05)
    assert not Path(f"/proc/{pid}").exists()


def test_shifts_keep_the_tools_and_change_the_bindings(world: Tau2World) -> None:
    """A shifted target is another task of the family, its changed bindings are named, and `none` cannot be had."""
    source = world.sample(_RETURN, 0)
    target = world.shift(source.seal, "medium", 1)
    assert target.seal.family == source.seal.family
    assert target.task.key != source.task.key
    old, new = source.seal.values(), target.seal.values()
    assert set(target.seal.changed) == {n for n in {**old, **new} if old.get(n) != new.get(n)} != set()
    with pytest.raises(CannotShift, match="wording"):
        world.shift(source.seal, "none", 0)


def test_unknown_names_are_user_errors(world: Tau2World, env: Tau2Env) -> None:
    """An unknown family or task is refused with what is known."""
    with pytest.raises(UserError, match="did you mean"):
        world.sample(_RETURN[:-1], 0)
    seal = world.sample(_RETURN, 0).seal
    with pytest.raises(UserError, match="no task"):
        env.reset(options={"seal": seal.model_copy(update={"world": {"domain": "retail", "task": "9999"}})})


def test_not_installed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package the world lists no families and says how to install it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    world = Tau2World()
    assert "rebind envs install tau2" in str(world.unavailable())
    assert world.families() == ()
    assert tasks() == ()


class _Scripted:
    """A customer's model that says the next of its lines."""

    def __init__(self, *lines: str) -> None:
        self.lines, self.asked = list(lines), []

    def complete(self, request: Request) -> Completion:
        self.asked.append(request)
        return Completion(text=self.lines.pop(0), usage=Usage(prompt=1, completion=1))

    def count(self, request: Request) -> int:
        return len(request.messages)


def test_customer_talks_and_ends_the_episode(world: Tau2World) -> None:
    """With a customer the goal hides the scenario, the customer alone reads it, and its stop sign ends the episode."""
    model = _Scripted("Hello, about my order.", "Thank you. ###STOP###")
    talking = Tau2World(Customer(model, "simulated/customer"))
    target = talking.sample(_RETURN, 0)
    assert target.task.goal == "Serve the customer who writes to the retail service desk."
    env: Any = talking.make()
    try:
        first, _ = env.reset(options={"seal": target.seal})
        assert first.endswith("The customer: Hello, about my order.")
        over = [env.step(action)[2] for action in talking.oracle(target.seal)(env)]
        assert over[-1]
        assert env.verify().success
    finally:
        env.close()
    scenario = world.sample(_RETURN, 0).task.goal.split("\n", 1)[1]
    assert scenario in model.asked[0].messages[0].content
    assert [m.role for m in model.asked[1].messages] == ["system", "user", "assistant", "user"]
    assert {request.purpose for request in model.asked} == {"user"}


def test_our_door_is_a_customers_model() -> None:
    """The model door's simulated model can play the customer."""
    assert Customer(SimulatedModel("simulated/x", lambda _request: "Hi"), "simulated/x").ends("bye ###TRANSFER###")
