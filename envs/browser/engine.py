"""The one browser of this process: started on demand, driven from a thread of its own, replaced when it dies.

Playwright's objects belong to the event loop they were made in. All of them live in one background thread; an
environment may so be used from any thread, and every wait has a limit.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import shutil
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rebind.envs.browser.chromium import arguments, find
from rebind.errors import EnvironmentFailure, UserError

if TYPE_CHECKING:
    from playwright.async_api import Browser, Playwright

T = TypeVar("T")
START_SECONDS = 60.0
_STOP_SECONDS = 5.0
_PROFILE = "--user-data-dir="


class Engine:
    """A browser and the event loop that drives it."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(_left_over)
        self._thread = threading.Thread(target=self._loop.run_forever, name="browser", daemon=True)
        self._thread.start()
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._starting: asyncio.Lock | None = None
        self._processes: dict[int, Any] = {}
        """All that were started, by process id: those of a driver that died are nobody's children."""
        self._groups: set[int] = set()
        """Process groups of browsers: what a browser starts later, and leaves behind, is in the same one."""
        self._profiles: set[Path] = set()
        self.dead = False
        """True once it was given up: a caller that waits gets an error, a later one a fresh engine."""

    def run(self, work: Coroutine[Any, Any, T], seconds: float, what: str) -> T:
        """Runs work in the browser's thread and waits for it.

        Raises:
            EnvironmentFailure: it took longer than `seconds`, or the browser died.
        """
        future: Future[T] = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(seconds)
        except FutureTimeout:
            future.cancel()
            raise EnvironmentFailure(f"{what} took longer than {seconds:g} s") from None

    async def browser(self) -> Browser:
        """The browser, started where there is none or the last one died. For use in the browser's thread."""
        if self._starting is None:
            self._starting = asyncio.Lock()
        async with self._starting:
            if self._browser is None or not self._browser.is_connected():
                self._browser = await self._launch()
            return self._browser

    async def _launch(self) -> Browser:
        from playwright.async_api import Error, async_playwright

        if self._playwright is None:
            self._playwright = await async_playwright().start()
        chromium = find()
        try:
            launched = await self._playwright.chromium.launch(
                executable_path=chromium.path, args=arguments(), headless=True, timeout=1000 * START_SECONDS
            )
            self._remember()
            return launched
        except Error as error:
            first = str(error).strip().splitlines()[0]
            raise EnvironmentFailure(
                f"Chromium ({chromium.path}, from {chromium.source}) did not start: {first}"
            ) from None

    def stop(self) -> None:
        """Closes the browser and its driver; what does not close in time is killed. The next episode starts another."""
        if self.dead:
            return
        self.dead = True
        self._remember()
        with suppress(Exception):  # it is killed below
            self.run(self._close(), _STOP_SECONDS, "closing the browser")
        _kill([*self._processes.values(), *_of_groups(self._groups)])
        for folder in self._profiles:
            shutil.rmtree(folder, ignore_errors=True)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_STOP_SECONDS)

    def _remember(self) -> None:
        """Takes down the driver's processes and the folders in which they keep profiles."""
        import psutil

        for process in _driver_tree():
            with suppress(psutil.Error, ProcessLookupError):
                self._processes.setdefault(process.pid, process)
                self._groups |= {os.getpgid(process.pid)} - {os.getpgrp()}
                found = [part.removeprefix(_PROFILE) for part in process.cmdline() if part.startswith(_PROFILE)]
                self._profiles |= {Path(folder) for folder in found if Path(folder).name.startswith("playwright")}

    async def _close(self) -> None:
        if self._browser is not None:
            await self._browser.close()
        if self._playwright is not None:
            await self._playwright.stop()


def _left_over(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What nobody waits for when a driver dies; whoever did wait has been told."""
    logging.getLogger(__name__).debug("in the browser's thread: %s", context)


_engine: Engine | None = None
_owner = 0
_guard = threading.Lock()


def engine() -> Engine:
    """This process's engine; a forked child makes one of its own.

    Raises:
        UserError: this machine has no browser, or not what drives it.
    """
    global _engine, _owner
    why = missing()
    if why:
        raise UserError(f"browser environments cannot run: {why}")
    with _guard:
        if _engine is None or _engine.dead or _owner != os.getpid():
            _engine, _owner = Engine(), os.getpid()
        return _engine


def missing() -> str | None:
    """Why no browser can be started on this machine, and what to do about it; None where one can."""
    for package in ("playwright", "psutil"):
        if find_spec(package) is None:
            return f"the package {package} is missing: pip install 'rebind[sites]'"
    try:
        find()
    except UserError as error:
        return str(error)
    return None


def _driver_tree() -> list[Any]:
    """The processes below this one that belong to Playwright: its driver and every Chromium process."""
    import psutil

    found: list[Any] = []
    for child in psutil.Process().children(recursive=False):
        with suppress(psutil.Error):
            if any("playwright" in part for part in child.cmdline()):
                found += [*child.children(recursive=True), child]
    return found


def _of_groups(groups: set[int]) -> list[Any]:
    """The Chromium processes of these process groups, nobody's children among them."""
    import psutil

    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, ProcessLookupError):
            if os.getpgid(process.pid) in groups and any("chrom" in part for part in process.cmdline()[:1]):
                found.append(process)
    return found


def _kill(processes: list[Any]) -> None:
    import psutil

    for process in processes:
        with suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(processes, timeout=_STOP_SECONDS)


@atexit.register
def _at_exit() -> None:
    if _engine is not None and _owner == os.getpid():
        _engine.stop()
