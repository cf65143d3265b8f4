"""The loop: what it records, and every way it ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from support.openai_server import Reply, completion, playback, refusal, usage

from rebind.agents.actor import Actor
from rebind.agents.endpoint import Endpoint
from rebind.agents.llm import LLM
from rebind.agents.loop import CORRECTIONS, Spent, exceeded, run
from rebind.agents.settings import ActorSettings
from rebind.errors import EnvironmentFailure, ProviderError
from rebind.types import Action, Budget, Call, Decoding, Step, Support, ToolCall, ToolSpec, Verdict

COUNT = ToolSpec(name="count", description="Counts.", parameters={"type": "object", "properties": {}})


class Counter:
    """A small environment: each action makes two calls; it is done after `last` actions."""

    def __init__(self, last: int = 3, *, crash: bool = False) -> None:
        self.last, self.crash, self.actions = last, crash, 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        return "0", {}

    def step(self, action: Action) -> tuple[str, float, bool, bool, dict[str, Any]]:
        if self.crash:
            raise EnvironmentFailure("the environment broke")
        self.actions += 1
        assert isinstance(action, ToolCall)
        call = Call(tool=action.tool, args=action.args, status=200, result=self.actions)
        done = self.actions >= self.last
        return str(self.actions), 0.0, done, False, {"calls": (call, call), "error": None}

    def tools(self) -> tuple[ToolSpec, ...]:
        return (COUNT,)

    def verify(self) -> Verdict:
        return Verdict(success=self.actions >= self.last)

    def close(self) -> None: ...


GOOD = Reply(completion('{"thought":"on","tool":"count","args":{}}', usage(90, 10)))
BAD = Reply(completion("hmm", usage(90, 10)))


@contextmanager
def episode(replies: Sequence[Reply], env: Counter | None = None, **limits: Any) -> Iterator[tuple[list[Step], Any]]:
    """The steps seen, and a function that runs the loop and says how it ended."""
    steps: list[Step] = []
    with playback(replies) as server:
        door = LLM({"m": Endpoint(model="openai/m", api_base=server.url, api_key="k")}, attempts=1)
        settings = ActorSettings(model="m", decoding=Decoding(seed=0))
        actor = Actor(
            door, settings, goal="g", tools=(COUNT,), support=Support(condition="none"), on_call=lambda row: None
        )

        def go(**more: Any) -> str:
            return run(env or Counter(), actor, "0", Budget(**limits), lambda n, s: steps.append(s), **more)

        yield steps, go


def test_an_episode_is_done_when_the_environment_says_so() -> None:
    with episode([GOOD]) as (steps, go):
        assert go() == "done"
    assert [s.observation for s in steps] == ["1", "2", "3"]
    assert steps[0].action == ToolCall(tool="count")
    assert (steps[0].thought, len(steps[0].calls), steps[0].error) == ("on", 2, None)


@pytest.mark.parametrize(
    ("limits", "ending", "taken"),
    [
        ({"steps": 2}, "over-steps", 2),
        ({"calls": 3}, "over-calls", 2),
        ({"tokens": 200}, "over-tokens", 2),
        ({"steps": 0}, "over-steps", 0),
        ({"steps": 3, "calls": 6, "tokens": 300}, "done", 3),
    ],
)
def test_a_spent_budget_ends_it_before_the_next_turn(limits: dict[str, int], ending: str, taken: int) -> None:
    with episode([GOOD], None, **limits) as (steps, go):
        assert go() == ending
    assert len(steps) == taken


def test_wall_time_is_a_budget_too() -> None:
    ticks = iter([0.0, 1.0, 9.0, 11.0])
    with episode([GOOD], seconds=10) as (steps, go):
        assert go(clock=lambda: next(ticks)) == "over-time"
    assert len(steps) == 2


def test_what_a_provider_loses_is_not_the_agents_time_but_ends_the_episode_as_infrastructure() -> None:
    budget = Budget(seconds=10)
    assert exceeded(budget, Spent(lost=8.0), seconds=17.0) is None
    assert exceeded(budget, Spent(lost=8.0), seconds=18.0) == "over-time"
    with pytest.raises(ProviderError, match="12 s of an episode of 10 s"):
        exceeded(budget, Spent(lost=12.0), seconds=13.0)


def test_a_failed_attempt_and_the_wait_after_it_are_lost_time() -> None:
    slow = Reply(refusal("busy"), 429, {"Retry-After": "0.5"})
    with playback([slow, GOOD]) as server:
        door = LLM({"m": Endpoint(model="openai/m", api_base=server.url, api_key="k")}, backoff=0.001)
        actor = Actor(
            door,
            ActorSettings(model="m", decoding=Decoding(seed=0)),
            goal="g",
            tools=(COUNT,),
            support=Support(condition="none"),
            on_call=lambda row: None,
        )
        first, second = actor.act("0"), actor.act("1")
    assert first.lost >= 0.5
    assert second.lost < 0.5


@pytest.mark.parametrize("budget", [Budget(cost=1.0), Budget(tokens=1_000)])
def test_an_answer_without_usage_under_a_limit_of_it_is_the_providers_fault_and_not_free(budget: Budget) -> None:
    bare = Reply({k: v for k, v in GOOD.body.items() if k != "usage"})
    with playback([bare, GOOD]) as server:
        door = LLM({"m": Endpoint(model="openai/gpt-4o-mini", api_base=server.url, api_key="k")})
        settings = ActorSettings(model="m", decoding=Decoding(seed=0))
        support = Support(condition="none")
        actor = Actor(door, settings, goal="g", tools=(COUNT,), support=support, on_call=lambda row: None)
        with pytest.raises(ProviderError, match=r"without usage counts: budget\.\w+ cannot be held"):
            run(Counter(), actor, "0", budget, lambda n, s: None)
    assert door.unpriced == 1


def test_dollars_are_a_budget_too() -> None:
    with playback([GOOD]) as server:
        door = LLM({"m": Endpoint(model="openai/gpt-4o-mini", api_base=server.url, api_key="k")})
        settings = ActorSettings(model="m", decoding=Decoding(seed=0))
        support = Support(condition="none")
        actor = Actor(door, settings, goal="g", tools=(COUNT,), support=support, on_call=lambda row: None)
        each = 90 * 0.15e-6 + 10 * 0.60e-6
        steps: list[Step] = []
        ending = run(Counter(), actor, "0", Budget(cost=1.5 * each), lambda n, s: steps.append(s))
    assert ending == "over-cost"
    assert len(steps) == 2
    assert door.spent == pytest.approx(2 * each)


def test_an_answer_that_is_no_action_is_corrected_and_costs_a_step() -> None:
    with episode([GOOD, BAD, GOOD]) as (steps, go):
        assert go() == "done"
    assert [s.action is None for s in steps] == [False, True, False, False]
    assert (steps[1].error, steps[1].calls) == ("unparseable", ())
    assert "no JSON object" in steps[1].observation


def test_corrections_run_out() -> None:
    with episode([BAD]) as (steps, go):
        assert go() == "unparseable"
    assert len(steps) == CORRECTIONS + 1


def test_only_corrections_in_a_row_count() -> None:
    with episode([BAD, BAD, GOOD, BAD, BAD, GOOD, GOOD]) as (_, go):
        assert go() == "done"


def test_a_prompt_that_outgrows_the_context_ends_it() -> None:
    overflow = Reply(refusal("maximum context length is 10", code="context_length_exceeded"), 400)
    with episode([GOOD, overflow]) as (steps, go):
        assert go() == "context"
    assert len(steps) == 1


def test_a_silent_provider_and_a_broken_environment_are_raised_not_judged() -> None:
    with episode([Reply(refusal("down"), 503)]) as (_, go), pytest.raises(ProviderError):
        go()
    with episode([GOOD], Counter(crash=True)) as (_, go), pytest.raises(EnvironmentFailure):
        go()


def test_a_missing_usage_is_no_reason_to_stop_where_nothing_limits_it() -> None:
    silent = Reply(completion('{"tool":"count","args":{}}'))
    with episode([silent], calls=100) as (_, go):
        assert go() == "done"
