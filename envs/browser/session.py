"""One episode's browser: a fresh context, its tabs, what happened in them, and elements by reference.

Everything here runs in the browser's thread (see `engine`).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from rebind.envs.browser.refs import FORM, Described, Numbered, parse
from rebind.envs.browser.view import Tab, View

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Dialog, Download, ElementHandle, Frame, Page

PAGE_SCRIPT = files("rebind.envs.browser").joinpath("page.js").read_text(encoding="utf-8")
ACTION_MS = 2_500.0
"""How long one action may wait for its element."""
LOAD_MS = 15_000.0
_STILL_MS, _MOST_MS = 24, 3_000
"""A page is quiet after this long without a change or request; and is taken as it is after this long in any case."""
_TRIES = 4
_NOWHERE = "http://127.0.0.1:9"
"""A proxy that refuses: where requests to other hosts go. Chromium itself never sends loopback to a proxy."""


class ActionFailed(Exception):
    """An action that could not be done, in words for the agent."""


class Session:
    """A browser context and what the agent may reach in it.

    `crashed` says why the episode cannot go on: the page's process died, or the site does not answer."""

    def __init__(self, context: BrowserContext, origins: Sequence[str]) -> None:
        self.context = context
        self.active: Page | None = None
        self.notes: list[str] = []
        """What happened since the last observation, for the agent."""
        self.crashed: str | None = None
        self._origins = frozenset(map(_origin, origins))
        self._frames: dict[Frame, str] = {}
        self._loading: set[Page] = set()
        self._popups: Counter[Page] = Counter()
        """Tabs that each tab has opened."""
        context.on("page", self._opened)

    @classmethod
    async def open(cls, browser: Browser, origins: Sequence[str], state: Any = None) -> Session:
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
        page.on("request", lambda r: self._loading.add(page) if _is_navigation(r, page) else None)
        page.on("popup", lambda _: self._popups.update([page]))
        page.on("domcontentloaded", lambda _: self._loading.discard(page))
        page.on("requestfailed", lambda r: self._failed(r, page))
        if self.active is not None:
            self.notes.append("a new tab was opened and is the active one")
        self.active = page

    def _failed(self, request: Any, page: Page) -> None:
        """A page that could not be had. The sites' own not answering is a failure of infrastructure, not the agent's;
        what a download or a later click cut short is neither."""
        if not _is_navigation(request, page):
            return
        self._loading.discard(page)
        if self.allows(request.url) and "ERR_ABORTED" not in (request.failure or ""):
            self.crashed = f"the site does not answer: {request.url}: {request.failure}"

    def _closed(self, page: Page) -> None:
        self._loading.discard(page)
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
        self._loading.discard(download.page)
        self.notes.append(f"a download was refused: {download.suggested_filename}")
        with suppress(Exception):
            await download.cancel()

    # --- waiting ----------------------------------------------------------------------------------------------------

    async def settle(self) -> None:
        """Waits for navigation, requests and changes of the page to end; then turns back what left the sites."""
        for _ in range(_TRIES):
            page = self.active
            if page is None or page.is_closed():
                return
            if page in self._loading:
                await self._loaded(page)
            if await self._quiet(page) and page not in self._loading and page is self.active:
                break
        await self._turn_back()

    async def _loaded(self, page: Page) -> None:
        from playwright.async_api import Error

        try:
            await page.wait_for_load_state("domcontentloaded", timeout=LOAD_MS)
        except Error:
            self.notes.append("the page is still loading")
        self._loading.discard(page)

    async def _quiet(self, page: Page) -> bool:
        """False where the document was replaced while it was waited for."""
        from playwright.async_api import Error

        try:
            asked = await self.script(page.main_frame, f"() => window.__rebind.quiet({_STILL_MS}, {_MOST_MS})")
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

    # --- scripts and elements ---------------------------------------------------------------------------------------

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

    async def view(self) -> View:
        """The active tab as it stands; a view without tabs where none is open."""
        from playwright.async_api import Error

        if self.crashed is None and self.active is None:
            return View((), 0, ())
        page = self.page
        for attempt in range(_TRIES):
            try:
                return await self._look(page)
            except Error:
                if attempt + 1 == _TRIES or page.is_closed():
                    raise
                await self.settle()
        raise AssertionError("unreachable")

    async def _look(self, page: Page) -> View:
        seen = json.loads(await self.script(page.main_frame, "() => window.__rebind.view()"))
        self._frames = {page.main_frame: ""}
        lines = await self._with_frames(page.main_frame, seen["lines"], 0)
        tabs = [Tab(await p.title(), p.url) for p in self.pages if not p.is_closed()]
        return View(tuple(tabs), self.pages.index(page), tuple(lines), seen["focused"], seen["scroll"][1])

    async def _with_frames(self, frame: Frame, lines: list[list[Any]], depth: int) -> list[str]:
        """Lines as text, each iframe's own lines below it, its numbers led by the iframe's."""
        inner = {n: child for child in frame.child_frames if (n := await self._number_of(child)) is not None}
        label = self._frames[frame]
        text: list[str] = []
        for at, said, *which in lines:
            shown = re.sub(r"\[(\d+)\] ", rf"[{label}.\1] ", said) if label else said
            text.append("  " * (at + depth) + shown)
            child = inner.get(which[0]) if which else None
            if child is not None:
                self._frames[child] = str(len(self._frames))
                seen = json.loads(await self.script(child, "() => window.__rebind.view()"))
                text += await self._with_frames(child, seen["lines"], at + depth + 1)
        return text

    async def _number_of(self, child: Frame) -> int | None:
        """The number of the iframe element that holds a frame."""
        from playwright.async_api import Error

        try:
            element = await child.frame_element()
            number: int = await element.evaluate("el => window.__rebind.number(el)")
            return number
        except Error:
            return None

    async def element(self, reference: str) -> tuple[ElementHandle, str]:
        """The element a reference names, and its description (role, name, path), which is what is stored.

        Raises:
            ActionFailed: there is none, or more than one.
        """
        try:
            wanted = parse(reference)
        except ValueError as error:
            raise ActionFailed(str(error)) from None
        for _ in range(_TRIES):
            if isinstance(wanted, Numbered):
                frame, number, said = await self._numbered(wanted)
            else:
                frame, number, said = await self._described(wanted, reference)
            handle = (await frame.evaluate_handle("n => window.__rebind.get(n)", number)).as_element()
            if handle is not None:
                return handle, said
        raise ActionFailed(f"element {reference} is gone from the page; look at the view again")

    async def _numbered(self, wanted: Numbered) -> tuple[Frame, int, str]:
        page = self.page
        frames = {label: frame for frame, label in self._frames.items()}
        frame = frames.get(wanted.frame, page.main_frame if not wanted.frame else None)
        said = None
        if frame is not None and not frame.is_detached():
            said = await self.script(frame, "n => window.__rebind.describe(n)", wanted.number)
        if frame is None or said is None:
            raise ActionFailed(f"there is no element {wanted.number} on this page now; look at the view again")
        return frame, wanted.number, said

    async def _described(self, wanted: Described, reference: str) -> tuple[Frame, int, str]:
        from playwright.async_api import Error

        found: list[tuple[Frame, int, str]] = []
        for frame in self.page.frames:
            with suppress(Error):
                for one in await self.script(
                    frame, "([p, c]) => window.__rebind.find(p, c)", [wanted.as_json(), wanted.count]
                ):
                    found.append((frame, one["n"], one["said"]))
        if len(found) == 1:
            return found[0]
        if not found:
            near = await self.script(self.page.main_frame, "w => window.__rebind.similar(w)", wanted.parts[0][1])
            hint = f"; on this page: {', '.join(near)}" if near else f"; {FORM}"
            raise ActionFailed(f"there is no element {reference} on this page{hint}")
        shown = "; ".join(f"{n} is {said}" for _, n, said in found[:6])
        raise ActionFailed(f"{len(found)} elements fit {reference}: {shown}")


def _is_navigation(request: Any, page: Page) -> bool:
    if not request.is_navigation_request():
        return False
    with suppress(Exception):  # a request of a service worker or of a page that is not there yet has no frame
        return bool(request.frame is page.main_frame)
    return False


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
