"""Servers that speak OpenAI's wire format are asked without litellm, and nobody can tell from what comes of it."""

from __future__ import annotations

from typing import Any

import pytest
from support.openai_server import Reply, completion, playback, refusal, usage

from rebind.agents import counting, direct
from rebind.agents.endpoint import Endpoint
from rebind.agents.llm import LLM
from rebind.agents.simulated import Script, SimulatedModel
from rebind.errors import RebindError
from rebind.types import Decoding, Message, Request, ToolSpec

MODEL = "test/model"
TOOL = ToolSpec(name="t", description="d", parameters={"type": "object", "properties": {}})
CALL = {"id": "c", "type": "function", "function": {"name": "t", "arguments": '{"a": 1}'}}


def request(**fields: Any) -> Request:
    return Request(
        model=MODEL,
        purpose="actor",
        messages=(Message(role="system", content="s"), Message(role="user", content="hi ü")),
        decoding=Decoding(temperature=0.2, top_p=0.9, max_tokens=50, seed=1),
        **fields,
    )


def called(*calls: Any) -> dict[str, Any]:
    body = completion(None, usage())
    body["choices"][0]["message"]["tool_calls"] = list(calls)
    body["choices"][0]["finish_reason"] = "tool_calls"
    return body


@pytest.mark.parametrize(
    ("model", "base", "stream", "taken"),
    [
        ("openai/own", "http://x/v1", False, True),
        ("hosted_vllm/Qwen/Qwen3-8B", "http://x/v1", False, True),
        ("openai/own", "http://x/v1", True, False),
        ("openai/gpt-4o-mini", None, False, False),
        ("openai/o3", "http://x/v1", False, False),  # litellm renames its max_tokens
        ("anthropic/claude-sonnet-4-5", "http://x", False, False),
    ],
)
def test_litellm_is_left_out_only_where_it_would_change_nothing(
    model: str, base: str | None, stream: bool, taken: bool
) -> None:
    """Hosted providers, streams and models with parameters of their own go through litellm."""
    assert direct.takes(Endpoint(model=model, api_base=base, stream=stream)) is taken


@pytest.mark.parametrize(
    ("asked", "reply"),
    [
        (request(), Reply(completion("hello", usage()))),
        (request(schema_={"type": "object"}), Reply(completion('{"a": 1}', usage()))),
        (request(tools=(TOOL,)), Reply(called(CALL))),
        (request(), Reply(completion("<think>so\nso</think>\n\nhello", usage()))),
        (request(), Reply(completion("only <think> and no end", usage()))),
        (request(), Reply(refusal("This model's maximum context length is 8192 tokens."), 400)),
        (request(), Reply(refusal("no such thing"), 404)),
        (request(), Reply(refusal("our safety system said no", code="content_policy_violation"), 400)),
        (request(), Reply({"choices": "none"})),
    ],
    ids=["text", "schema", "tools", "thoughts", "no thoughts", "overflow", "refused", "policy", "malformed"],
)
def test_what_is_sent_and_what_comes_of_it_is_as_through_litellm(
    monkeypatch: pytest.MonkeyPatch, asked: Request, reply: Reply
) -> None:
    """The body on the wire, the answer or the kind of error, and the rows are the same both ways."""
    found = [_both_ends(asked, reply)]
    monkeypatch.setattr(direct, "takes", lambda _: False)
    found.append(_both_ends(asked, reply))
    assert found[0] == found[1]


def _both_ends(asked: Request, reply: Reply) -> tuple[Any, ...]:
    with playback([reply], 0.0) as server:
        door = LLM({MODEL: Endpoint("openai/served", api_base=server.url, api_key="k" * 12)}, attempts=1, backoff=0.001)
        try:
            answer = door.complete(asked)
            rows = [(row.status, row.usage, row.cost, row.error) for row in answer.attempts]
            said: Any = (answer.text, answer.tool_calls, answer.finish, answer.usage, rows)
        except RebindError as error:
            said = (type(error), [row.status for row in getattr(error, "attempts", ())])
    sent = [{key: value for key, value in body.items() if key not in ("extra_body",)} for body in server.asked]
    return sent, said


@pytest.mark.parametrize(
    ("model", "variable"), [("openai/own", "OPENAI_API_KEY"), ("hosted_vllm/own", "HOSTED_VLLM_API_KEY")]
)
def test_the_key_is_the_one_that_litellm_would_read(monkeypatch: pytest.MonkeyPatch, model: str, variable: str) -> None:
    """A server whose key is in the environment gets it, though the endpoint names none."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv(variable, "from-the-environment")
    with playback([Reply(completion("hello", usage()))], 0.0) as server:
        LLM({MODEL: Endpoint(model, api_base=server.url)}).complete(request())
    assert server.keys == ["Bearer from-the-environment"]


def test_a_native_call_without_id_or_with_an_object_of_arguments_comes_in_openais_form() -> None:
    """Some servers of one's own write calls their own way."""
    odd = {"function": {"name": "t", "arguments": {"a": 1}}}
    with playback([Reply(called(odd))], 0.0) as server:
        door = LLM({MODEL: Endpoint("openai/served", api_base=server.url, api_key="k" * 12)})
        (call,) = door.complete(request(tools=(TOOL,))).tool_calls
    assert call == {"id": "call_0", "type": "function", "function": {"name": "t", "arguments": '{"a": 1}'}}


def test_a_prompt_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server is asked for each prompt once, and again for another."""
    asked: list[str] = []
    post = counting._post
    monkeypatch.setattr(counting, "_post", lambda e, path, body: asked.append(path) or post(e, path, body))
    with SimulatedModel("simulated/x", Script()) as model:
        door = LLM({MODEL: model.endpoint})
        first, again = door.count(request()), door.count(request())
        other = door.count(request(tools=(TOOL,)))
    assert first == again < other
    assert asked == ["/apply-template", "/tokenize"] * 2
