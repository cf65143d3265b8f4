"""One task of the sites in a browser: signed in at its first page, judged by what it left in the database."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path

from rebind.envs.browser.session import Session
from rebind.envs.sites import server
from rebind.envs.sites.building import Recipe, drawn_values, family_of, task_image
from rebind.envs.sites.difference import difference
from rebind.envs.sites.families.view import SiteView
from rebind.types import Call, Seal, Verdict


class SitesTask:
    """A `BrowserTask`."""

    url = "about:blank"
    """The first page is opened by `setup`, once the session's cookie is there."""
    uploads: Mapping[str, Path] = {}

    def __init__(self, seal: Seal) -> None:
        """Puts the task's state in place on a server of its own. Raises EnvironmentFailure."""
        self._seal, self._family = seal, family_of(seal.env, seal.family)
        drawn = drawn_values(self._family, seal)
        self.goal = self._family.goal(drawn, seal.wording)
        self._before = task_image(seal)
        self._server = server.acquire()
        try:
            self._key = self._server.restore(self._before, self._family.user(drawn))
        except BaseException:
            self.teardown()
            raise
        self.origins: tuple[str, ...] = (self._server.origin,)

    async def setup(self, session: Session) -> None:
        cookie = {"name": "sessionid", "value": self._key, "url": self._server.origin}
        await session.context.add_cookies([cookie])  # type: ignore[list-item]  # a TypedDict in the stubs
        await session.page.goto(self._server.origin + self._family.start, wait_until="domcontentloaded")

    async def done(self, session: Session) -> bool:
        return False

    async def validate(self, session: Session, calls: tuple[Call, ...]) -> Verdict:
        changes = difference(self._before, self._server.database)
        db = sqlite3.connect(self._before)
        try:
            feasible = Recipe.of(self._seal).feasible
            return self._family.judge(SiteView(db), changes, calls, self._seal.values(), feasible)
        finally:
            db.close()

    def teardown(self) -> None:
        server.release(self._server)
