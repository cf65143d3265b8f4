"""One episode's browser: its tabs, read as text, and elements by reference.

Everything here runs in the browser's thread (see `engine`).
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from rebind.envs.browser.refs import FORM, Described, Numbered, parse
from rebind.envs.browser.tabs import TRIES, ActionFailed, Tabs
from rebind.envs.browser.view import Tab, View

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, ElementHandle, Frame, Page

_TITLE_SECONDS = 2.0


class Session(Tabs):
    """What an agent sees of its tabs, and the elements it may name."""

    def __init__(self, context: BrowserContext, origins: Sequence[str]) -> None:
        super().__init__(context, origins)
        self._frames: dict[Frame, str] = {}
        """The number of each frame in the last view; empty for the page itself."""

    async def view(self) -> View:
        """The active tab as it stands; a view without tabs where none is open."""
        from playwright.async_api import Error

        if self.crashed is None and self.active is None:
            return View((), 0, ())
        for attempt in range(TRIES):
            page = self.page
            try:
                return await self._look(page)
            except (Error, ValueError):  # a document was replaced, or the tab closed
                if attempt + 1 == TRIES:
                    raise
                await self.settle()
        raise AssertionError("unreachable")

    async def _look(self, page: Page) -> View:
        seen = json.loads(await self.script(page.main_frame, "() => window.__rebind.view()"))
        self._frames = {page.main_frame: ""}
        lines = await self._with_frames(page.main_frame, seen["lines"], 0)
        titles = {p: str(seen["title"]) if p is page else await _title(p) for p in self.pages}
        pages = [p for p in self.pages if p in titles]
        tabs = [Tab(titles[p], p.url) for p in pages]
        return View(tuple(tabs), pages.index(page), tuple(lines), seen["focused"], seen["scroll"][1])

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
        for _ in range(TRIES):
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


async def _title(page: Page) -> str:
    """A tab's title; empty where it went meanwhile, or its page does not come to an end."""
    with suppress(Exception):
        return await asyncio.wait_for(page.title(), _TITLE_SECONDS)
    return ""
