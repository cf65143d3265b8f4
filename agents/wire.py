"""One HTTP attempt at a model, through litellm: what was sent, what came back, and what it used."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, Literal, TypeVar

from pydantic import JsonValue

from rebind.agents.endpoint import Endpoint
from rebind.agents.provider import cost, litellm, unsupported
from rebind.agents.redact import redact
from rebind.types import Attempt, Completion, Message, Request, ToolSpec, Usage

Verdict = Literal["answered", "empty", "retry", "overflow", "refused"]
T = TypeVar("T")

_RETRIED = {408, 409, 429}
_TOO_MANY = 429
_SERVER_ERROR = 500
_OVERFLOW = re.compile(
    r"context[ _](length|window|size)|maximum model length|prompt is too long|too many (input )?tokens", re.IGNORECASE
)
"""In a refusal: how servers say that a prompt is too long, beyond the wordings litellm knows."""
_PROMPT_KEYS = ("prompt_tokens", "input_tokens", "promptTokenCount", "inputTokens", "prompt_eval_count")
_COMPLETION_KEYS = ("completion_tokens", "output_tokens", "candidatesTokenCount", "outputTokens", "eval_count")
"""How providers spell the two counts: OpenAI, Anthropic, Gemini, Bedrock, Ollama."""


@dataclass(frozen=True)
class Outcome:
    """What one attempt came to. `completion` is there for "answered" and "empty" (well-formed, but says nothing)."""

    verdict: Verdict
    attempt: Attempt
    completion: Completion | None = None
    retry_after: float | None = None
    """Seconds, where the provider named them (RFC 9110, section 10.2.3; dates are not used by model providers)."""

    @property
    def too_many(self) -> bool:
        return self.attempt.status == _TOO_MANY


@dataclass
class _Tap:
    """What litellm hides: the response before it was normalised. litellm turns a missing usage object into 0/0/0."""

    raw: Mapping[str, JsonValue] | None = None

    def __call__(self, details: Mapping[str, Any]) -> None:
        """litellm's `logger_fn`: called before the request and again with the response, or the error, as text."""
        if details.get("log_event_type") != "post_api_call" or self.raw is not None:
            return
        try:
            raw = json.loads(str(details.get("original_response")))
        except ValueError:
            return
        self.raw = raw if isinstance(raw, dict) else None


@dataclass
class _Clock:
    """When an attempt began, and how long it took."""

    started: float = field(default_factory=time.time)
    _began: float = field(default_factory=time.monotonic)

    @property
    def ms(self) -> float:
        return (time.monotonic() - self._began) * 1000


def attempt(endpoint: Endpoint, request: Request, seconds: float) -> Outcome:
    """Asks once, with `seconds` of wall time. Never raises for what the provider or the network did."""
    from openai import OpenAIError

    tap, clock = _Tap(), _Clock()
    body = {**_body(endpoint, request), "logger_fn": tap, "timeout": seconds}
    completion_of = litellm().completion
    try:
        response = _within(seconds, lambda: completion_of(**body))
    except (OpenAIError, TimeoutError) as error:  # all of litellm's errors are OpenAI's
        return _failed(endpoint, error, tap, clock)
    usage, raw_usage = _usage(response, tap.raw)
    counted = usage.prompt is not None and usage.completion is not None
    row = Attempt(
        started=clock.started,
        ms=clock.ms,
        status=200,
        usage=usage,
        raw_usage=raw_usage,
        cost=cost(endpoint.model, response.usage) if counted else None,
    )
    if not response.choices:
        return Outcome("retry", row.model_copy(update={"error": "the response has no choices"}))
    completion = _completion(response.choices[0], usage)
    # An answer cut by its own length limit may be empty (a model that only thought): that is the model's answer.
    if completion.text.strip() or completion.tool_calls or completion.finish == "length":
        return Outcome("answered", row, completion)
    return Outcome("empty", row.model_copy(update={"error": "the answer is empty"}), completion)


def _body(endpoint: Endpoint, request: Request) -> dict[str, Any]:
    """litellm's arguments. `num_retries` and `max_retries` are 0: retries are `LLM`'s, so that each attempt is seen."""
    decoding = request.decoding
    body: dict[str, Any] = {
        "model": endpoint.model,
        "messages": [wire_message(m) for m in request.messages],
        "max_tokens": decoding.max_tokens,
        "temperature": decoding.temperature,
        "top_p": decoding.top_p,
        "seed": decoding.seed,
        "num_retries": 0,
        "max_retries": 0,
        "api_base": endpoint.api_base,
        "api_key": endpoint.api_key or _no_key(endpoint),
    }
    for parameter in unsupported(endpoint.model):
        body.pop(parameter)
    if request.tools:
        body["tools"] = [wire_tool(t) for t in request.tools]
    if request.schema_ is not None and endpoint.takes_grammar:
        compact = {**request.schema_, "x-guidance": {"whitespace_flexible": False}}
        body["extra_body"] = {"grammar": f"%llguidance {{}}\nstart: %json {json.dumps(compact)}"}
    elif request.schema_ is not None:
        schema = {"name": "answer", "schema": request.schema_, "strict": False}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return {key: value for key, value in body.items() if value is not None}


def _no_key(endpoint: Endpoint) -> str | None:
    """A stand-in for servers of one's own that ask for no key: OpenAI's client insists on having one."""
    return "none" if endpoint.api_base and "OPENAI_API_KEY" not in os.environ else None


def wire_message(message: Message) -> dict[str, Any]:
    """A message in OpenAI's wire form."""
    wire: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        wire["tool_calls"] = list(message.tool_calls)
        wire["content"] = message.content or None
    if message.tool_call_id is not None:
        wire["tool_call_id"] = message.tool_call_id
    return wire


def wire_tool(tool: ToolSpec) -> dict[str, Any]:
    """A tool in OpenAI's wire form."""
    return {"type": "function", "function": tool.model_dump(mode="json")}


def _within(seconds: float, work: Callable[[], T]) -> T:
    """Runs work in a thread of its own and waits at most so long: an HTTP client's timeout is per read, and some
    providers keep a waiting connection alive with blank lines. Raises `TimeoutError`."""
    box: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            box.put((work(), None))
        except BaseException as error:  # handed to the waiting thread, which raises it
            box.put((None, error))

    threading.Thread(target=run, name="model-call", daemon=True).start()
    try:
        value, error = box.get(timeout=seconds)
    except Empty:
        raise TimeoutError(f"no answer within {seconds:g} s") from None
    if error is not None:
        raise error
    return value  # type: ignore[return-value]  # a T wherever there was no error


def _failed(endpoint: Endpoint, error: Exception, tap: _Tap, clock: _Clock) -> Outcome:
    """The outcome of an attempt that raised."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    claimed = getattr(error, "status_code", None)
    # litellm invents a status (and a response without headers) where no response came.
    status = claimed if headers else (200 if tap.raw is not None else None)
    row = Attempt(
        started=clock.started,
        ms=clock.ms,
        status=status,
        error=redact(f"{type(error).__name__}: {error}", endpoint.api_key),
    )
    return Outcome(_verdict(error, claimed), row, retry_after=_seconds(headers.get("retry-after")))


def _verdict(error: Exception, status: int | None) -> Verdict:
    module = litellm()
    if isinstance(error, module.ContextWindowExceededError):
        return "overflow"
    if isinstance(error, module.Timeout | module.APIConnectionError | TimeoutError):
        return "retry"
    if status is not None and (status in _RETRIED or status >= _SERVER_ERROR):
        return "retry"
    return "overflow" if _OVERFLOW.search(str(error)) else "refused"


def _seconds(text: str | None) -> float | None:
    try:
        return max(0.0, float(text)) if text else None
    except ValueError:
        return None


def _completion(choice: Any, usage: Usage) -> Completion:
    return Completion(
        text=_whole(choice.message.content or ""),
        tool_calls=tuple(c.model_dump(mode="json") for c in choice.message.tool_calls or ()),
        finish=choice.finish_reason or "stop",
        usage=usage,
    )


def _whole(text: str) -> str:
    """The text without halves of surrogate pairs, which JSON escapes can carry and UTF-8 files cannot."""
    return text.encode("utf-8", "replace").decode()


def _usage(response: Any, raw: Mapping[str, JsonValue] | None) -> tuple[Usage, dict[str, JsonValue] | None]:
    """The counts, and the provider's own usage object. A count that the provider did not send is None, whatever
    litellm made of it (0, or an estimate)."""
    sent = _raw_usage(raw)
    if sent is None:
        return Usage(), None
    counts = response.usage
    prompt_details = getattr(counts, "prompt_tokens_details", None)
    completion_details = getattr(counts, "completion_tokens_details", None)
    usage = Usage(
        prompt=counts.prompt_tokens if _has(sent, _PROMPT_KEYS) else None,
        completion=counts.completion_tokens if _has(sent, _COMPLETION_KEYS) else None,
        cached=getattr(prompt_details, "cached_tokens", None),
        reasoning=getattr(completion_details, "reasoning_tokens", None),
    )
    return usage, sent


def _raw_usage(raw: Mapping[str, JsonValue] | None) -> dict[str, JsonValue] | None:
    if raw is None:
        return None
    for key in ("usage", "usageMetadata"):
        if isinstance(found := raw.get(key), dict) and found:
            return found
    return {k: raw[k] for k in (*_PROMPT_KEYS, *_COMPLETION_KEYS) if k in raw} or None


def _has(sent: Mapping[str, JsonValue], keys: tuple[str, ...]) -> bool:
    return any(sent.get(key) is not None for key in keys)
