"""The one door to a model: what is sent, what is counted, what is retried, what is refused, and what is kept."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.openai_server import Playback, Reply, completion, playback, refusal, usage

from rebind.agents.endpoint import Endpoint
from rebind.agents.llm import LLM, price, supports_tools
from rebind.agents.provider import check_model
from rebind.agents.simulated import Script, SimulatedModel, Weather
from rebind.agents.wire import _retry_after
from rebind.errors import ContextOverflow, ModelError, ProviderError
from rebind.types import Decoding, Message, Request, ToolSpec, Usage

KEY = "my-very-secret-key-0123"
MODEL = "test/model"


def request(text: str = "hi", seed: int | None = 1, **fields: Any) -> Request:
    return Request(
        model=MODEL,
        purpose="actor",
        messages=(Message(role="user", content=text),),
        decoding=Decoding(temperature=0.2, top_p=0.9, max_tokens=50, seed=seed),
        **fields,
    )


@contextmanager
def door(
    replies: Sequence[Reply], *, hold: float = 0.0, served: str = "openai/served", **how: Any
) -> Iterator[tuple[LLM, Playback]]:
    with playback(replies, hold) as server:
        endpoint = Endpoint(model=served, api_base=server.url, api_key=KEY)
        yield LLM({MODEL: endpoint}, **{"backoff": 0.001, **how}), server


def test_a_request_goes_out_as_openai_writes_it() -> None:
    past = (
        Message(role="system", content="s"),
        Message(
            role="assistant",
            content="",
            tool_calls=({"id": "c", "type": "function", "function": {"name": "t", "arguments": "{}"}},),
        ),
        Message(role="tool", content="seen", tool_call_id="c"),
    )
    tool = ToolSpec(name="t", description="d", parameters={"type": "object", "properties": {}})
    asked = request(schema_={"type": "object"}, tools=(tool,)).model_copy(update={"messages": past})
    with door([Reply(completion(usage=usage()))]) as (llm, server):
        llm.complete(asked)
    sent = server.asked[0]
    assert sent["model"] == "served"
    assert (sent["temperature"], sent["top_p"], sent["max_tokens"], sent["seed"]) == (0.2, 0.9, 50, 1)
    assert [m["role"] for m in sent["messages"]] == ["system", "assistant", "tool"]
    assert sent["messages"][1]["tool_calls"][0]["function"]["name"] == "t"
    assert sent["messages"][2]["tool_call_id"] == "c"
    assert sent["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert sent["tools"] == [{"type": "function", "function": tool.model_dump(mode="json")}]
    assert "grammar" not in sent
    assert server.keys == [f"Bearer {KEY}"]


def test_an_answer_comes_with_its_usage_and_one_row() -> None:
    with door([Reply(completion("hello", usage(100, 20, cached=64, reasoning=5)))]) as (llm, _):
        before = time.time()
        answer = llm.complete(request())
    assert (answer.text, answer.finish, answer.replayed) == ("hello", "stop", False)
    assert answer.usage == Usage(prompt=100, completion=20, cached=64, reasoning=5)
    (row,) = answer.attempts
    assert (row.status, row.error, row.usage) == (200, None, answer.usage)
    assert row.raw_usage is not None
    assert row.raw_usage["prompt_tokens_details"] == {"cached_tokens": 64, "audio_tokens": 0}
    assert before <= row.started <= time.time()
    assert row.ms > 0


def test_native_tool_calls_come_back() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    with door([Reply(completion(None, usage(), tool_calls=[call]))]) as (llm, _):
        answer = llm.complete(request())
    assert (answer.text, answer.finish) == ("", "tool_calls")
    assert answer.tool_calls[0]["function"] == call["function"]


def test_half_a_character_in_an_answer_becomes_a_question_mark() -> None:
    with door([Reply(completion("a\ud800b", usage()))]) as (llm, _):
        assert llm.complete(request()).text == "a?b"


@pytest.mark.parametrize("body", [completion(), {**completion(), "usage": None}, {**completion(), "usage": {}}])
def test_a_missing_usage_is_none_and_never_zero(body: dict[str, Any]) -> None:
    with door([Reply(body)]) as (llm, _):
        answer = llm.complete(request())
    assert answer.usage == Usage(prompt=None, completion=None, cached=None, reasoning=None)
    assert (answer.attempts[0].raw_usage, answer.attempts[0].cost) == (None, None)


def test_half_a_usage_leaves_the_other_half_none() -> None:
    with door([Reply(completion(usage={"prompt_tokens": 7}))]) as (llm, _):
        assert llm.complete(request()).usage == Usage(prompt=7, completion=None)


def test_a_reported_zero_stays_zero() -> None:
    with door([Reply(completion(usage=usage(0, 0)))]) as (llm, _):
        assert llm.complete(request()).usage == Usage(prompt=0, completion=0, cached=0, reasoning=0)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_a_passing_failure_is_asked_again_and_keeps_its_row(status: int) -> None:
    with door([Reply(refusal("busy"), status), Reply(completion(usage=usage()))]) as (llm, server):
        answer = llm.complete(request())
    assert len(server.asked) == 2
    failed, answered = answer.attempts
    assert failed.status == status
    assert failed.error is not None
    assert failed.usage.prompt is None
    assert (answered.status, answered.error) == (200, None)


@pytest.mark.parametrize(("status", "advice"), [(400, "not accepted"), (401, "key"), (403, "may not"), (404, "name")])
def test_a_refusal_is_not_asked_again_and_says_what_to_do(status: int, advice: str) -> None:
    with door([Reply(refusal("no"), status)]) as (llm, server), pytest.raises(ProviderError, match=advice) as caught:
        llm.complete(request())
    assert len(server.asked) == 1
    assert [a.status for a in caught.value.attempts] == [status]


@pytest.mark.parametrize(
    "error",
    [
        refusal("This model's maximum context length is 8192 tokens.", code="context_length_exceeded"),
        refusal("request (9031 tokens) exceeds the available context size (8192 tokens), try increasing it"),
        refusal("The decoder prompt (length 9031) is longer than the maximum model length of 8192."),
    ],
)
def test_a_context_overflow_is_the_agents_own_doing(error: dict[str, Any]) -> None:
    with door([Reply(error, 400)]) as (llm, server), pytest.raises(ContextOverflow) as caught:
        llm.complete(request())
    assert len(server.asked) == len(caught.value.attempts) == 1


def test_when_all_attempts_fail_the_error_has_every_row() -> None:
    with door([Reply(refusal("busy"), 503)], attempts=3) as (llm, server), pytest.raises(ProviderError) as caught:
        llm.complete(request())
    assert "did not answer in 3 attempts" in str(caught.value)
    assert len(server.asked) == len(caught.value.attempts) == 3


def test_retry_after_is_honoured() -> None:
    with door([Reply(refusal("slow"), 429, {"Retry-After": "0.6"}), Reply(completion(usage=usage()))]) as (llm, _):
        first, second = llm.complete(request()).attempts
    assert second.started - first.started >= 0.6


def test_retry_after_may_be_a_date() -> None:
    with SimulatedModel("dated", Script(), Weather(faults={0: "429-date"}, retry_after=2.0)) as server:
        llm = LLM({MODEL: server.endpoint}, backoff=0.001)
        first, second = llm.complete(request()).attempts
    assert second.started - first.started >= 1.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "Mon, 01 Jan 2001 00:00:07 GMT", "date": "Mon, 01 Jan 2001 00:00:00 GMT"}, 7.0),
        ({"retry-after": "Mon, 01 Jan 2001 00:00:07 GMT", "date": "Mon, 01 Jan 2001 00:00:09 GMT"}, 0.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_a_date_to_come_back_at_is_read_against_the_servers_own_clock(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert _retry_after(headers) == seconds


def test_retry_after_holds_for_everyone_who_asks_that_provider() -> None:
    replies = [Reply(refusal("slow"), 429, {"Retry-After": "0.6"}), Reply(completion(usage=usage()))]
    with door(replies, attempts=1) as (llm, _):
        with pytest.raises(ProviderError):
            llm.complete(request("one"))
        began = time.monotonic()
        llm.complete(request("another"))
    assert time.monotonic() - began >= 0.5


def test_against_a_provider_that_takes_three_at_once_the_limit_settles_there_and_all_are_answered() -> None:
    told: list[tuple[str, int, str]] = []
    with SimulatedModel("narrow", Script(give_up="hello"), Weather(most=3, latency=0.05)) as server:
        llm = LLM({MODEL: server.endpoint}, concurrency=12, backoff=0.05, attempts=20)
        llm.on_limit = lambda *change: told.append(change)
        answers: list[str] = []

        def ask(number: int) -> None:
            answers.append(llm.complete(request(str(number))).text)

        asking = [threading.Thread(target=ask, args=(n,)) for n in range(80)]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join()
    assert answers == ["hello"] * 80
    assert server.most_at_once <= 3
    assert told[0] == (server.endpoint.provider, 6, "429")
    assert llm.limited[server.endpoint.provider] <= 6
    late = server.injected[len(server.injected) // 2 :]
    assert late.count("429") < len(late) / 2, "the limit keeps most requests from being refused"


def test_a_request_is_given_up_once_it_lost_more_time_than_there_is_patience() -> None:
    busy = [Reply(refusal("busy"), 503)]
    with door(busy, attempts=1000, patience=0.3) as (llm, server), pytest.raises(ProviderError, match="not answer"):
        llm.complete(request())
    assert 1 < len(server.asked) < 1000


def test_a_refusal_in_words_is_the_models_answer() -> None:
    body = completion(None, usage())
    body["choices"][0]["message"]["refusal"] = "I can't help with that."
    with door([Reply(body)]) as (llm, server):
        assert llm.complete(request()).text == "I can't help with that."
    assert len(server.asked) == 1


def test_a_connection_error_is_named_by_what_it_came_from() -> None:
    nowhere = Endpoint(model="openai/served", api_base="http://127.0.0.1:9/v1", api_key=KEY)
    with pytest.raises(ProviderError, match="Connection refused"):
        LLM({MODEL: nowhere}, attempts=1).complete(request())


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("opnai/gpt-4o", "did you mean 'openai/'"),
        ("gpt-4o-minii", "did you mean 'gpt-4o-mini'"),
        ("openai/gpt-4o-mini", "set the environment variable OPENAI_API_KEY"),
    ],
)
def test_a_name_without_a_provider_and_a_missing_key_are_refused_before_any_request(
    monkeypatch: pytest.MonkeyPatch, model: str, said: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelError, match=said):
        check_model(model, None)


def test_a_server_of_ones_own_and_a_provider_with_other_ways_to_sign_in_are_not_refused_beforehand() -> None:
    check_model("openai/anything", "http://127.0.0.1:9/v1")
    check_model("bedrock/anthropic.claude-3-haiku-20240307-v1:0", None)


def test_a_response_without_choices_is_no_answer() -> None:
    with door([Reply({}), Reply({**completion(usage=usage()), "choices": []}), Reply(completion())]) as (llm, _):
        rows = llm.complete(request()).attempts
    assert [r.error is None for r in rows] == [False, False, True]
    assert rows[1].usage.prompt == 19  # billed, though useless: it goes to the wasted ones


def test_an_empty_answer_is_asked_again_and_then_taken_as_the_models_own() -> None:
    with door([Reply(completion("", usage())), Reply(completion("yes", usage()))]) as (llm, _):
        assert llm.complete(request()).text == "yes"
    with door([Reply(completion(None, usage()))]) as (llm, server):
        answer = llm.complete(request())
    assert answer.text == ""
    assert len(server.asked) == 3
    assert [a.error is None for a in answer.attempts] == [False, False, True]


def test_an_answer_that_ran_into_its_length_limit_is_not_asked_again() -> None:
    body = completion("", usage())
    body["choices"][0]["finish_reason"] = "length"
    with door([Reply(body)]) as (llm, server):
        assert llm.complete(request()).finish == "length"
    assert len(server.asked) == 1


def test_an_attempt_has_a_wall_time_even_where_the_server_keeps_the_line_alive() -> None:
    slow = Reply(completion(usage=usage()), drip=0.1)  # 4 s in all, never 0.5 s without a byte
    with door([slow, Reply(completion(usage=usage()))]) as (llm, _):
        rows = llm.complete(request(), timeout=0.5).attempts
    assert len(rows) == 2
    assert rows[0].status == 200  # the head of the response had come
    assert rows[0].error is not None
    assert 450 <= rows[0].ms < 2000


def test_a_server_that_is_not_there_is_a_provider_error_without_a_status() -> None:
    nowhere = Endpoint(model="openai/served", api_base="http://127.0.0.1:9/v1", api_key=KEY)
    with pytest.raises(ProviderError) as caught:
        LLM({MODEL: nowhere}, attempts=2, backoff=0.001).complete(request())
    assert [a.status for a in caught.value.attempts] == [None, None]


def test_a_server_of_ones_own_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with playback([Reply(completion(usage=usage()))]) as server:
        own = Endpoint(model="openai/served", api_base=server.url)
        assert LLM({MODEL: own}).complete(request()).text == "hello"


def test_no_secret_is_in_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER_API_KEY", "another-secret-value")
    said = f"Incorrect API key provided: {KEY}, or sk-proj-ab******xyz, or another-secret-value."
    with door([Reply(refusal(said), 401)]) as (llm, _), pytest.raises(ProviderError) as caught:
        llm.complete(request())
    for text in (str(caught.value), str(caught.value.attempts)):
        assert "Incorrect API key" in text
        assert not any(secret in text for secret in (KEY, "sk-proj", "another-secret-value"))


def test_an_answer_is_replayed_from_the_cache_with_its_usage_and_no_bill(tmp_path: Path) -> None:
    replies = [Reply(completion("first", usage())), Reply(completion("second", usage()))]
    with door(replies, cache_folder=tmp_path) as (llm, server):
        original, replay = llm.complete(request()), llm.complete(request())
        other = llm.complete(request(seed=2))
    assert len(server.asked) == 2
    assert (replay.text, replay.usage, replay.replayed, replay.attempts) == ("first", original.usage, True, ())
    assert other.text == "second"


def test_a_request_for_a_fresh_sample_is_not_cached(tmp_path: Path) -> None:
    with door([Reply(completion(usage=usage()))], cache_folder=tmp_path) as (llm, server):
        llm.complete(request(seed=None))
        llm.complete(request(seed=None))
    assert len(server.asked) == 2


def test_failures_are_not_cached_and_the_cache_may_be_deleted_or_damaged(tmp_path: Path) -> None:
    with door([Reply(refusal("no"), 400), Reply(completion(usage=usage()))], cache_folder=tmp_path) as (llm, server):
        with pytest.raises(ProviderError):
            llm.complete(request())
        llm.complete(request())
        (file,) = tmp_path.rglob("*.json")
        file.write_text("{")
        assert not llm.complete(request()).replayed
        assert llm.complete(request()).replayed
        file.unlink()
        assert not llm.complete(request()).replayed
    assert len(server.asked) == 4


def test_no_more_requests_are_under_way_than_allowed() -> None:
    with door([Reply(completion(usage=usage()))], hold=0.05, concurrency=3) as (llm, server):
        threads = [threading.Thread(target=llm.complete, args=(request(str(n)),)) for n in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert len(server.asked) == 8
    assert 2 <= server.most_at_once <= 3


def test_prices_come_from_the_local_table_and_unknown_ones_are_none() -> None:
    with door([Reply(completion(usage=usage(1000, 100)))], served="openai/gpt-4o-mini") as (llm, _):
        cost = llm.complete(request()).attempts[0].cost
    assert cost == pytest.approx(1000 * 0.15e-6 + 100 * 0.60e-6)
    assert price("openai/gpt-4o-mini", 1000, 100) == pytest.approx(cost)
    assert price("openai/gpt-99-not-out-yet", 1000, 100) is None
    with door([Reply(completion(usage=usage()))]) as (llm, _):
        assert llm.complete(request()).attempts[0].cost is None


def test_a_simulated_model_must_be_given_its_server() -> None:
    with pytest.raises(ModelError, match="simulated"):
        LLM().complete(request().model_copy(update={"model": "simulated/x"}))


def test_an_unknown_provider_is_refused_without_a_request() -> None:
    with pytest.raises(ProviderError, match="no response"):
        LLM().complete(request().model_copy(update={"model": "no-such-provider/x"}))


def test_hosted_models_are_counted_by_litellms_tokenizers_additively() -> None:
    llm = LLM({MODEL: Endpoint(model="openai/gpt-4o-mini")})
    short, long = llm.count(request("hello")), llm.count(request("hello" + " world" * 50))
    assert long - short == 50


def test_a_lock_knows_a_server_by_its_address_and_names_what_is_not_sent() -> None:
    llm = LLM({MODEL: Endpoint(model="anthropic/claude-sonnet-4-5", api_base="http://here")})
    assert llm.identity(MODEL) == {"model": MODEL, "api_base": "http://here", "not_sent": ["seed"]}


def test_native_tools_are_known_of_hosted_models_and_not_of_local_ones() -> None:
    assert supports_tools("openai/gpt-4o-mini")
    assert not supports_tools("local/qwen2.5-coder-1.5b")
