"""The actor's prompt, what it records of each call, and what it counts as support."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from rebind.agents.actor import Actor, CallRow
from rebind.agents.llm import LLM
from rebind.agents.settings import ActorSettings, Placement, Protocol
from rebind.agents.simulated import Script, SimulatedModel, Weather
from rebind.errors import ContextOverflow, ProviderError
from rebind.types import Code, Decoding, Skill, Slot, Step, Support, ToolCall, ToolSpec

GOAL = "Pay Ann 5 cents."
SOURCE_GOAL = "Pay Bob 7 cents."
PAY = ToolSpec(
    name="bank_pay",
    description="Pays.",
    parameters={
        "type": "object",
        "properties": {
            "payee": {"type": "string"},
            "cents": {"type": "integer"},
            "kind": {"type": "string", "enum": ["now", "later"]},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["payee", "cents"],
        "additionalProperties": False,
    },
)
DONE = ToolSpec(name="complete", description="Ends.", parameters={"type": "object", "properties": {}, "required": []})
SKILL = Skill(
    name="skill_pay",
    description="Pays someone.",
    slots=(Slot(name="payee", type="str", provenance="query", example="Bob"),),
    steps=(),
    record_id="r",
)
SKILL_TOOL = ToolSpec(
    name="skill_pay",
    description="Pays someone.",
    parameters={"type": "object", "properties": {"payee": {"type": "string"}}, "required": ["payee"]},
)
TURNS = (
    Step(
        action=ToolCall(tool="bank_pay", args={"payee": "Bob", "cents": 7}), observation='{"paid":true}', thought="Pay."
    ),
    Step(action=None, observation="no action", error="unparseable"),
    Step(action=ToolCall(tool="complete"), observation='{"completed":true}'),
)
NONE = Support(condition="none")
NOTE = Support(condition="qcr", text="Workflow: pay, then look.")
FULL = Support(
    condition="full", text="Task: Pay Bob…", turns=TURNS, turns_goal=SOURCE_GOAL, turns_first_observation="You are Cy."
)
SKILLS = Support(condition="skill", skills=(SKILL,))
PLACEMENTS: tuple[Placement, ...] = ("system", "user", "turns")

ANSWERS = (
    '{"thought":"Pay her.","tool":"bank_pay","args":{"payee":"Ann","cents":5}}',
    "I am not sure.",
    '{"tool":"complete","args":{}}',
)


@pytest.fixture
def model() -> Iterator[SimulatedModel]:
    with SimulatedModel("actor", Script(answers={GOAL: ANSWERS})) as served:
        yield served


def actor(
    model: SimulatedModel,
    rows: list[CallRow],
    support: Support = NONE,
    tools: tuple[ToolSpec, ...] = (PAY, DONE),
    **settings: Any,
) -> Actor:
    how = ActorSettings(model=model.name, decoding=Decoding(seed=3), **settings)
    door = LLM({model.name: model.endpoint}, attempts=2, backoff=0.001)
    return Actor(door, how, goal=GOAL, tools=tools, support=support, on_call=rows.append)


def play(model: SimulatedModel, support: Support = NONE, **how: Any) -> list[CallRow]:
    """Three turns; the rows of their calls."""
    rows: list[CallRow] = []
    one = actor(model, rows, support, **how)
    for observation in ("You see a bank.", '{"paid":true}', "what?"):
        one.act(observation)
    return rows


def prompts(rows: list[CallRow]) -> list[list[dict[str, Any]]]:
    """The whole prompt of each call, put together as an auditor would."""
    whole: list[list[dict[str, Any]]] = []
    for row in rows:
        whole.append([*(whole[-1][: row["kept"]] if whole else []), *row["messages"]])
    return whole


def test_the_system_prompt_lists_each_tool_in_one_line(model: SimulatedModel) -> None:
    (system, task), *_ = prompts(play(model))
    assert "bank_pay(payee: str, cents: int, kind?: now|later, tags?: list[str]) - Pays." in system["content"]
    assert "complete() - Ends." in system["content"]
    assert task == {
        "role": "user",
        "content": f"Task: {GOAL}\n\nYou see a bank.",
        "tool_calls": [],
        "tool_call_id": None,
    }


def test_a_turn_has_the_action_the_thought_and_what_the_call_used(model: SimulatedModel) -> None:
    rows: list[CallRow] = []
    turn = actor(model, rows).act("You see a bank.")
    assert turn.action == ToolCall(tool="bank_pay", args={"payee": "Ann", "cents": 5})
    assert (turn.thought, turn.problem) == ("Pay her.", "")
    assert turn.tokens == rows[0]["usage"]["prompt"] + rows[0]["usage"]["completion"]


def test_an_answer_that_is_no_action_is_corrected_with_the_form_it_should_have(model: SimulatedModel) -> None:
    one = actor(model, [])
    one.act("You see a bank.")
    turn = one.act("{}")
    assert turn.action is None
    assert "no JSON object" in turn.problem
    assert '"tool":"<name>"' in turn.problem


def test_prompts_only_grow_and_rows_hold_what_is_new(model: SimulatedModel) -> None:
    rows = play(model, NOTE)
    assert [(r["index"], r["kept"], len(r["messages"])) for r in rows] == [(0, 0, 4), (1, 4, 2), (2, 6, 2)]
    whole = prompts(rows)
    assert whole[1][:4] == whole[0]
    assert whole[2][:6] == whole[1]
    sent = [[(m["role"], m["content"]) for m in body["messages"]] for body in model.requests]
    assert sent == [[(m["role"], m["content"]) for m in prompt] for prompt in whole]


def test_a_row_is_the_ledgers_call_event(model: SimulatedModel) -> None:
    first, second, _ = play(model)
    assert json.loads(json.dumps(first)) == first
    assert first["model"] == model.name
    assert first["decoding"]["seed"] == 3
    assert (first["text"], first["finish"], first["replayed"]) == (ANSWERS[0], "stop", False)
    assert first["attempts"][0]["usage"] == first["usage"]
    assert first["tools"] == []
    assert {b["properties"]["tool"]["const"] for b in first["schema"]["anyOf"]} == {"bank_pay", "complete"}
    assert (second["tools"], second["schema"]) == (None, None)


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("support", [NONE, NOTE, FULL, SKILLS], ids=lambda s: s.condition)
@pytest.mark.parametrize("protocol", ["json", "native"])
def test_support_tokens_are_exactly_what_the_prompt_has_more_than_without(
    model: SimulatedModel, placement: Placement, support: Support, protocol: Protocol
) -> None:
    tools = (SKILL_TOOL, PAY, DONE) if support.skills else (PAY, DONE)
    bare = play(model, placement=placement, protocol=protocol)
    rows = play(model, support, tools=tools, placement=placement, protocol=protocol)
    more = [w["usage"]["prompt"] - b["usage"]["prompt"] for w, b in zip(rows, bare, strict=True)]
    assert [r["mem_tokens"] for r in rows] == more
    assert (more[0] > 0) == (support is not NONE)


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_apart_from_support_every_condition_has_the_same_prompt(model: SimulatedModel, placement: Placement) -> None:
    def without_support(support: Support) -> list[str]:
        (prompt, *_) = prompts(play(model, support, placement=placement))
        system = prompt[0]["content"].partition("\n\nPast experience (advice")[0]
        return [system, prompt[-1]["content"]]

    assert without_support(NONE) == without_support(NOTE) == without_support(FULL)


def test_text_support_stands_where_it_is_placed(model: SimulatedModel) -> None:
    in_system, *_ = prompts(play(model, NOTE, placement="system"))
    assert in_system[0]["content"].endswith("Past experience (advice, not an order):\nWorkflow: pay, then look.")
    assert [m["role"] for m in in_system] == ["system", "user"]
    for placement in ("user", "turns"):
        prompt, *_ = prompts(play(model, NOTE, placement=placement))
        assert [m["role"] for m in prompt] == ["system", "user", "assistant", "user"]
        assert "Workflow: pay" in prompt[1]["content"]
    as_text, *_ = prompts(play(model, FULL, placement="user"))
    assert "Task: Pay Bob…" in as_text[1]["content"]


def test_a_worked_trajectory_becomes_turns_in_the_actors_own_form(model: SimulatedModel) -> None:
    prompt, *_ = prompts(play(model, FULL, placement="turns"))
    assert [(m["role"], m["content"]) for m in prompt[1:]] == [
        ("user", f"Task: {SOURCE_GOAL}\n\nYou are Cy."),
        ("assistant", '{"thought":"Pay.","tool":"bank_pay","args":{"payee":"Bob","cents":7}}'),
        ("user", '{"paid":true}'),
        ("assistant", '{"tool":"complete","args":{}}'),
        ("user", f"Task: {GOAL}\n\nYou see a bank."),
    ]


def test_native_turns_are_calls_with_their_results(model: SimulatedModel) -> None:
    rows = play(model, FULL, placement="turns", protocol="native")
    prompt = prompts(rows)[1]
    roles = [m["role"] for m in prompt]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "tool", "user", "assistant", "tool"]
    for said, returned in ((prompt[2], prompt[3]), (prompt[4], prompt[5])):
        assert said["tool_calls"][0]["id"] == returned["tool_call_id"]
    assert [t["name"] for t in rows[0]["tools"]] == ["bank_pay", "complete"]
    assert rows[0]["schema"] is None
    assert "bank_pay(" not in prompt[0]["content"]


def test_code_turns_are_python_blocks(model: SimulatedModel) -> None:
    steps = (Step(action=Code(code="print(1)"), observation="1"), *TURNS)
    support = FULL.model_copy(update={"turns": steps})
    rows: list[CallRow] = []
    actor(model, rows, support, protocol="code").act("You see a bank.")
    assert rows[0]["messages"][2]["content"] == "```python\nprint(1)\n```"
    assert "```python\nprint(bank_pay(payee='Bob', cents=7))\n```" in rows[0]["messages"][4]["content"]
    assert rows[0]["schema"] is None


def test_skills_without_a_tool_to_call_them_are_refused(model: SimulatedModel) -> None:
    with pytest.raises(ValueError, match="skill_pay"):
        actor(model, [], SKILLS)


def test_tools_that_an_observation_names_may_be_called_unless_names_are_strict(model: SimulatedModel) -> None:
    for strict in (False, True):
        rows: list[CallRow] = []
        one = actor(model, rows, strict_tools=strict)
        one.act("You see a bank.")
        one.act('[{"name":"notes_search"}]')
        found = [b["properties"]["tool"] for b in (rows[1]["schema"] or rows[0]["schema"])["anyOf"]]
        assert ({"enum": ["notes_search"]} in found) != strict


def test_grounding_limits_texts_to_goal_and_observations(model: SimulatedModel) -> None:
    first, second, _ = play(model, NOTE, grounded=True)
    assert "Ann" in first["schema"]["$defs"]["seen"]["enum"]
    assert not {"Workflow", "true"} & set(second["schema"]["$defs"]["seen"]["enum"])


def test_a_call_that_was_not_answered_leaves_a_row_too() -> None:
    rows: list[CallRow] = []
    weather = Weather(faults={0: "500", 1: "503"})
    with SimulatedModel("actor", Script(answers={GOAL: ANSWERS}), weather) as model, pytest.raises(ProviderError):
        actor(model, rows).act("You see a bank.")
    assert [a["status"] for a in rows[0]["attempts"]] == [500, 503]
    assert rows[0]["usage"]["prompt"] is None


def test_a_context_overflow_is_raised_with_its_row() -> None:
    from support.openai_server import Reply, playback, refusal

    from rebind.agents.endpoint import Endpoint

    rows: list[CallRow] = []
    error = refusal("This model's maximum context length is 10 tokens.", code="context_length_exceeded")
    with playback([Reply(error, 400)]) as server:
        door = LLM({"m": Endpoint(model="openai/m", api_base=server.url, api_key="k")})
        settings = ActorSettings(model="m")
        one = Actor(door, settings, goal=GOAL, tools=(DONE,), support=NONE, on_call=rows.append)
        with pytest.raises(ContextOverflow):
            one.act("You see a bank.")
    assert rows[0]["attempts"][0]["status"] == 400
