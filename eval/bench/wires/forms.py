"""The two wire formats that the benchmark's provider speaks, as their providers document them: OpenAI's chat
completions and Anthropic's messages, whole and as server-sent events."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, Literal

Format = Literal["openai", "anthropic"]
FORMATS: tuple[Format, ...] = ("openai", "anthropic")
Json = dict[str, Any]
Usage = Json | None

PATHS: dict[str, Format] = {"/v1/chat/completions": "openai", "/v1/messages": "anthropic"}
PLACEHOLDER = 1
"""The output count in Anthropic's first event: no count of the answer."""
_PIECES = 3
"""Events that a text is spread over."""


def messages_of(form: Format, body: Json) -> list[Json]:
    """A request's messages in OpenAI's form, a text each, the system prompt first."""
    if form == "openai":
        return list(body["messages"])
    system = [{"role": "system", "content": block["text"]} for block in body.get("system", ())]
    blocks = ((m["role"], block) for m in body["messages"] for block in m["content"])
    return [*system, *({"role": role, "content": block["text"]} for role, block in blocks if block["type"] == "text")]


def whole(form: Format, body: Json, number: int, text: str, usage: Usage) -> Json:
    """A response that is not streamed. A request that must use a tool (how litellm asks Anthropic for JSON) gets its
    answer as that tool's input."""
    if form == "openai":
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        return {**_openai(body, number, "chat.completion"), "choices": [choice], **_said(usage)}
    block = _block(body, number, text)
    reason = "tool_use" if block["type"] == "tool_use" else "end_turn"
    content = [block] if text else []
    return {**_anthropic(body, number), "content": content, "stop_reason": reason, **_said(usage)}


def events(form: Format, body: Json, number: int, text: str, usage: Usage) -> Iterator[bytes]:
    """A streamed response, event by event."""
    return _openai_events(body, number, text, usage) if form == "openai" else _messages(body, number, text, usage)


def failure(form: Format, kind: str, message: str, usage: Usage = None) -> Json:
    """The body of an error response; a few gateways add what the failed request used."""
    if form == "openai":
        return {"error": {"message": message, "type": kind, "param": None, "code": None}, **_said(usage)}
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1", **_said(usage)}


def failure_event(form: Format, message: str) -> bytes:
    """An error within a stream."""
    if form == "openai":
        return _event(failure(form, "server_error", message))
    return _event(failure(form, "overloaded_error", message), "error")


def _openai(body: Json, number: int, kind: str) -> Json:
    return {"id": f"chatcmpl-{number}", "object": kind, "created": 1741569952, "model": body["model"]}


def _anthropic(body: Json, number: int) -> Json:
    return {
        "id": f"msg_{number}", "type": "message", "role": "assistant", "model": body["model"], "content": [],
        "stop_reason": None, "stop_sequence": None,
    }  # fmt: skip


def _said(usage: Usage) -> Json:
    return {} if usage is None else {"usage": usage}


def _block(body: Json, number: int, text: str) -> Json:
    if body.get("tool_choice", {}).get("type") == "tool":
        given = json.loads(text) if text else {}
        return {"type": "tool_use", "id": f"toolu_{number}", "name": body["tool_choice"]["name"], "input": given}
    return {"type": "text", "text": text}


def _openai_events(body: Json, number: int, text: str, usage: Usage) -> Iterator[bytes]:
    """Usage comes last, in a chunk without choices, and only where it was asked for."""
    asked = body.get("stream_options", {}).get("include_usage")
    head: Json = _openai(body, number, "chat.completion.chunk") | ({"usage": None} if asked else {})
    deltas: list[Json] = [{"role": "assistant", "content": ""}, *({"content": piece} for piece in _pieces(text))]
    for delta in deltas:
        yield _event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    yield _event({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    if asked and usage is not None:
        yield _event({**head, "choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


def _messages(body: Json, number: int, text: str, usage: Usage) -> Iterator[bytes]:
    """The prompt's usage comes first, the output's last; the first has a provisional one of the output."""
    counts = usage or {}
    first = {k: v for k, v in counts.items() if not k.startswith("output")} | {"output_tokens": PLACEHOLDER}
    last = {k: v for k, v in counts.items() if k.startswith("output")}
    opened = _anthropic(body, number) | _said(first if usage is not None else None)
    yield _event({"type": "message_start", "message": opened}, "message_start")
    yield from _block_events(_block(body, number, text), text) if text else ()
    reason = "tool_use" if text and "tool_choice" in body else "end_turn"
    end: Json = {"delta": {"stop_reason": reason, "stop_sequence": None}}
    yield _event({"type": "message_delta", **end, **_said(last or None)}, "message_delta")
    yield _event({"type": "message_stop"}, "message_stop")


def _block_events(block: Json, text: str) -> Iterator[bytes]:
    tool = block["type"] == "tool_use"
    empty = {**block, "input": {}} if tool else {**block, "text": ""}
    yield _event({"type": "content_block_start", "index": 0, "content_block": empty}, "content_block_start")
    yield _event({"type": "ping"}, "ping")
    kind, key = ("input_json_delta", "partial_json") if tool else ("text_delta", "text")
    for piece in _pieces(text):
        delta = {"type": kind, key: piece}
        yield _event({"type": "content_block_delta", "index": 0, "delta": delta}, "content_block_delta")
    yield _event({"type": "content_block_stop", "index": 0}, "content_block_stop")


def _event(data: Json, name: str = "") -> bytes:
    return (f"event: {name}\n" if name else "").encode() + b"data: " + json.dumps(data).encode() + b"\n\n"


def _pieces(text: str) -> list[str]:
    size = max(1, math.ceil(len(text) / _PIECES))
    return [text[start : start + size] for start in range(0, len(text), size)]
