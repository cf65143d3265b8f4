"""HTTP requests on kept connections, each within a deadline. For servers of one's own: a socket and llhttp's parser
take a tenth of the processor time of clients that know proxies, redirects and compression."""

from __future__ import annotations

import json
import select
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

import msgspec

from rebind.agents.tap import Exchange

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_PORTS = {"http": 80, "https": 443}
_CHUNK = 65_536
_HEADS = 64
"""Servers and keys whose requests' first lines are remembered."""
_FINAL = 200
"""Statuses below are interim (RFC 9110, 15.2)."""
Hear = Callable[[Exchange], None]


class Unanswered(Exception):
    """A connection that failed before its response was whole, in words."""


@cache
def reaches(base: str) -> bool:
    """Whether a server can be asked so: over HTTP, with no proxy of the environment's between."""
    parts = urlsplit(base)
    host = parts.hostname or ""
    if parts.scheme not in _PORTS or not host:
        return False
    proxies = getproxies()
    return host in _LOOPBACK or not (parts.scheme in proxies or "all" in proxies) or bool(proxy_bypass(host))


def post(base: str, path: str, body: bytes, key: str | None, seconds: float, hear: Hear = lambda _: None) -> Exchange:
    """Posts JSON to a path below a server's address, with a key as the bearer of it. `hear` is told of the response as
    soon as its head is there.

    Raises:
        TimeoutError: it was not whole within `seconds`. Unanswered: there was no connection, or it ended too early.
    """
    request = b"%bContent-Length: %d\r\n\r\n%b" % (_head(base, path, key), len(body), body)
    try:
        return _exchanged(base, request, time.monotonic() + seconds, hear)
    except TimeoutError:  # an OSError, too
        raise TimeoutError(f"no answer within {seconds:g} s") from None
    except OSError as error:
        raise Unanswered(str(error)) from error


def _exchanged(base: str, request: bytes, until: float, hear: Hear) -> Exchange:
    """The response to a request. Its connection is kept where the server lets it, and closed where anything fails."""
    idle = _idle(base)
    held = _kept(idle) or _opened(urlsplit(base), until)
    answer = _Answer(hear)
    try:
        held.settimeout(_left(until))
        held.sendall(request)
        while not answer.whole:
            held.settimeout(_left(until))  # a timeout alone would begin anew with each byte
            answer.take(held.recv(_CHUNK))
    except BaseException:
        held.close()
        raise
    if answer.keep:
        idle.append(held)
    else:
        held.close()
    return answer.exchange


def encoded(body: Mapping[str, Any]) -> bytes:
    """JSON, with lone surrogates escaped."""
    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError:
        return json.dumps(body).encode()


class _Answer:
    """One response as it comes in; what llhttp calls back."""

    def __init__(self, hear: Hear) -> None:
        from httptools import HttpResponseParser

        self.whole = self.keep = False
        self.exchange = Exchange(0, {})
        self._hear = hear
        self._headers: dict[str, str] = {}
        self._parser = HttpResponseParser(self)

    def take(self, data: bytes) -> None:
        """The next bytes; none where the server closed the connection. Raises Unanswered."""
        from httptools import HttpParserError

        if not data:
            self._end()
            return
        try:
            self._parser.feed_data(data)
        except HttpParserError as error:
            raise Unanswered(f"the response is no HTTP: {error}") from error

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status >= _FINAL:
            self.exchange = Exchange(status, self._headers)
            self._hear(self.exchange)
        self._headers = {}

    def on_body(self, data: bytes) -> None:
        self.exchange.body += data

    def on_message_complete(self) -> None:
        self.whole, self.keep = bool(self.exchange.status), self._parser.should_keep_alive()

    def _end(self) -> None:
        """A body without a length ends with the connection."""
        if not self.exchange.status:
            raise Unanswered("peer closed connection without response")
        if self.exchange.headers.keys() & {"content-length", "transfer-encoding"}:
            raise Unanswered("peer closed connection before the response was whole")
        self.whole = True


@lru_cache(_HEADS)
def _head(base: str, path: str, key: str | None) -> bytes:
    """The lines of a request but its length."""
    parts = urlsplit(base)
    lines = [
        f"POST {parts.path.rstrip('/')}{path}{'?' if parts.query else ''}{parts.query} HTTP/1.1",
        f"Host: {parts.netloc.rpartition('@')[2]}",
        "Content-Type: application/json",
        "Accept: application/json",
        *([f"Authorization: Bearer {key}"] if key else []),
    ]
    if not all(line.isascii() and line.isprintable() for line in lines):
        raise Unanswered("the key or the address holds a character that no request can carry")
    return "\r\n".join([*lines, ""]).encode()


@cache
def _idle(base: str) -> list[socket.socket]:
    """Connections to a server that nobody uses. (`pop` and `append` of a list are one act each.)"""
    return []


def _kept(idle: list[socket.socket]) -> socket.socket | None:
    """A connection that is still open."""
    while idle:
        try:
            held = idle.pop()
        except IndexError:  # another thread was quicker
            break
        if not _readable(held):
            return held
        held.close()  # nothing was asked: what can be read is its end
    return None


def _readable(held: socket.socket) -> bool:
    ready = select.poll()
    ready.register(held, select.POLLIN)
    return bool(ready.poll(0))


def _opened(parts: SplitResult, until: float) -> socket.socket:
    assert parts.hostname is not None  # see `reaches`
    held = socket.create_connection((parts.hostname, parts.port or _PORTS[parts.scheme]), _left(until))
    held.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if parts.scheme == "http":
        return held
    try:
        held.settimeout(_left(until))
        return _certificates().wrap_socket(held, server_hostname=parts.hostname)
    except BaseException:
        held.close()
        raise


@cache
def _certificates() -> ssl.SSLContext:
    """Read once: it takes tens of milliseconds."""
    import httpx

    return httpx.create_ssl_context()


def _left(until: float) -> float:
    """Seconds up to a moment. Raises TimeoutError where it has passed."""
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
