"""The contract with two wire formats, OpenAI's chat completions and Anthropic's messages, whole and streamed: payloads
as their providers document them, served over HTTP, come to the right usage or to none."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from support.openai_server import Playback, Reply, completion, playback, refusal, usage

from rebind.agents import provider
from rebind.agents.endpoint import Endpoint
from rebind.agents.llm import LLM
from rebind.errors import ProviderError
from rebind.types import Decoding, Message, Request, ToolSpec, Usage

Json = dict[str, Any]
NAMES = {"openai": "openai/gpt-4o-mini", "anthropic": "anthropic/claude-sonnet-4-5"}
MISSING = object()
TOLD = Usage(prompt=2095, completion=503, cached=1800, reasoning=100)


@contextmanager
def door(form: str, replies: Sequence[Reply], *, stream: bool = False, **how: Any) -> Iterator[tuple[LLM, Playback]]:
    with playback(replies) as server:
        base = server.url if form == "openai" else server.url.removesuffix("/v1")
        endpoint = Endpoint(model=NAMES[form], api_base=base, api_key="none-needed", stream=stream)
        yield LLM({"m": endpoint}, **{"backoff": 0.001, "attempts": 3, **how}), server


def request(**fields: Any) -> Request:
    message = Message(role="user", content="Hello")
    decoding = Decoding(max_tokens=1024, seed=1)
    return Request(model="m", purpose="actor", messages=(message,), decoding=decoding, **fields)


def message(used: Any = MISSING, content: list[Json] | None = None) -> Json:
    """A message object of Anthropic's."""
    whole: Json = {
        "id": "msg_01XFDUDYJgAACzvnptvVoYEL", "type": "message", "role": "assistant",
        "content": [{"type": "text", "text": "Hello!"}] if content is None else content,
        "model": "claude-sonnet-4-5-20250929", "stop_reason": "end_turn", "stop_sequence": None,
    }  # fmt: skip
    return whole if used is MISSING else {**whole, "usage": used}


ANTHROPIC = {
    "input_tokens": 95, "cache_creation_input_tokens": 200, "cache_read_input_tokens": 1800,
    "cache_creation": {"ephemeral_5m_input_tokens": 200, "ephemeral_1h_input_tokens": 0}, "output_tokens": 503,
    "output_tokens_details": {"thinking_tokens": 100}, "service_tier": "standard",
}  # fmt: skip
OPENAI = usage(2095, 503, cached=1800, reasoning=100)


def chunks(*usages: Json | None, done: bool = True) -> bytes:
    """A chat completion as chunks: the answer, its end, and a chunk without choices for each usage."""
    head: Json = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o-mini"}
    choices = [
        {"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None},
        {"index": 0, "delta": {"content": "Hel"}, "finish_reason": None},
        {"index": 0, "delta": {"content": "lo!"}, "finish_reason": None},
        {"index": 0, "delta": {}, "finish_reason": "stop"},
    ]
    rows = [{**head, "choices": [choice], "usage": None} for choice in choices]
    rows += [{**head, "choices": [], "usage": used} for used in usages]
    return b"".join(b"data: " + json.dumps(row).encode() + b"\n\n" for row in rows) + b"data: [DONE]\n\n" * done


def events(start: Json | None, delta: Json | None, error: Json | None = None) -> bytes:
    """A message as events; with `error` it breaks off after the first piece."""
    opened = message(content=[]) | {"stop_reason": None} | ({} if start is None else {"usage": start})
    rows: list[Json] = [
        {"type": "message_start", "message": opened},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hel"}},
    ]
    if error is not None:
        return _sse([*rows, {"type": "error", "error": error}])
    ended = {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}}
    rows += [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "lo!"}},
        {"type": "content_block_stop", "index": 0},
        {**ended, **({} if delta is None else {"usage": delta})},
        {"type": "message_stop"},
    ]
    return _sse(rows)


def _sse(rows: list[Json]) -> bytes:
    return b"".join(f"event: {row['type']}\ndata: {json.dumps(row)}\n\n".encode() for row in rows)


START = {key: value for key, value in ANTHROPIC.items() if not key.startswith("output")} | {"output_tokens": 2}
LAST = {"output_tokens": 503, "output_tokens_details": {"thinking_tokens": 100}}
WHOLE = {
    "openai": completion("Hello!", OPENAI),
    "anthropic": message(ANTHROPIC),
}
STREAMED = {"openai": chunks(OPENAI), "anthropic": events(START, LAST)}
CUT = {"openai": STREAMED["openai"].index(b"lo!") - 60, "anthropic": STREAMED["anthropic"].index(b"lo!") - 60}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("form", NAMES)
def test_cached_tokens_are_a_part_of_the_prompt_and_reasoning_of_the_output(form: str, stream: bool) -> None:
    """Providers that count cached tokens within the prompt and those that count them beside it come to one usage."""
    with door(form, [Reply(STREAMED[form] if stream else WHOLE[form])], stream=stream) as (llm, server):
        answer = llm.complete(request())
    assert (answer.text, answer.usage, answer.finish) == ("Hello!", TOLD, "stop")
    (row,) = answer.attempts
    assert (row.status, row.error, row.usage) == (200, None, TOLD)
    assert row.raw_usage == (OPENAI if form == "openai" else ANTHROPIC)
    assert server.asked[0].get("stream", False) is stream


def test_a_streamed_answer_is_asked_to_end_with_its_usage() -> None:
    """OpenAI sends the usage of a stream only where it is asked for."""
    with door("openai", [Reply(STREAMED["openai"])], stream=True) as (llm, server):
        llm.complete(request())
    assert server.asked[0]["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize(
    ("form", "body"),
    [
        ("openai", completion("Hello!")),
        ("openai", chunks()),
        ("anthropic", message()),
        ("anthropic", message(None)),
        ("anthropic", message({})),
        ("anthropic", events(None, None)),
        ("anthropic", events({}, {})),
    ],
)
def test_a_missing_usage_is_none_though_litellm_fills_it_in(form: str, body: Any) -> None:
    """An answer without usage, streamed or not, is an answer, whose counts and cost are None and not 0."""
    with door(form, [Reply(body)], stream=isinstance(body, bytes)) as (llm, server):
        answer = llm.complete(request())
    assert (answer.text, answer.usage, len(server.asked)) == ("Hello!", Usage(), 1)
    assert (answer.attempts[0].error, answer.attempts[0].raw_usage, answer.attempts[0].cost) == (None, None, None)


def test_the_placeholder_in_a_streams_first_event_is_no_count() -> None:
    """A message whose last event has no usage has a prompt count and no output count."""
    with door("anthropic", [Reply(events(START, None))], stream=True) as (llm, _):
        answer = llm.complete(request())
    assert answer.usage == Usage(prompt=2095, completion=None, cached=1800)


def test_counts_of_a_streams_last_event_are_totals_and_replace_those_of_the_first() -> None:
    """Tools that run at the provider make the prompt longer while a message is streamed; its last counts stand."""
    grown = {"input_tokens": 195, "cache_read_input_tokens": 1800, "cache_creation_input_tokens": 200, **LAST}
    with door("anthropic", [Reply(events(START, grown))], stream=True) as (llm, _):
        assert llm.complete(request()).usage == TOLD.model_copy(update={"prompt": 2195})


def test_thinking_that_the_provider_did_not_count_is_none() -> None:
    """litellm estimates reasoning tokens from the thinking's text; an estimate is no count."""
    thought = {"type": "thinking", "thinking": "Let me think about this at length.", "signature": "c2ln"}
    used = {"input_tokens": 10, "output_tokens": 40}
    with door("anthropic", [Reply(message(used, [thought, {"type": "text", "text": "Hello!"}]))]) as (llm, _):
        assert llm.complete(request()).usage == Usage(prompt=10, completion=40)


@pytest.mark.parametrize(("form", "known"), [("openai", Usage()), ("anthropic", Usage(prompt=2095, cached=1800))])
def test_a_stream_that_ends_early_is_a_failed_attempt_with_what_it_told(form: str, known: Usage) -> None:
    """A connection that closes before the answer ended is no answer, though litellm takes it for one."""
    replies = [Reply(STREAMED[form], cut=CUT[form]), Reply(STREAMED[form])]
    with door(form, replies, stream=True) as (llm, _):
        answer = llm.complete(request())
    assert (answer.text, answer.usage) == ("Hello!", TOLD)
    broken, whole = answer.attempts
    assert "ended before" in (broken.error or "")
    assert (broken.usage, whole.error, whole.usage) == (known, None, TOLD)


def test_an_error_within_a_stream_is_a_failed_attempt_with_what_it_told() -> None:
    """An overloaded provider says so in an event after the prompt was read; the prompt is on the bill."""
    broken = events(START, None, {"type": "overloaded_error", "message": "Overloaded"})
    with door("anthropic", [Reply(broken), Reply(STREAMED["anthropic"])], stream=True) as (llm, _):
        first, second = llm.complete(request()).attempts
    assert first.error is not None
    assert first.usage == Usage(prompt=2095, cached=1800)
    assert (second.error, second.usage) == (None, TOLD)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(("form", "status"), [("openai", 429), ("openai", 503), ("anthropic", 429), ("anthropic", 529)])
def test_a_retried_call_is_counted_once(form: str, status: int, stream: bool) -> None:
    """A refused attempt has its row and no usage; the answer's usage is that of the attempt that answered."""
    error = (
        refusal("busy") if form == "openai" else {"type": "error", "error": {"type": "api_error", "message": "busy"}}
    )
    answered = Reply(STREAMED[form] if stream else WHOLE[form])
    with door(form, [Reply(error, status), answered], stream=stream) as (llm, _):
        answer = llm.complete(request())
    refused, last = answer.attempts
    assert (refused.status, refused.usage, refused.cost) == (status, Usage(), None)
    assert refused.error is not None
    assert (answer.usage, last.usage, last.error) == (TOLD, TOLD, None)


@pytest.mark.parametrize("form", NAMES)
def test_an_error_that_carries_usage_keeps_it(form: str) -> None:
    """What a failed attempt used is in its row, with its cost, also where no attempt is answered."""
    used = OPENAI if form == "openai" else ANTHROPIC
    body = {**refusal("failed halfway"), "usage": used}
    with door(form, [Reply(body, 500)], attempts=2) as (llm, _), pytest.raises(ProviderError) as caught:
        llm.complete(request())
    assert [a.usage for a in caught.value.attempts] == [TOLD, TOLD]
    assert all(a.cost for a in caught.value.attempts)


def test_an_answer_cut_in_its_body_is_asked_for_again() -> None:
    """Half a message is no answer and tells no usage."""
    for form, body in WHOLE.items():
        with door(form, [Reply(body, cut=150), Reply(body)]) as (llm, _):
            first, second = llm.complete(request()).attempts
        assert (first.error is None, first.usage, second.usage) == (False, Usage(), TOLD)


def test_an_empty_answer_is_billed_and_asked_for_again() -> None:
    """A message that says nothing keeps its usage in a failed row."""
    nothing = message(ANTHROPIC, [])
    with door("anthropic", [Reply(nothing), Reply(WHOLE["anthropic"])]) as (llm, _):
        first, second = llm.complete(request()).attempts
    assert first.error == "the answer is empty"
    assert (first.usage, second.usage) == (TOLD, TOLD)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_an_answer_costs_what_its_parts_cost(stream: bool) -> None:
    """Tokens read from the cache and written to it have prices of their own, on both wires."""
    expected = {
        "openai": 295 * 0.15e-6 + 1800 * 0.075e-6 + 503 * 0.6e-6,
        "anthropic": 95 * 3e-6 + 200 * 3.75e-6 + 1800 * 0.3e-6 + 503 * 15e-6,
    }
    for form, dollars in expected.items():
        with door(form, [Reply(STREAMED[form] if stream else WHOLE[form])], stream=stream) as (llm, _):
            assert llm.complete(request()).attempts[0].cost == pytest.approx(dollars)


def test_native_calls_come_back_from_a_stream() -> None:
    """A tool call that comes in pieces is put together."""
    rows: list[Json] = [
        {"type": "message_start", "message": message(START, [])},
        {
            "type": "content_block_start", "index": 0,
            "content_block": {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}},
        },
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"a"'}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": ": 1}"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": None}, "usage": LAST},
        {"type": "message_stop"},
    ]  # fmt: skip
    tool = ToolSpec(name="f", description="d", parameters={"type": "object", "properties": {}})
    with door("anthropic", [Reply(_sse(rows))], stream=True) as (llm, _):
        answer = llm.complete(request(tools=(tool,)))
    (call,) = answer.tool_calls
    assert call["function"] == {"name": "f", "arguments": '{"a": 1}'}
    assert answer.usage == TOLD


def test_a_second_request_of_litellms_own_has_its_row() -> None:
    """Where a server minds the order of roles litellm asks anew by itself; both responses are rows."""
    minds = refusal("Conversation roles must alternate user/assistant/user/assistant/...")
    with door("openai", [Reply(minds, 400), Reply(WHOLE["openai"])]) as (llm, server):
        answer = llm.complete(request())
    assert len(server.asked) == len(answer.attempts) == 2
    assert [(a.status, a.error is None) for a in answer.attempts] == [(400, False), (200, True)]
    assert answer.usage == TOLD


@pytest.mark.parametrize(
    "model",
    [
        "openai/gpt-4o-mini",
        "openai/o4-mini",
        "anthropic/claude-sonnet-4-5",
        "deepseek/deepseek-chat",
        "gemini/gemini-2.5-pro",
        "xai/grok-4",
        "openai/unheard-of",
    ],
)
def test_a_flat_price_is_litellms_price(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What four rates come to is what litellm computes, where they are all of a price."""
    used = Usage(prompt=300_000, completion=700, cached=3000, reasoning=100)
    quick = provider.cost(model, used)
    monkeypatch.setattr(provider, "flat_rates", lambda _: None)
    assert quick == (None if (slow := provider.cost(model, used)) is None else pytest.approx(slow))
