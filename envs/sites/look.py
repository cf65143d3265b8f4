"""Pages of the sites as an agent sees them: `python -m rebind.envs.sites.look USER PATH...`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rebind.envs.browser.engine import engine
from rebind.envs.browser.session import Session
from rebind.envs.sites import server
from rebind.envs.sites.snapshot import world_image

_SECONDS = 120.0


def look(user: str, paths: Sequence[str], pictures: Sequence[Path] = ()) -> list[str]:
    """The text of each page, signed in as that user; also saved as a picture where one is named."""
    running = server.acquire()
    key = running.restore(world_image(), user)

    async def see() -> list[str]:
        session = await Session.open(await engine().browser(), (running.origin,))
        cookie = {"name": "sessionid", "value": key, "url": running.origin}
        await session.context.add_cookies([cookie])  # type: ignore[list-item]  # a TypedDict in the stubs
        pages = []
        for n, path in enumerate(paths):
            await session.page.goto(running.origin + path, wait_until="load")
            await session.settle()
            pages.append((await session.view()).text(size=10**9))
            if n < len(pictures):
                await session.page.screenshot(path=pictures[n])
        await session.close()
        return pages

    try:
        return engine().run(see(), _SECONDS, "looking at pages")
    finally:
        server.release(running)


if __name__ == "__main__":
    for page in look(sys.argv[1], sys.argv[2:]):
        print(page, "=" * 100, sep="\n")
