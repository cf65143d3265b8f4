"""One HTTP attempt at a model: what was sent, what came back, and what it used."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from queue import Empty, SimpleQueue
from typing import Any, Literal, TypeVar

from rebind.agents import direct
from rebind.agents.endpoint import Endpoint
from rebind.agents.provider import cost, litellm, unsupported
from rebind.agents.tap import Exchange, Payload, listening
from rebind.agents.usage import normalised, raw_usage
from rebind.secrets import redact
from rebind.types import Attempt, Completion, Message, Request, ToolSpec

Verdict = Literal["answered", "empty", "retry", "overflow", "refused"]
T = TypeVar("T")

_RETRIED = {408, 409, 429}
_CROWDED = {429, 503, 529}
"""How providers say that they have too many requests under way."""
_CLIENT_ERROR, _SERVER_ERROR = 400, 500
_OVERFLOW = re.compile(
    r"context[ _](length|window|size)|maximum model length|prompt is too long|too many (input )?tokens", re.IGNORECASE
)
"""In a refusal: how servers say that a prompt is too long, beyond the wordings litellm knows."""


@dataclass(frozen=True)
class Outcome:
    """What one attempt came to. `completion` is there for "answered" and "empty" (well-formed, but says nothing)."""

    verdict: Verdict
    attempt: Attempt
    completion: Completion | None = None
    retry_after: float | None = None
    """Seconds, where the provider said when to come back (RFC 9110, section 10.2.3)."""
    timed_out: bool = False
    earlier: tuple[Attempt, ...] = ()
    """HTTP responses before the last one: the request was sent anew where the server minds the order of roles."""

    @property
    def crowded(self) -> bool:
        """Whether fewer requests at once might have fared better."""
        return self.timed_out or self.attempt.status in _CROWDED


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

    litellm()  # its import takes seconds, which are no part of the attempt
    clock, heard = _Clock(), list[Exchange]()
    body = {**_body(endpoint, request), "timeout": seconds}
    try:
        if direct.takes(endpoint):
            answer = direct.ask(endpoint, body, heard)
        else:
            answer = _within(seconds, lambda: _through_litellm(body, heard))
    except (OpenAIError, TimeoutError) as error:  # all of litellm's errors are OpenAI's
        return _failed(endpoint, error, heard, clock)
    row = _row(endpoint, heard, clock)
    earlier = _earlier(endpoint, heard, clock)
    if answer is None:
        return Outcome("retry", row.model_copy(update={"error": "the response has no choices"}), earlier=earlier)
    if endpoint.stream and heard and not _whole(heard[-1].payloads()):
        cut = "the stream ended before the answer did"  # litellm takes that for the answer's end
        return Outcome("retry", row.model_copy(update={"error": cut}), earlier=earlier)
    completion = answer.model_copy(update={"text": _encodable(answer.text), "usage": row.usage})
    # An answer cut by its own length limit may be empty (a model that only thought): that is the model's answer.
    if completion.text.strip() or completion.tool_calls or completion.finish == "length":
        return Outcome("answered", row, completion, earlier=earlier)
    return Outcome("empty", row.model_copy(update={"error": "the answer is empty"}), completion, earlier=earlier)


def _through_litellm(body: dict[str, Any], heard: list[Exchange]) -> Completion | None:
    """As `direct.ask`, at any provider."""
    with listening(heard):
        response = litellm().completion(**body)
        if body.get("stream"):
            response = litellm().stream_chunk_builder(list(response), messages=body["messages"])
    if not response or not response.choices:
        return None
    choice = response.choices[0]
    return Completion(
        text=choice.message.content or getattr(choice.message, "refusal", None) or "",
        tool_calls=tuple(c.model_dump(mode="json") for c in choice.message.tool_calls or ()),
        finish=choice.finish_reason or "stop",
    )


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
    if endpoint.stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
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


def _failed(endpoint: Endpoint, error: Exception, heard: Sequence[Exchange], clock: _Clock) -> Outcome:
    """The outcome of an attempt that raised."""
    row = _row(endpoint, heard, clock)
    if isinstance(error, litellm().ContentPolicyViolationError):  # declining is an answer too
        return Outcome("answered", row, Completion(text="", finish="content_filter", usage=row.usage))
    row = row.model_copy(update={"error": redact(_said(error), endpoint.api_key)})
    return Outcome(
        _verdict(error, row.status),
        row,
        retry_after=_retry_after(heard[-1].headers) if heard else None,
        timed_out=isinstance(error, litellm().Timeout | TimeoutError),
        earlier=_earlier(endpoint, heard, clock),
    )


def _said(error: Exception) -> str:
    """An error with what it came from: litellm calls a refused connection an internal error of the server."""
    said, cause = f"{type(error).__name__}: {error}", _cause(error)
    while cause is not None and type(cause).__module__.partition(".")[0] in ("litellm", "openai", "builtins"):
        cause = _cause(cause)
    return said if cause is None else f"{said} ({type(cause).__name__}: {cause})"


def _cause(error: BaseException) -> BaseException | None:
    return error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _row(endpoint: Endpoint, heard: Sequence[Exchange], clock: _Clock) -> Attempt:
    """An attempt as the wire saw it: the last response, or none."""
    if not heard:
        return Attempt(started=clock.started, ms=clock.ms)
    raw = raw_usage(heard[-1].payloads())
    counts = normalised(raw)
    return Attempt(
        started=clock.started,
        ms=clock.ms,
        status=heard[-1].status,
        usage=counts.usage,
        raw_usage=raw,
        cost=cost(endpoint.model, counts.usage, counts.written),
    )


def _earlier(endpoint: Endpoint, heard: Sequence[Exchange], clock: _Clock) -> tuple[Attempt, ...]:
    """Rows of the responses before the last one: a request is sent anew where a server minds the order of roles. (Their
    time is within the last row's.)"""
    asked = [n for n, one in enumerate(heard[:-1], 1) if not one.redirects]
    error = {"error": "answered with an error; asked anew", "ms": 0.0}
    return tuple(_row(endpoint, heard[:n], clock).model_copy(update=error) for n in asked)


def _verdict(error: Exception, status: int | None) -> Verdict:
    module = litellm()
    if isinstance(error, module.ContextWindowExceededError):
        return "overflow"
    if isinstance(error, module.Timeout | module.APIConnectionError | TimeoutError):
        return "retry"
    if status is None:  # no response: what litellm refused on its own, by the status that it gives to that
        status = getattr(error, "status_code", None)
    if status is not None and (status in _RETRIED or status >= _SERVER_ERROR):
        return "retry"
    if _OVERFLOW.search(str(error)):
        return "overflow"
    # A response that says 200 and cannot be read, or holds an error, is a fault of the provider.
    return "retry" if status is not None and status < _CLIENT_ERROR else "refused"


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the provider asks to wait, named as such or as a date; a date is read against the response's own,
    so that this machine's clock does not matter."""
    text = headers.get("retry-after") or ""
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(text)
        sent = parsedate_to_datetime(headers["date"]) if "date" in headers else datetime.now(UTC)
        return max(0.0, (until - sent).total_seconds())
    except (ValueError, TypeError):  # no date, or one without a time zone
        return None


def _encodable(text: str) -> str:
    """The text without halves of surrogate pairs, which JSON escapes can carry and UTF-8 files cannot."""
    return text.encode("utf-8", "replace").decode()


def _whole(payloads: Sequence[Payload]) -> bool:
    """Whether a stream said how its answer ended: a reason to finish (OpenAI, Gemini), a last event (Anthropic), `done`
    (Ollama). True of a stream in a form that is none of these."""
    known = ended = False
    for payload in payloads:
        for choice in (*(payload.get("choices") or ()), *(payload.get("candidates") or ())):
            known = True
            ended = ended or bool(choice.get("finish_reason") or choice.get("finishReason"))
        kind = payload.get("type")
        known = known or kind == "message_start" or "done" in payload
        ended = ended or kind == "message_stop" or payload.get("done") is True
    return ended or not known
