"""One episode's tabs: a fresh browser context, what may be reached in it, what happens in it, and waiting for its end.

Everything here runs in the browser's thread (see `engine`).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Dialog, Download, Frame, Page, Request

PAGE_SCRIPT = files("rebind.envs.browser").joinpath("page.js").read_text(encoding="utf-8")
ACTION_MS = 2_500.0
"""How long one action may wait for its element."""
LOAD_MS = 15_000.0
_STILL_MS, _MOST_MS = 24, 3_000
"""A page is quiet after this long without a change or request; and is taken as it is after this long in any case."""
TRIES = 4
"""How often what a page changed underneath is tried."""
_UNANSWERED = (
    "ERR_CONNECTION",
    "ERR_EMPTY_RESPONSE",
    "ERR_TIMED_OUT",
    "ERR_INCOMPLETE_CHUNKED_ENCODING",
    "ERR_CONTENT_LENGTH_MISMATCH",
    "ERR_INVALID_HTTP_RESPONSE",
)
"""How a request fails where its server does, in Chromium's words."""
_NOWHERE = "http://127.0.0.1:9"
"""A proxy that refuses: where requests to other hosts go. Chromium itself never sends loopback to a proxy."""


class ActionFailed(Exception):
    """An action that could not be done, in words for the agent."""


class _Navigation:
    """A tab's way to another page; `request` is the last one sent for it, redirects making several."""

    def __init__(self, request: Request) -> None:
        self.request, self.over = request, asyncio.Event()


class Tabs:
    """A browser context and what the agent may reach in it.

    `crashed` says why the episode cannot go on: the page's process died, or the site does not answer."""

    def __init__(self, context: BrowserContext, origins: Sequence[str]) -> None:
        self.context = context
        self.active: Page | None = None
        self.notes: list[str] = []
        """What happened since the last observation, for the agent."""
        self.crashed: str | None = None
        self._origins = frozenset(map(_origin, origins))
        self._loading: dict[Page, _Navigation] = {}
        self._popups: Counter[Page] = Counter()
        """Tabs that each tab has opened."""
        context.on("page", self._opened)

    @classmethod
    async def open(cls, browser: Browser, origins: Sequence[str], state: Any = None) -> Self:
        """A fresh context that reaches `origins` and nothing else. `state` is Playwright's storage state."""
        hosts = ",".join(sorted({urlsplit(o).hostname or "" for o in origins} | {"127.0.0.1", "localhost"}))
        context = await browser.new_context(
            viewport={"width": 1280, "height": 800},
            locale="en-US",
            timezone_id="UTC",
            storage_state=state,
            proxy={"server": _NOWHERE, "bypass": hosts},
            service_workers="block",
            reduced_motion="reduce",
        )
        context.set_default_timeout(ACTION_MS)
        context.set_default_navigation_timeout(LOAD_MS)
        await context.add_init_script(PAGE_SCRIPT)
        session = cls(context, origins)
        browser.on("disconnected", session._lost)
        session.active = await context.new_page()
        return session

    def _lost(self, _: Any) -> None:
        self.crashed = "the browser died"

    async def close(self) -> None:
        if self.context.browser is not None:
            self.context.browser.remove_listener("disconnected", self._lost)
        with suppress(Exception):  # the browser may be gone already
            await self.context.close()

    # --- pages ------------------------------------------------------------------------------------------------------

    @property
    def pages(self) -> list[Page]:
        return self.context.pages

    @property
    def page(self) -> Page:
        """The active tab."""
        if self.crashed:
            raise ActionFailed(self.crashed)
        if self.active is None or self.active.is_closed():
            raise ActionFailed("no tab is open; open one with new_tab")
        return self.active

    def _opened(self, page: Page) -> None:
        page.on("dialog", self._dialog)
        page.on("download", self._download)
        page.on("crash", lambda _: setattr(self, "crashed", "the page crashed"))
        page.on("close", self._closed)
        page.on("request", lambda r: self._leaving(r, page))
        page.on("popup", lambda _: self._popups.update([page]))
        page.on("domcontentloaded", lambda _: self._arrived(page))
        page.on("requestfailed", lambda r: self._failed(r, page))
        if self.active is not None:
            self.notes.append("a new tab was opened and is the active one")
        self.active = page

    def _leaving(self, request: Request, page: Page) -> None:
        if _is_navigation(request, page):
            under_way = self._loading.setdefault(page, _Navigation(request))
            under_way.request = request

    def _arrived(self, page: Page) -> None:
        """What the tab was under way to is there, or will not come."""
        under_way = self._loading.pop(page, None)
        if under_way is not None:
            under_way.over.set()

    def _failed(self, request: Request, page: Page) -> None:
        """A page that could not be had, or what a page asked for. The sites' own not answering is a failure of
        infrastructure, not the agent's; what a download or a later click cut short is neither, nor is what a page's
        own rules forbid it."""
        why = str(request.failure or "")
        if _is_navigation(request, page):
            under_way = self._loading.get(page)
            if under_way is not None and under_way.request == request:  # else another one has taken its place
                self._arrived(page)
            unanswered = "ERR_ABORTED" not in why
        else:
            unanswered = any(sign in why for sign in _UNANSWERED)
        if unanswered and self.allows(request.url):
            self.gone(f"{request.url}: {why}")

    async def check_alive(self) -> None:
        """Asks the active tab for a sign of life: the news of a death may be on its way still, and what an episode is
        called would be a matter of chance.

        Raises:
            playwright.async_api.Error: it is dead.
        """
        page = self.active
        if page is None or page.is_closed():
            return
        try:
            await asyncio.wait_for(page.evaluate("1"), LOAD_MS / 1000)
        except TimeoutError:
            self.gone(f"{page.url}: a script of the page does not end")

    def gone(self, what: str) -> None:
        """Ends the episode: a page of the sites was not had."""
        self.crashed = self.crashed or f"the site does not answer: {what}"

    def _closed(self, page: Page) -> None:
        self._arrived(page)
        if self.active is page:
            self.active = next((p for p in reversed(self.pages) if not p.is_closed()), None)

    async def _dialog(self, dialog: Dialog) -> None:
        """Alerts, questions and warnings on leaving are accepted and reported; a question for text is dismissed."""
        with suppress(Exception):  # the page may have gone meanwhile
            if dialog.type == "prompt":
                self.notes.append(f"the page asked for text and was refused: {dialog.message!r}")
                await dialog.dismiss()
            else:
                self.notes.append(f"a dialog was accepted: {dialog.message!r}")
                await dialog.accept()

    async def _download(self, download: Download) -> None:
        self._arrived(download.page)
        self.notes.append(f"a download was refused: {download.suggested_filename}")
        with suppress(Exception):
            await download.cancel()

    # --- waiting ----------------------------------------------------------------------------------------------------

    async def settle(self) -> None:
        """Waits for navigation, requests and changes of the page to end; then turns back what left the sites."""
        for _ in range(TRIES):
            page = self.active
            if page is None or page.is_closed():
                return
            if page in self._loading and self.crashed is None:
                await self._loaded(page)
            if self.crashed:
                return
            if await self._quiet(page) and page not in self._loading and page is self.active:
                break
        await self._turn_back()

    async def _loaded(self, page: Page) -> None:
        """Waits for a page under way. One of the sites that does not come in time is a failure of infrastructure; one
        from elsewhere is stopped."""
        under_way = self._loading[page]
        try:
            await asyncio.wait_for(under_way.over.wait(), LOAD_MS / 1000)
        except TimeoutError:
            self._arrived(page)
            await self.overdue(page, under_way.request.url)

    async def overdue(self, page: Page, url: str) -> None:
        """What becomes of a page that has not come within `LOAD_MS`."""
        from playwright.async_api import Error

        if self.allows(url):
            self.gone(f"{url}: nothing whole within {LOAD_MS / 1000:g} s")
            return
        self.notes.append(f"navigation was refused: {url}")
        with suppress(Error):
            await page.evaluate("window.stop()")

    async def _quiet(self, page: Page) -> bool:
        """False where the document was replaced while it was waited for."""
        from playwright.async_api import Error

        look = self.script(page.main_frame, f"() => window.__rebind.quiet({_STILL_MS}, {_MOST_MS})")
        try:
            asked = await asyncio.wait_for(look, LOAD_MS / 1000)
        except TimeoutError:
            if page not in self._loading:
                self.gone(f"{page.url}: a script of the page does not end")
            return False
        except Error:
            with suppress(Error):
                await page.wait_for_load_state("domcontentloaded", timeout=LOAD_MS)
            return False
        if asked > self._popups[page]:
            with suppress(Error):  # a blocked popup does not come
                await self.context.wait_for_event("page", timeout=_MOST_MS)
        return True

    async def _turn_back(self) -> None:
        """Leaves every page that is not of the sites."""
        from playwright.async_api import Error

        for page in list(self.pages):
            if page.is_closed() or self.allows(page.url):
                continue
            outside = "an address outside the sites" if page.url.startswith("chrome-error") else page.url
            self.notes.append(f"navigation was refused: {outside}")
            with suppress(Error):
                if len(self.pages) > 1 and await page.opener() is not None:
                    await page.close()
                else:
                    await page.go_back(wait_until="domcontentloaded")
            if not page.is_closed() and not self.allows(page.url):
                with suppress(Error):
                    await page.goto("about:blank")

    def allows(self, url: str) -> bool:
        return url in ("", "about:blank", "about:srcdoc") or _origin(url) in self._origins or url.startswith("blob:")

    async def script(self, frame: Frame, expression: str, argument: Any = None) -> Any:
        """Evaluates an expression that uses `window.__rebind`, which is added where a document lacks it."""
        from playwright.async_api import Error

        try:
            return await frame.evaluate(expression, argument)
        except Error as error:
            if "__rebind" not in str(error) and "reading 'view'" not in str(error) and "undefined" not in str(error):
                raise
        await frame.evaluate(PAGE_SCRIPT)
        return await frame.evaluate(expression, argument)


def _is_navigation(request: Request, page: Page) -> bool:
    if not request.is_navigation_request():
        return False
    with suppress(Exception):  # a request of a service worker or of a page that is not there yet has no frame
        return bool(request.frame is page.main_frame)
    return False


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
