"""A simulated model, for testing the harness: a real HTTP server on loopback that speaks OpenAI's wire format and
answers from a script. Its name begins with `simulated/`, so nothing it did can pass for a model's work.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from pydantic import Field

from rebind.agents.endpoint import Endpoint
from rebind.agents.faults import Fault, deliver, send
from rebind.agents.parse import parse
from rebind.canon import digest
from rebind.types import Completion, Frozen, ToolCall

PREFIX = "simulated/"
TASK_MARK = "Task: "
"""How the actor's prompt states a task; the last message that begins so is the one to solve."""

_POLL = 0.02
"""Seconds within which `close` is noticed."""
_TOKEN = re.compile(r"\w+|[^\w\s]")


class Stale(Frozen):
    """A value copied from support: where the support holds `source`, answers say it instead of `target`."""

    target: str
    source: str


class Script(Frozen):
    """What a simulated model says. Two models with equal scripts answer alike."""

    answers: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Goal to answers; the k-th is given where k assistant turns stand after the last task statement, the last one
    from then on."""
    otherwise: tuple[tuple[str, str], ...] = ()
    """For prompts that state no known task: (text that the prompt holds, answer); the first that fits. An empty text
    fits all."""
    success: tuple[tuple[str, float], ...] = (("", 1.0),)
    """(text that what stands before the last task statement holds, probability of success); the first that fits. So the
    model can be made better under one condition than under another."""
    give_up: str = '{"tool":"give_up","args":{}}'
    """Said in an episode that is to fail, instead of the second half of its answers."""
    stale: dict[str, tuple[Stale, ...]] = Field(default_factory=dict)
    """By goal."""
    salt: str = ""
    """Decides, with goal and seed, which episodes fail."""


@dataclass(frozen=True)
class Weather:
    """What goes wrong between asker and model; no part of an answer's content."""

    faults: Mapping[int, Fault] = field(default_factory=dict)
    """By number of the completion request, from 0."""
    retry_after: float = 0.0
    """Seconds named in the Retry-After header of a 429."""
    always: tuple[int, Fault] | None = None
    """A fault that stays: from this request on, every one."""
    latency: float = 0.0
    """Seconds from a request's arrival to its answer, the model's own work included."""
    hang: float = 3600.0
    """Seconds that a "timeout" takes; ends early with the server."""
    drip: float = 0.02
    """Seconds between the twenty blanks before an answer that drips in."""
    down: float = 0.5
    """Seconds for which connections are refused after a "down"."""
    most: int | None = None
    """Requests served at once; one more gets a 429."""

    def fault(self, number: int) -> Fault | None:
        """What goes wrong with a request, by its number."""
        if self.always and number >= self.always[0]:
            return self.always[1]
        return self.faults.get(number)


class SimulatedModel:
    """The server: runs from `start`, or entering the context, until `close`."""

    def __init__(self, name: str, script: Script, weather: Weather | None = None, *, keep: bool = True) -> None:
        """`keep`: whether `requests` and `injected` are kept; a long run would fill the memory with them."""
        self.name = name if name.startswith(PREFIX) else PREFIX + name
        self.script = script
        self.weather = weather or Weather()
        self.requests: list[dict[str, Any]] = []
        """Bodies of all completion requests, faults included, in order of arrival."""
        self.injected: list[Fault | None] = []
        """What went wrong with each of them."""
        self.most_at_once = 0
        """Completion requests that were served at the same time, at most."""
        self._keep = keep
        self._arrived = self._under_way = 0
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._restarts = threading.Lock()
        self._server = _Server(self, 0)
        self._port = self._server.server_port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def endpoint(self) -> Endpoint:
        """For `LLM(endpoints={model.name: model.endpoint})`."""
        return Endpoint(
            model=f"openai/{self.name}",
            api_base=f"{self.url}/v1",
            api_key="none-needed",
            identity={"simulated": self.name, "script": digest(self.script.model_dump(mode="json"))},
            tokenizes=True,
        )

    def start(self) -> SimulatedModel:
        threading.Thread(target=self._server.serve_forever, args=(_POLL,), name=self.name, daemon=True).start()
        return self

    def close(self) -> None:
        self._closing.set()
        with self._restarts:
            self._stop()

    def __enter__(self) -> SimulatedModel:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def serving(self, body: dict[str, Any], arrived: float) -> Iterator[Fault | None]:
        """Notes a request that came at a monotonic time, waits out the latency, and says what is to go wrong with
        it."""
        with self._lock:
            number = self._arrived
            self._arrived += 1
            fault = self.weather.fault(number)
            if fault is None and self.weather.most is not None and self._under_way >= self.weather.most:
                fault = "429"
            if self._keep:
                self.requests.append(body)
                self.injected.append(fault)
            self._under_way += fault is None
            self.most_at_once = max(self.most_at_once, self._under_way)
        if fault == "down":
            self._outage()
        try:
            until = arrived + self.weather.latency + (self.weather.hang if fault == "timeout" else 0.0)
            if (left := until - time.monotonic()) > 0:
                self._closing.wait(left)
            yield fault
        finally:
            with self._lock:
                self._under_way -= fault is None

    def _outage(self) -> None:
        """Nobody listens from here on, for a while."""
        with self._restarts:
            self._stop()
        self._server.drop()
        threading.Thread(target=self._come_back, daemon=True).start()

    def _come_back(self) -> None:
        self._closing.wait(self.weather.down)
        with self._restarts:
            if not self._closing.is_set():
                self._server = _Server(self, self._port)
                self.start()

    def _stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def completion(self, body: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request, as OpenAI's chat completion object."""
        text = answer(self.script, body["messages"], body.get("seed"))
        prompt, completion = len(tokens(template(body))), len(tokens(text))
        return {
            "id": "chatcmpl-" + digest({"messages": body["messages"], "seed": body.get("seed")})[:24],
            "object": "chat.completion",
            "created": int(time.time()),
            "model": self.name,
            "choices": [{"index": 0, **_choice(text, native=bool(body.get("tools")))}],
            "usage": {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion},
        }


def answer(script: Script, messages: list[dict[str, Any]], seed: int | None) -> str:
    """What a script says to a prompt."""
    starts = [i for i, m in enumerate(messages) if m["role"] == "user" and _text(m).startswith(TASK_MARK)]
    goal = _goal(script, _text(messages[starts[-1]]).removeprefix(TASK_MARK)) if starts else None
    if goal is None:
        whole = "\n".join(map(_text, messages))
        return next((reply for cue, reply in script.otherwise if cue in whole), script.give_up)
    before = "\n".join(_text(m) for m in messages[: starts[-1]])
    turn = sum(m["role"] == "assistant" for m in messages[starts[-1] :])
    answers = script.answers[goal]
    chance = next((p for cue, p in script.success if cue in before), 1.0)
    if _draw(goal, seed, script.salt) >= chance and turn >= math.ceil(len(answers) / 2):
        return script.give_up
    text: str = answers[min(turn, len(answers) - 1)]
    for stale in script.stale.get(goal, ()):
        if stale.source in before:
            text = text.replace(stale.target, stale.source)
    return text


def _choice(text: str, *, native: bool) -> dict[str, Any]:
    """An answer's message and finish reason; where tools were offered, a call in JSON becomes a native one."""
    parsed = parse(Completion(text=text), "json") if native else None
    if parsed and isinstance(parsed.action, ToolCall):
        function = {"name": parsed.action.tool, "arguments": json.dumps(parsed.action.args)}
        calls = [{"id": "call_" + digest(function)[:24], "type": "function", "function": function}]
        message: dict[str, Any] = {"role": "assistant", "content": parsed.thought or None, "tool_calls": calls}
        return {"message": message, "finish_reason": "tool_calls"}
    return {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}


def template(body: dict[str, Any]) -> str:
    """A prompt as the simulated model reads it: ChatML, tools first."""
    tools = "".join(f"<|tool|>{json.dumps(t, sort_keys=True)}\n" for t in body.get("tools") or ())
    turns = "".join(f"<|{m['role']}|>{_text(m)}\n" for m in body["messages"])
    return f"{tools}{turns}<|assistant|>"


def tokens(text: str) -> list[str]:
    """Words and signs: the simulated model's tokenizer."""
    return _TOKEN.findall(text)


def _text(message: Mapping[str, Any]) -> str:
    """A message's content with its tool calls."""
    calls = message.get("tool_calls")
    return str(message.get("content") or "") + (json.dumps(calls, sort_keys=True) if calls else "")


def _goal(script: Script, statement: str) -> str | None:
    """The scripted goal that a task statement begins with; the longest where several do."""
    return max((g for g in script.answers if statement.startswith(g)), key=len, default=None)


def _draw(goal: str, seed: int | None, salt: str) -> float:
    """A number in [0, 1) that depends on nothing but its arguments."""
    return int.from_bytes(hashlib.sha256(f"{salt}\0{seed}\0{goal}".encode()).digest()[:8]) / 2**64


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, model: SimulatedModel, port: int) -> None:
        self.model = model
        self._connections: set[socket.socket] = set()
        super().__init__(("127.0.0.1", port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def drop(self) -> None:
        """Ends all connections."""
        for connection in list(self._connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that the asker ended is no error; others are shown."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # header and body go out as two writes, the second of which would wait 40 ms

    @property
    def _model(self) -> SimulatedModel:
        assert isinstance(self.server, _Server)  # no other makes this handler
        return self.server.model

    def do_POST(self) -> None:  # the name BaseHTTPRequestHandler looks for
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        match self.path:
            case "/v1/chat/completions":
                self._complete(body)
            case "/apply-template":
                self._send(200, {"prompt": template(body)})
            case "/tokenize":
                self._send(200, {"tokens": list(range(len(tokens(body["content"]))))})
            case _:
                self._send(404, {"error": {"message": f"no such path: {self.path}", "type": "invalid_request_error"}})

    def _complete(self, body: dict[str, Any]) -> None:
        model, weather = self._model, self._model.weather
        arrived = time.monotonic()
        whole = model.completion(body)
        with model.serving(body, arrived) as fault:
            deliver(self, whole, fault, weather.retry_after, weather.drip)

    def _send(self, status: int, value: Any) -> None:
        send(self, json.dumps(value).encode(), status)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a server in a test or a benchmark has no terminal of its own."""
