"""What came over the wire, below every client library. litellm fills in a missing usage, estimates one for streams, and
may ask twice; the bytes do none of that."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import httpx

Payload = Mapping[str, Any]

_listener: ContextVar[list[Exchange] | None] = ContextVar("listener", default=None)


@dataclass
class Exchange:
    """One HTTP response, as far as it came. Redirects are exchanges of their own."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytearray = field(default_factory=bytearray)
    _read: tuple[int, list[Payload]] | None = None
    """Payloads, of so many bytes."""

    @property
    def redirects(self) -> bool:
        return 300 <= self.status < 400

    @property
    def streamed(self) -> bool:
        """Server-sent events."""
        return str(self.headers.get("content-type", "")).startswith("text/event-stream")

    def payloads(self) -> list[Payload]:
        """The JSON objects of the body: the one it is, or those of its events or lines. What is no JSON is left out."""
        if self._read is None or self._read[0] != len(self.body):
            self._read = len(self.body), self._payloads()
        return self._read[1]

    def _payloads(self) -> list[Payload]:
        text = self.text
        if not self.streamed:
            return [whole] if (whole := _object(text)) is not None else _objects(text.splitlines())
        return _objects(line.removeprefix("data:") for line in text.splitlines() if line.startswith("data:"))

    @property
    def text(self) -> str:
        """The body as text; empty where it was compressed and cut."""
        if "content-encoding" not in self.headers:  # as most are: quicker
            return self.body.decode("utf-8", "replace")
        try:
            return httpx.Response(self.status, headers=self.headers, content=bytes(self.body)).text
        except httpx.DecodingError:
            return ""


@contextmanager
def listening(heard: list[Exchange]) -> Iterator[None]:
    """Within the context, and in its thread, every response of litellm's clients is added to `heard` while it comes."""
    token = _listener.set(heard)
    try:
        yield
    finally:
        _listener.reset(token)


def hear(exchange: Exchange) -> None:
    """Hands a response to whoever listens in this thread."""
    if (heard := _listener.get()) is not None:
        heard.append(exchange)


def install(litellm: Any) -> None:
    """Puts the tap below both kinds of HTTP client that litellm makes."""
    tap = _Tap()
    litellm.client_session = httpx.Client(transport=tap, timeout=None, follow_redirects=True)
    litellm.sync_transport = tap


class _Tap(httpx.BaseTransport):
    """Passes requests on to a client that knows proxies and certificates, and keeps what comes back."""

    def __init__(self) -> None:
        self._client = httpx.Client(timeout=None, limits=httpx.Limits(max_connections=None))

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = self._client.send(request, stream=True)
        assert isinstance(response.stream, httpx.SyncByteStream)  # of a client that is not async
        status, headers, stream = response.status_code, response.headers, response.stream
        hear(exchange := Exchange(status, headers))
        stream = _Tee(stream, exchange.body)
        if status == 200 and request.url.path.endswith("/messages") and not exchange.streamed:
            return _readable(exchange, stream)
        return httpx.Response(status, headers=headers, stream=stream, extensions=response.extensions)

    def close(self) -> None:
        """Nothing: litellm closes clients that it drops from a cache, and they share this."""


def _readable(exchange: Exchange, stream: httpx.SyncByteStream) -> httpx.Response:
    """A message of Anthropic's as litellm can read it: without a usage object it fails, and the answer would be lost.
    It gets an empty one; counts come from the exchange alone."""
    try:
        body = b"".join(stream)
    finally:
        stream.close()
    found = exchange.payloads()
    if len(found) == 1 and not isinstance(found[0].get("usage"), dict):
        return httpx.Response(exchange.status, json={**found[0], "usage": {}})
    return httpx.Response(exchange.status, headers=exchange.headers, content=body)


class _Tee(httpx.SyncByteStream):
    def __init__(self, stream: httpx.SyncByteStream, copy: bytearray) -> None:
        self._stream, self._copy = stream, copy

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._stream:
            self._copy += chunk
            yield chunk

    def close(self) -> None:
        self._stream.close()


def _objects(lines: Any) -> list[Payload]:
    return [found for line in lines if (found := _object(line)) is not None]


def _object(text: str) -> Payload | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
