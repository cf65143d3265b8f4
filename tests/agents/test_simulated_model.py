"""The simulated model answers by its script, over real HTTP, the same way every time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from rebind.agents.llm import LLM
from rebind.agents.simulated import Script, SimulatedModel, Stale, Weather, answer
from rebind.types import Completion, Decoding, Message, Request, ToolSpec

GOAL = "Pay Ann."
ANSWERS = tuple(f'{{"tool":"t{n}","args":{{}}}}' for n in range(4))
SCRIPT = Script(answers={GOAL: ANSWERS})


@contextmanager
def door(script: Script = SCRIPT, weather: Weather | None = None) -> Iterator[tuple[LLM, SimulatedModel]]:
    with SimulatedModel("test", script, weather) as model:
        yield LLM({model.name: model.endpoint}, backoff=0.001), model


def request(*contents: str, seed: int = 0, tools: tuple[ToolSpec, ...] = ()) -> Request:
    """A request whose messages alternate between user and assistant."""
    roles: tuple[Any, Any] = ("user", "assistant")
    messages = tuple(Message(role=roles[n % 2], content=text) for n, text in enumerate(contents))
    return Request(
        model="simulated/test", purpose="actor", messages=messages, decoding=Decoding(seed=seed), tools=tools
    )


def wire(*contents: str) -> list[dict[str, Any]]:
    return [m.model_dump(mode="json") for m in request(*contents).messages]


def test_the_number_of_turns_since_the_last_task_chooses_the_answer() -> None:
    task = f"Task: {GOAL}\n\nYou see nothing."
    assert answer(SCRIPT, wire(task), 0) == ANSWERS[0]
    assert answer(SCRIPT, wire(task, "x", "y", "x", "y"), 0) == ANSWERS[2]
    assert answer(SCRIPT, wire("Task: Old one.", "x", task, "x", "y"), 0) == ANSWERS[1]
    assert answer(SCRIPT, wire(task, *["x", "y"] * 9), 0) == ANSWERS[3]


def test_of_two_goals_with_the_same_beginning_the_longer_one_is_meant() -> None:
    script = Script(answers={"Pay": ("short",), "Pay Ann": ("long",)})
    assert answer(script, wire("Task: Pay Ann\n\nseen"), 0) == "long"
    assert answer(script, wire("Task: Pay Bob\n\nseen"), 0) == "short"


def test_a_prompt_without_a_known_task_is_answered_by_the_first_cue_that_fits() -> None:
    script = Script(otherwise=(("write a note", "note"), ("", "anything")))
    assert answer(script, wire("please write a note"), 0) == "note"
    assert answer(script, wire("Task: unknown"), 0) == "anything"
    assert answer(Script(), wire("Task: unknown"), 0) == Script().give_up


def test_success_depends_on_support_goal_and_seed_and_on_nothing_else() -> None:
    script = Script(answers={GOAL: ANSWERS}, success=(("helpful note", 0.9), ("", 0.3)), salt="s")
    task = f"Task: {GOAL}\n\nseen"

    def rate(*before: str) -> float:
        late = (*before, task, "x", "y", "x", "y")
        return sum(answer(script, wire(*late), seed) == ANSWERS[2] for seed in range(400)) / 400

    assert rate() == pytest.approx(0.3, abs=0.07)
    assert rate("a helpful note", "thanks") == pytest.approx(0.9, abs=0.05)
    assert rate() == rate()


def test_an_episode_that_fails_begins_well_and_gives_up_half_way() -> None:
    script = Script(answers={GOAL: ANSWERS}, success=(("", 0.0),), give_up="enough")
    task = f"Task: {GOAL}\n\nseen"
    said = [answer(script, wire(task, *["x", "y"] * turn), 0) for turn in range(4)]
    assert said == [ANSWERS[0], ANSWERS[1], "enough", "enough"]


def test_a_stale_value_is_copied_only_where_the_support_holds_it() -> None:
    script = Script(
        answers={GOAL: ("pay ann@new.org",)}, stale={GOAL: (Stale(target="ann@new.org", source="bo@old.org"),)}
    )
    task = f"Task: {GOAL}\n\nseen"
    assert answer(script, wire("Then I paid bo@old.org.", "ok", task), 0) == "pay bo@old.org"
    assert answer(script, wire("Look the address up.", "ok", task), 0) == "pay ann@new.org"
    assert answer(script, wire(task, "x", "bo@old.org"), 0) == "pay ann@new.org"


def test_usage_over_http_is_what_the_door_counts_beforehand() -> None:
    asked = request(f"Task: {GOAL}\n\nYou see: {{}}", "a b", "c, d!")
    with door() as (llm, _):
        answered = llm.complete(asked)
        assert answered.usage.prompt == llm.count(asked)
    assert (answered.text, answered.usage.completion) == ('{"tool":"t1","args":{}}', 16)


def test_where_tools_are_offered_a_call_is_native_and_tools_are_counted() -> None:
    tool = ToolSpec(name="t0", description="d", parameters={"type": "object"})
    plain, offered = request(f"Task: {GOAL}"), request(f"Task: {GOAL}", tools=(tool,))
    with door() as (llm, _):
        answered = llm.complete(offered)
        assert llm.count(offered) > llm.count(plain)
        assert answered.usage.prompt == llm.count(offered)
    assert answered.tool_calls[0]["function"] == {"name": "t0", "arguments": "{}"}


@pytest.mark.parametrize("fault", ["429", "500", "503", "cut", "empty-json", "no-choices"])
def test_after_a_fault_the_door_gets_the_same_answer(fault: Any) -> None:
    with door(weather=Weather(faults={0: fault})) as (llm, model):
        answered = llm.complete(request(f"Task: {GOAL}"))
    assert answered.text == ANSWERS[0]
    assert [a.error is None for a in answered.attempts] == [False, True]
    assert len(model.requests) == 2


def test_a_request_that_hangs_ends_by_the_doors_wall_time() -> None:
    with door(weather=Weather(faults={0: "timeout"})) as (llm, _):
        answered: Completion = llm.complete(request(f"Task: {GOAL}"), timeout=0.4)
    assert [a.status for a in answered.attempts] == [None, 200]


def test_a_withheld_usage_is_none() -> None:
    with door(weather=Weather(faults={0: "no-usage"})) as (llm, _):
        assert llm.complete(request(f"Task: {GOAL}")).usage.prompt is None


def test_latency_is_waited_out() -> None:
    with door(weather=Weather(latency=0.2)) as (llm, _):
        assert llm.complete(request(f"Task: {GOAL}")).attempts[0].ms >= 200


def test_its_name_marks_everything_and_its_script_is_its_identity() -> None:
    with door() as (llm, model), door(Script(answers={GOAL: ("other",)})) as (other, _):
        assert model.name == "simulated/test"
        assert model.completion({"messages": wire(f"Task: {GOAL}")})["model"] == "simulated/test"
        assert llm.identity("simulated/test")["script"] != other.identity("simulated/test")["script"]
        assert "127.0.0.1" not in json.dumps(llm.identity("simulated/test"))
