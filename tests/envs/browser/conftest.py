"""A small site on loopback and a browser environment over it. Skips where this machine has no browser."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from rebind.envs.browser.engine import missing
from rebind.envs.browser.env import BrowserEnv, BrowserTask
from rebind.envs.browser.session import Session
from rebind.types import Call, Seal, ToolCall, Verdict

SEAL = Seal(canary="c", env="test", task_key="t", family="test")


class Site:
    """Pages by path, on a port of their own; a path of `None` content never answers."""

    def __init__(self, pages: dict[str, str | None]) -> None:
        self.pages = pages
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = self.path.split("?")[0]
                if path not in site.pages:
                    self.send_error(404)
                    return
                content = site.pages[path]
                if content is None:
                    time.sleep(60)
                    return
                self.send_response(200)
                kind = "application/octet-stream" if path.endswith(".bin") else "text/html; charset=utf-8"
                self.send_header("Content-Type", kind)
                self.end_headers()
                self.wfile.write(content.encode())

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.origin = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class PageTask:
    """Starts at a page and asks nothing of it."""

    goal = "look around"

    def __init__(self, origin: str, path: str, uploads: Mapping[str, Path]) -> None:
        self.url, self.origins, self.uploads = origin + path, (origin,), uploads

    async def setup(self, session: Session) -> None: ...

    async def done(self, session: Session) -> bool:
        return False

    async def validate(self, session: Session, calls: tuple[Call, ...]) -> Verdict:
        return Verdict(success=bool(calls))

    def teardown(self) -> None: ...


class PageEnv(BrowserEnv):
    """A browser environment over one page."""

    def __init__(self, task: Callable[[], BrowserTask], part: int = 8_000) -> None:
        super().__init__(part)
        self._make = task

    def prepare(self, seal: Seal) -> BrowserTask:
        return self._make()

    def draw(self, seed: int) -> tuple[Seal, str]:
        return SEAL, PageTask.goal

    def begin(self) -> str:
        return self.reset(options={"seal": SEAL})[0]

    def act(self, tool: str, **args: Any) -> str:
        """What is seen after an action that has to succeed."""
        seen, _, _, _, info = self.step(ToolCall(tool=tool, args=args))
        assert info["error"] is None, info["error"]
        return seen

    def refused(self, tool: str, **args: Any) -> str:
        """What an action that has to fail is answered."""
        info = self.step(ToolCall(tool=tool, args=args))[4]
        assert info["error"] is not None
        return str(info["error"])

    def stored(self, tool: str, **args: Any) -> dict[str, Any]:
        """The arguments of an action as a record keeps them."""
        call: Call = self.step(ToolCall(tool=tool, args=args))[4]["calls"][0]
        assert call.ok, call.result
        return dict(call.args)


Opened = Callable[..., PageEnv]


@pytest.fixture
def opened() -> Iterator[Opened]:
    """Opens an environment on pages given by path; the first one is where it starts."""
    why = missing()
    if why:
        pytest.skip(f"needs a browser: {why}")
    sites: list[Site] = []
    envs: list[PageEnv] = []

    def open_(
        pages: dict[str, str | None] | str, uploads: Mapping[str, Path] | None = None, part: int = 8_000
    ) -> PageEnv:
        known = {"/": pages} if isinstance(pages, str) else pages
        site = Site(known)
        sites.append(site)
        env = PageEnv(lambda: PageTask(site.origin, next(iter(known)), uploads or {}), part)
        env.site = site  # type: ignore[attr-defined]  # for tests that stop it
        envs.append(env)
        return env

    yield open_
    for env in envs:
        env.close()
    for site in sites:
        site.stop()
