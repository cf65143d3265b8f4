"""What a browser sends, taken down as HAR: a real Chromium against a server on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Coroutine, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from rebind.envs.browser.engine import engine, missing
from rebind.envs.browser.recording import Recording
from rebind.envs.browser.session import Session

Entries = list[dict[str, Any]]
Recorded = Callable[[Callable[[Session], Coroutine[Any, Any, None]]], Entries]

_PAGE = b"""<!doctype html><form method="post" action="/kept" enctype="multipart/form-data">
<input name="title" value="a &amp; b"><input type="file" name="picture"></form>"""


class Handler(BaseHTTPRequestHandler):
    """A page with a form; what is posted is answered by JSON, or leads back with two cookies."""

    def do_GET(self) -> None:
        self._say(200, _PAGE, ("Content-Type", "text/html"))

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        self.rfile.read(length)
        if self.path == "/kept":
            cookies = (("Set-Cookie", "said=it%20is%20kept; Path=/"), ("Set-Cookie", "second=2"))
            self._say(302, b"", ("Location", "/"), *cookies)
        elif self.path == "/never":
            threading.Event().wait(20)
        else:
            self._say(200, json.dumps({"bytes": length}).encode(), ("Content-Type", "application/json"))

    def _say(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in (*headers, ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None: ...


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    why = missing()
    if why:
        pytest.skip(f"needs a browser: {why}")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def recorded(origin: str) -> Recorded:
    """Opens the page, does what it is given, and returns the requests that this made after the page's own."""

    async def record(does: Callable[[Session], Coroutine[Any, Any, None]]) -> Entries:
        session = await Session.open(await engine().browser(), [origin])
        try:
            recording = Recording(session.context)
            await session.page.goto(origin)
            await does(session)
            entries: Entries = (await recording.har())["log"]["entries"]
            return [one for one in entries if not one["request"]["url"].endswith("/favicon.ico")]
        finally:
            await session.close()

    return lambda does: engine().run(record(does), 60.0, "recording")


def script(expression: str) -> Callable[[Session], Coroutine[Any, Any, None]]:
    async def does(session: Session) -> None:
        await session.page.evaluate(expression)

    return does


async def submit(session: Session) -> None:
    async with session.page.expect_navigation():
        await session.page.evaluate("document.forms[0].submit()")


def test_a_page_has_the_headers_of_a_navigation(recorded: Recorded, origin: str) -> None:
    """The first entry is the page itself, with the headers by which a navigation of a person's is known."""
    page = recorded(script("1"))[0]
    headers = {one["name"].lower(): one["value"] for one in page["request"]["headers"]}
    assert (page["request"]["method"], page["request"]["url"]) == ("GET", f"{origin}/")
    assert headers["sec-fetch-mode"] == "navigate"
    assert headers["accept"].startswith("text/html")
    assert page["response"]["status"] == 200


def test_long_bodies_are_whole(recorded: Recorded) -> None:
    """A POST of three megabytes is in the recording byte for byte, with the answer's JSON."""
    text = json.dumps({"text": "x" * 3_000_000})
    post = recorded(script(f"fetch('/j', {{method: 'POST', body: {json.dumps(text)}}}).then(r => r.text())"))[1]
    assert post["request"]["postData"]["text"] == text
    assert json.loads(post["response"]["content"]["text"]) == {"bytes": len(text)}


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        ("new URLSearchParams([['a', 'b c'], ['a', '']])", "application/x-www-form-urlencoded", "a=b+c&a="),
        ("new Blob(['{\"of\": \"a blob\"}'], {type: 'application/json'})", "application/json", '{"of": "a blob"}'),
    ],
)
def test_bodies_by_kind(recorded: Recorded, body: str, kind: str, text: str) -> None:
    """Fields and blobs are told as they were sent, with their kind."""
    posted = recorded(script(f"fetch('/j', {{method: 'POST', body: {body}}}).then(r => r.text())"))[1]["request"]
    assert posted["postData"]["text"] == text
    assert posted["postData"]["mimeType"].startswith(kind)
    if "url" in kind:
        assert posted["postData"]["params"] == [{"name": "a", "value": "b c"}, {"name": "a", "value": ""}]


def test_a_form_of_parts_leads_on_with_cookies(recorded: Recorded, origin: str) -> None:
    """A form of parts has its fields, its answer's status, address and cookies; the page it leads to comes next."""
    post, page = recorded(submit)[1:]
    assert 'name="title"\r\n\r\na & b\r\n' in post["request"]["postData"]["text"]
    assert (post["response"]["status"], post["response"]["redirectURL"]) == (302, "/")
    assert post["response"]["cookies"] == [
        {"name": "said", "value": "it%20is%20kept"},
        {"name": "second", "value": "2"},
    ]
    assert page["request"]["url"] == f"{origin}/"
    assert {"name": "second", "value": "2"} in page["request"]["cookies"]


def test_a_body_that_nobody_tells_is_said_to_be_missing(recorded: Recorded) -> None:
    """Chromium does not tell the body of a form with a chosen file: the entry says so, instead of showing none."""

    async def does(session: Session) -> None:
        picture = {"name": "a.png", "mimeType": "image/png", "buffer": b"dots"}
        await session.page.set_input_files("[name=picture]", [picture])  # type: ignore[list-item]
        await submit(session)

    data = recorded(does)[1]["request"]["postData"]
    assert data["mimeType"].startswith("multipart/form-data")
    assert (data["text"], data["comment"]) == ("", "the browser does not tell it")


def test_what_is_not_answered_has_no_status(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that failed, and one whose answer is still to come, have status -1 and say which."""
    monkeypatch.setattr("rebind.envs.browser.recording._READ_SECONDS", 0.5)
    ask = "(u => void fetch(u, {method: 'POST', mode: 'no-cors', body: 'a'}).catch(() => 0))"
    failed, waiting = recorded(script(f"{ask}('http://elsewhere.example/x'), {ask}('/never'), 1"))[1:]
    assert (failed["response"]["status"], failed["comment"]) == (-1, "net::ERR_PROXY_CONNECTION_FAILED")
    assert (waiting["response"]["status"], waiting["comment"]) == (-1, "no answer yet")
    assert waiting["request"]["postData"]["text"] == "a"
