"""Servers of one's own are asked over kept connections; every answer is whole and in time, or an error that says so."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from rebind.agents import connection
from rebind.agents.connection import Unanswered, encoded, post, reaches
from rebind.agents.tap import Exchange

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
Serve = Callable[[socket.socket], object]


@contextmanager
def server(*turns: Serve) -> Iterator[tuple[str, list[bytes]]]:
    """A server that takes one connection for each of `turns` and lets it do as it likes; its address, and what it was
    sent first on each."""
    listening, asked = socket.create_server(("127.0.0.1", 0)), list[bytes]()

    def work() -> None:
        for turn in turns:
            held, _ = listening.accept()
            with held, suppress(OSError):
                asked.append(held.recv(65536))
                turn(held)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1", asked
    finally:
        thread.join(5)
        listening.close()


def says(*parts: bytes, every: float = 0.0) -> Serve:
    def turn(held: socket.socket) -> None:
        for part in parts:
            held.sendall(part)
            time.sleep(every)

    return turn


def ask(base: str, seconds: float = 5.0, key: str | None = None) -> Exchange:
    return post(base, "/chat/completions", b"{}", key, seconds)


def test_a_request_says_where_it_goes_how_long_it_is_and_who_asks() -> None:
    with server(says(OK)) as (base, asked):
        assert bytes(ask(base, key="k-1").body) == b"{}"
    head, _, body = asked[0].partition(b"\r\n\r\n")
    assert head.splitlines()[0] == b"POST /v1/chat/completions HTTP/1.1"
    assert {b"Content-Length: 2", b"Authorization: Bearer k-1"} <= set(head.splitlines())
    assert body == b"{}"


def test_a_connection_is_used_again() -> None:
    def twice(held: socket.socket) -> None:
        held.sendall(OK)
        held.recv(65536)
        held.sendall(OK.replace(b"{}", b"[]"))

    with server(twice) as (base, asked):
        assert [bytes(ask(base).body) for _ in range(2)] == [b"{}", b"[]"]
        assert len(asked) == 1


def test_one_that_the_server_has_closed_is_replaced_without_an_error() -> None:
    with server(says(OK), says(OK)) as (base, asked):
        ask(base)
        time.sleep(0.1)
        ask(base)
    assert len(asked) == 2


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\n{}",
        b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n" + OK,
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
    ],
    ids=["chunked", "ends with the connection", "after an interim one", "closing"],
)
def test_a_body_is_read_however_its_end_is_told(answer: bytes) -> None:
    with server(says(answer)) as (base, _):
        got = ask(base)
    assert (got.status, bytes(got.body)) == (200, b"{}")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"", "without response"),
        (OK[:-1], "before the response was whole"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{", "before the response was whole"),
        (b"SSH-2.0-server\r\n", "no HTTP"),
    ],
    ids=["nothing", "cut", "cut chunk", "another protocol"],
)
def test_what_is_no_whole_response_is_named(answer: bytes, said: str) -> None:
    heard: list[Exchange] = []
    with server(says(answer)) as (base, _), pytest.raises(Unanswered, match=said):
        post(base, "", b"{}", None, 5.0, heard.append)
    assert [one.status for one in heard] == ([200] if answer.startswith(b"HTTP") else [])


@pytest.mark.parametrize("answer", [OK[:20], OK[:-1]], ids=["in its head", "in its body"])
def test_a_server_that_sends_a_byte_now_and_then_does_not_gain_time(answer: bytes) -> None:
    drip = [answer[n : n + 1] for n in range(len(answer))]
    with server(says(*drip, every=0.05)) as (base, _):
        began = time.monotonic()
        with pytest.raises(TimeoutError, match=r"no answer within 0\.4 s"):
            ask(base, seconds=0.4)
        assert time.monotonic() - began < 2


def test_no_server_is_an_error_that_says_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(Unanswered, match="refused"):
        ask(f"http://127.0.0.1:{port}")


def test_a_key_that_no_header_can_carry_is_refused_and_not_shown() -> None:
    with pytest.raises(Unanswered, match="key or the address") as error:
        ask("http://127.0.0.1:9", key="se\r\ncret")
    assert "se" not in str(error.value).split()


def test_a_server_behind_a_proxy_is_left_to_clients_that_know_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy:3128")
    monkeypatch.setenv("no_proxy", "near.example")
    connection.reaches.cache_clear()
    found = {base: reaches(base) for base in ("http://far:1", "http://near.example:1", "http://127.0.0.1:1", "ftp://a")}
    connection.reaches.cache_clear()
    assert list(found.values()) == [False, True, True, False]


def test_lone_surrogates_are_sent_as_escapes() -> None:
    assert encoded({"a": "\ud800"}) == b'{"a": "\\ud800"}'
