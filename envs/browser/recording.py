"""What a browser context sends and is answered, as HAR 1.2 (the W3C draft's "HTTP Archive").

Request bodies are taken down in full. Those made of a Blob Playwright does not tell, so they are asked of Chromium's
protocol (Network.getRequestPostData). A form submitted with a chosen file has a body that neither tells: its entry says
so in a comment.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Coroutine
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, Page, Request, Response

T = TypeVar("T")
Pairs = list[dict[str, str]]
"""HAR's lists of `name` and `value`."""

_READ_SECONDS = 5.0
_LARGEST = 1 << 20
"""Longer answers are left out; their size is not."""
_FORM = "application/x-www-form-urlencoded"
_READABLE = ("application/json", _FORM)
_PENDING = "no answer yet"
UNTOLD = "the browser does not tell it"
"""Comment of a body that is not in the recording though the request had one."""
_NONE: dict[str, Any] = {
    "status": -1,  # as Playwright's own HAR has it
    "statusText": "",
    "httpVersion": "HTTP/1.1",
    "cookies": [],
    "headers": [],
    "content": {"size": -1, "mimeType": ""},
    "redirectURL": "",
    "headersSize": -1,
    "bodySize": -1,
}
"""The answer of a request that failed, or that nobody has answered yet."""


class Recording:
    """Takes down every request of a context from the moment it is made. Lives in the browser's thread.

    What it holds includes cookies: who reads it may act as whoever was logged in."""

    def __init__(self, context: BrowserContext) -> None:
        self._seen: list[Request] = []
        self._entries: dict[Request, dict[str, Any]] = {}
        self._bodies: dict[tuple[str, str], asyncio.Queue[str | None]] = defaultdict(asyncio.Queue)
        """Bodies that Playwright does not tell, by method and address, in the order sent; None where nobody does."""
        self._told: dict[Request, asyncio.Future[dict[str, Any]]] = {}
        """What is known of each request itself, which a body in `_bodies` can be taken for only once."""
        self._reading: set[asyncio.Task[None]] = set()
        self._context = context
        context.on("request", self._sent)
        context.on("requestfinished", lambda request: self._at_once(self._read(request)))
        context.on("requestfailed", lambda request: self._at_once(self._read(request)))
        context.on("page", lambda page: self._at_once(self._listen(page)))
        for page in context.pages:
            self._at_once(self._listen(page))

    async def har(self) -> dict[str, Any]:
        """The archive so far: `{"log": {"entries": [...]}}`, entries in the order in which requests were sent. Waits
        some seconds for answers under way."""
        while self._reading:
            await asyncio.wait(self._reading)
        late = [r for r in self._seen if r not in self._entries or self._entries[r]["comment"] == _PENDING]
        await asyncio.gather(*map(self._read, late))
        creator = {"name": "rebind", "version": "1"}
        entries = [self._entries[request] for request in self._seen if request in self._entries]
        return {"log": {"version": "1.2", "creator": creator, "pages": [], "entries": entries}}

    def _sent(self, request: Request) -> None:
        self._seen.append(request)

    def _at_once(self, work: Coroutine[Any, Any, None]) -> None:
        """Reads what the browser may soon forget."""
        task = asyncio.ensure_future(work)
        self._reading.add(task)
        task.add_done_callback(self._reading.discard)

    async def _read(self, request: Request) -> None:
        self._entries[request] = await self._entry(request)

    async def _listen(self, page: Page) -> None:
        with suppress(Exception):  # the page may have closed already
            session = await self._context.new_cdp_session(page)
            session.on("Network.requestWillBeSent", lambda sent: self._at_once(self._ask_body(session, sent)))
            await session.send("Network.enable")

    async def _ask_body(self, session: CDPSession, sent: dict[str, Any]) -> None:
        request = sent["request"]
        if request["method"] == "GET" or request.get("postData"):
            return
        body: str | None = None if request.get("hasPostData") else ""
        with suppress(Exception):  # a form with a file has none to give
            if body is None:
                body = (await session.send("Network.getRequestPostData", {"requestId": sent["requestId"]}))["postData"]
        self._bodies[request["method"], request["url"]].put_nowait(body)

    async def _entry(self, request: Request) -> dict[str, Any]:
        response = None if request.failure else await _soon(request.response(), None)
        if request not in self._told:
            self._told[request] = asyncio.ensure_future(self._request(request))
        timing = request.timing
        return {
            "startedDateTime": datetime.fromtimestamp(max(0.0, timing["startTime"]) / 1000, UTC).isoformat(),
            "time": max(0.0, timing["responseEnd"]),
            "request": await self._told[request],
            "response": dict(_NONE) if response is None else await _response(response),
            "cache": {},
            "timings": {"send": 0, "wait": max(0.0, timing["responseStart"]), "receive": 0},
            "comment": request.failure or ("" if response else _PENDING),
        }

    async def _request(self, request: Request) -> dict[str, Any]:
        headers = await _soon(request.headers_array(), _named(request.headers))
        found: dict[str, Any] = {
            "method": request.method,
            "url": request.url,
            "httpVersion": "HTTP/1.1",
            "cookies": _cookies("; ".join(_values(headers, "cookie")).split("; ")),
            "headers": headers,
            "queryString": _named(parse_qsl(urlsplit(request.url).query, keep_blank_values=True)),
            "headersSize": -1,
            "bodySize": 0,
        }
        kind = next(iter(_values(headers, "content-type")), "")
        buffer = request.post_data_buffer
        if buffer is None and (not kind or request.method == "GET"):
            return found
        if buffer is None:
            text = await _soon(self._bodies[request.method, request.url].get(), None)
        else:
            text = buffer.decode(errors="replace")
        if text is None:
            found["postData"] = {"mimeType": kind, "text": "", "params": [], "comment": UNTOLD}
        elif text:
            form = parse_qsl(text, keep_blank_values=True) if kind.startswith(_FORM) else ()
            found["bodySize"] = len(text.encode())
            found["postData"] = {"mimeType": kind, "text": text, "params": _named(form)}
        return found


async def _response(response: Response) -> dict[str, Any]:
    headers = await _soon(response.headers_array(), _named(response.headers))
    kind = next(iter(_values(headers, "content-type")), "")
    content: dict[str, Any] = {"size": -1, "mimeType": kind}
    if kind.startswith(_READABLE) and not 300 <= response.status < 400:
        body = await _soon(response.body(), None)
        if body is None:
            content["comment"] = "the browser had dropped it"
        else:
            content["size"] = len(body)
            if len(body) <= _LARGEST:
                content["text"] = body.decode(errors="replace")
    return {
        "status": response.status,
        "statusText": response.status_text,
        "httpVersion": "HTTP/1.1",
        "cookies": _cookies(one.split(";", 1)[0] for one in _values(headers, "set-cookie")),
        "headers": headers,
        "content": content,
        "redirectURL": next(iter(_values(headers, "location")), ""),
        "headersSize": -1,
        "bodySize": -1,
    }


async def _soon(work: Awaitable[T], otherwise: Any) -> T | Any:
    """What the browser says; `otherwise` where it no longer knows, its page having closed, or takes too long."""
    with suppress(Exception):
        return await asyncio.wait_for(work, _READ_SECONDS)
    return otherwise


def _named(pairs: Any) -> Pairs:
    items = pairs.items() if hasattr(pairs, "items") else pairs
    return [{"name": name, "value": value} for name, value in items]


def _values(headers: Any, name: str) -> list[str]:
    """The values of all headers of that name; several of one kind come on lines of one value in Chromium."""
    return [line for one in headers if one["name"].lower() == name for line in str(one["value"]).split("\n")]


def _cookies(pairs: Any) -> Pairs:
    split = [str(one).strip().partition("=") for one in pairs]
    return [{"name": name, "value": value} for name, joint, value in split if joint]
