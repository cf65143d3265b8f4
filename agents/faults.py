"""What can go wrong between an asker and a model, as a server on loopback can do it for real: on the wire, and in what
the model says. For testing the harness."""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Mapping
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler
from typing import Any, Literal, get_args

WireFault = Literal[
    "429",  # too many requests, Retry-After in seconds
    "429-date",  # the same, Retry-After as an HTTP date
    "500",
    "502-html",  # a proxy's page instead of JSON
    "503",
    "529",
    "down",  # the connection is reset, and for a while nobody listens: connections are refused
    "reset",  # the connection is reset before a byte of the answer
    "timeout",  # no answer, ever
    "drip",  # headers, then a byte now and then, for longer than anyone waits
    "cut",  # the body ends in the middle
    "malformed",  # a whole body that is no JSON
    "empty-body",
    "empty-json",
    "no-choices",
]
"""The provider's doing: asked again, and never the agent's failure."""
Said = Literal[
    "no-usage",  # an answer without its usage object
    "null-content",  # an answer that says nothing
    "slow",  # an answer that drips in, in time
    "wrong-tool",  # calls a tool that does not exist
    "refusal",  # declines, in OpenAI's refusal field
    "prose",  # text that is no action
    "endless",  # text until the length limit
    "overflow",  # the prompt is longer than the context window
]
"""The model's own doing, or no fault at all: taken as it is."""
Fault = Literal[WireFault, Said]
WIRE_FAULTS: tuple[str, ...] = get_args(WireFault)
SAID: tuple[str, ...] = get_args(Said)

_STATUS: dict[str, int] = {"429": 429, "429-date": 429, "500": 500, "503": 503, "529": 529}
_PAGE = (
    b"<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center></body></html>"
)
_OVERFLOW = {
    "error": {
        "message": "This model's maximum context length is 8192 tokens. Please reduce the length of the messages.",
        "type": "invalid_request_error",
        "param": "messages",
        "code": "context_length_exceeded",
    }
}
_DRIPS = 20
"""Blanks that come before a slow answer."""


def spoiled(whole: dict[str, Any], fault: str | None) -> dict[str, Any]:
    """A chat completion as a model that behaves so gives it."""
    choice: dict[str, Any] = {**whole["choices"][0]}
    match fault:
        case "no-choices":
            return {**whole, "choices": []}
        case "no-usage":
            return {k: v for k, v in whole.items() if k != "usage"}
        case "null-content":
            choice["message"] = {"role": "assistant", "content": None}
        case "wrong-tool":
            choice["message"] = {"role": "assistant", "content": '{"tool": "no_such_tool", "args": {"id": 1}}'}
        case "refusal":
            said = "I'm sorry, but I can't help with that."
            choice["message"] = {"role": "assistant", "content": None, "refusal": said}
        case "prose":
            choice["message"] = {"role": "assistant", "content": "Let me think about what to do next."}
        case "endless":
            said = '{"thought": "' + "and so on " * 200
            choice |= {"message": {"role": "assistant", "content": said}, "finish_reason": "length"}
        case _:
            return whole
    return {**whole, "choices": [choice]}


def deliver(
    handler: BaseHTTPRequestHandler, whole: dict[str, Any], fault: str | None, retry_after: float, drip: float
) -> None:
    """Answers a request with what a model said, or with what goes wrong instead. `drip`: seconds between bytes."""
    if fault in _STATUS:
        wait = {"Retry-After": f"{retry_after:g}"} if fault == "429" else {}
        if fault == "429-date":  # dates have whole seconds: the next one at least
            wait = {"Retry-After": formatdate(time.time() + max(1.0, retry_after), usegmt=True)}
        error = {"error": {"message": f"simulated {fault}", "type": "simulated"}}
        send(handler, json.dumps(error).encode(), _STATUS[fault], headers=wait)
        return
    data = json.dumps(spoiled(whole, fault)).encode()
    half = data[: len(data) // 2]
    match fault:
        case "reset" | "down":
            reset(handler)
        case "timeout":
            handler.close_connection = True  # nobody waits any more
        case "drip" | "slow":
            _drip(handler, data, drip)
        case "cut":
            send(handler, half, length=len(data))
            handler.close_connection = True
        case "502-html":
            send(handler, _PAGE, 502, kind="text/html")
        case "overflow":
            send(handler, json.dumps(_OVERFLOW).encode(), 400)
        case _:
            bodies = {"malformed": half, "empty-body": b"", "empty-json": b"{}"}
            send(handler, bodies.get(fault or "", data))


def send(
    handler: BaseHTTPRequestHandler,
    data: bytes,
    status: int = 200,
    *,
    kind: str = "application/json",
    length: int | None = None,
    headers: Mapping[str, str] | None = None,
) -> None:
    """A whole response; `length` is what it claims to have, where that is not the truth."""
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(data) if length is None else length))
    for name, text in (headers or {}).items():
        handler.send_header(name, text)
    handler.end_headers()
    handler.wfile.write(data)


def reset(handler: BaseHTTPRequestHandler) -> None:
    """Ends the connection with a TCP reset."""
    handler.close_connection = True
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()


def _drip(handler: BaseHTTPRequestHandler, data: bytes, seconds: float) -> None:
    """The body after blanks, one at a time: what providers send to keep a waiting connection alive."""
    send(handler, b"", length=len(data) + _DRIPS)
    try:
        for _ in range(_DRIPS):
            time.sleep(seconds)
            handler.wfile.write(b"\n")
        handler.wfile.write(data)
    except OSError:  # the asker gave up
        handler.close_connection = True
