"""The provider: an HTTP server on loopback that answers from a script, fails at random, and keeps an invoice."""

from __future__ import annotations

import json
import random
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal

from rebind.agents.simulated import Script, answer, template, tokens
from rebind.eval.bench.wires.forms import PATHS, Format, Json, events, failure, failure_event, messages_of, whole
from rebind.eval.bench.wires.usages import Spent, draw
from rebind.types import Usage

Fate = Literal["answered", "empty", "status", "status-with-usage", "cut", "broken-stream"]
STATUSES = {"openai": (429, 500, 502, 503), "anthropic": (429, 500, 503, 529)}
_FATES: tuple[tuple[Fate, float], ...] = (
    ("answered", 0.86), ("empty", 0.03), ("status", 0.05), ("status-with-usage", 0.02), ("cut", 0.02),
    ("broken-stream", 0.02),
)  # fmt: skip


@dataclass(frozen=True)
class Line:
    """One line of the invoice: a request and what was sent back."""

    fate: Fate
    status: int
    streamed: bool
    prompt: str
    """The messages, as the model reads them."""
    told: Usage
    """What of its tokens reached the client; None where it was not told."""
    written: int
    sent: Json | None
    """The usage object that was sent."""
    kinds: tuple[str, ...]


class Provider:
    """Runs within its context. One request at a time gets its numbers; the order of `invoice` is that of arrival."""

    def __init__(self, script: Script, seed: int) -> None:
        self.invoice: list[Line] = []
        self._script, self._rng = script, random.Random(seed)
        self._lock = threading.Lock()
        self._server = _Server(self)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Provider:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), name="provider", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def respond(self, form: Format, body: Json) -> tuple[int, bytes, bool, bool]:
        """What is sent back: (status, body, whether that is a stream, whether it is cut). Writes the invoice."""
        streamed = bool(body.get("stream"))
        with self._lock:
            rng, number = self._rng, len(self.invoice)
            fates: list[Fate] = [fate for fate, _ in _FATES]
            (fate,) = rng.choices(fates, [weight for _, weight in _FATES])
            if fate == "broken-stream" and not streamed:
                fate = "cut"
            messages = messages_of(form, body)
            text = "" if fate == "empty" else answer(self._script, messages, body.get("seed"))
            prompt, tools = template({"messages": messages}), json.dumps(body.get("tools", ""))
            spent = draw(form, len(tokens(prompt)) + len(tokens(tools)), len(tokens(text)), rng)
            status = rng.choice(STATUSES[form]) if fate.startswith("status") else 200
            data, spent = _sent(form, body, number, text, spent, fate)
            line = Line(fate, status, streamed, prompt, spent.told, spent.written, spent.sent, spent.kinds)
            self.invoice.append(line)
        return status, data, streamed and status == 200, fate == "cut"


def _sent(form: Format, body: Json, number: int, text: str, spent: Spent, fate: Fate) -> tuple[bytes, Spent]:
    """The bytes of a response, and what of its usage is in them."""
    nothing = Spent(Usage(), 0, None, ())
    if fate == "status":
        return json.dumps(failure(form, "api_error", "simulated failure")).encode(), nothing
    if fate == "status-with-usage":
        return json.dumps(failure(form, "api_error", "simulated failure", spent.sent)).encode(), spent
    if not body.get("stream"):
        data = json.dumps(whole(form, body, number, text, spent.sent)).encode()
        return (data[: len(data) // 3], nothing) if fate == "cut" else (data, spent)
    stream = list(events(form, body, number, text, spent.sent))
    if fate in ("cut", "broken-stream"):
        stream = stream[: len(stream) // 2]
        if fate == "broken-stream":
            stream.append(failure_event(form, "simulated failure"))
        spent = _first_only(spent) if form == "anthropic" else nothing
    return b"".join(stream), spent


def _first_only(spent: Spent) -> Spent:
    """Of a stream of Anthropic's that broke off: the prompt's counts came first, the output's never."""
    if spent.sent is None:
        return spent
    sent = {key: value for key, value in spent.sent.items() if not key.startswith("output")}
    told = spent.told.model_copy(update={"completion": None, "reasoning": None})
    return Spent(told, spent.written, sent, spent.kinds)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:  # the name BaseHTTPRequestHandler looks for
        assert isinstance(self.server, _Server)  # no other makes this handler
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path in PATHS:
            self._send(*self.server.provider.respond(PATHS[self.path], body))
        elif self.path == "/apply-template":
            self._send(200, json.dumps({"prompt": template(body)}).encode())
        elif self.path == "/tokenize":
            self._send(200, json.dumps({"tokens": [0] * len(tokens(body["content"]))}).encode())
        else:
            self._send(404, b"{}")

    def _send(self, status: int, data: bytes, stream: bool = False, cut: bool = False) -> None:
        """A stream ends with its connection, as over HTTP/1.0; a body that is cut is shorter than announced."""
        self.send_response(status)
        self.send_header("Content-Type", "text/event-stream" if stream else "application/json")
        if stream:
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", str(len(data) * (2 if cut else 1)))
        self.close_connection = stream or cut
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a benchmark's server has no terminal of its own."""
