"""A loopback HTTP server that plays back responses in OpenAI's documented form, for tests of the door to models."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Reply:
    """One response. `drip`: a blank is sent every so many seconds before the body, as some providers do.

    A body of bytes is a stream of events, which ends with the connection; `cut`: only so many bytes of it are sent.
    """

    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    drip: float = 0.0
    cut: int | None = None


@dataclass
class Playback:
    """A running server: replies in order, the last one from then on."""

    url: str
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    most_at_once: int = 0
    under_way: int = 0


def completion(text: str | None = "hello", usage: dict[str, Any] | None = None, **message: Any) -> dict[str, Any]:
    """A chat completion object (platform.openai.com/docs/api-reference/chat/object)."""
    whole: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1741569952,
        "model": "gpt-4o-mini-2024-07-18",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, "refusal": None, **message},
                "logprobs": None,
                "finish_reason": "tool_calls" if message else "stop",
            }
        ],
        "service_tier": "default",
    }
    return {**whole, "usage": usage} if usage is not None else whole


def usage(prompt: int = 19, completed: int = 10, cached: int = 0, reasoning: int = 0) -> dict[str, Any]:
    """A usage object as OpenAI sends it."""
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completed,
        "total_tokens": prompt + completed,
        "prompt_tokens_details": {"cached_tokens": cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": reasoning, "audio_tokens": 0},
    }


def refusal(message: str, kind: str = "invalid_request_error", code: str | None = None) -> dict[str, Any]:
    """An error object as OpenAI sends it."""
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


@contextmanager
def playback(replies: Sequence[Reply], hold: float = 0.0) -> Iterator[Playback]:
    """Runs a server; each answer is held back for `hold` seconds."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                reply = replies[min(len(state.asked), len(replies) - 1)]
                state.asked.append(asked)
                state.keys.append(self.headers.get("Authorization", ""))
                state.under_way += 1
                state.most_at_once = max(state.most_at_once, state.under_way)
            time.sleep(hold)
            with lock:
                state.under_way -= 1
            self.send(reply)

        def send(self, reply: Reply) -> None:
            if isinstance(reply.body, bytes):
                self.stream(reply)
                return
            data = json.dumps(reply.body).encode()
            blanks = 40 if reply.drip else 0
            self.send_response(reply.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data) + blanks))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            for _ in range(blanks):
                time.sleep(reply.drip)
                self.wfile.write(b"\n")
            self.wfile.write(data[: reply.cut])
            self.close_connection = reply.cut is not None

        def stream(self, reply: Reply) -> None:
            self.send_response(reply.status)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(reply.body[: reply.cut])
            self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None: ...

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None: ...  # a client that gave up is expected

    server = Server(("127.0.0.1", 0), Handler)
    state = Playback(url=f"http://127.0.0.1:{server.server_port}/v1")
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
