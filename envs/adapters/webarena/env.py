"""A task of WebArena in our browser, judged by `webarena-verified` on what the browser sent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rebind.envs.adapters.webarena import stub
from rebind.envs.adapters.webarena.judge import Judge, Judgement, Part
from rebind.envs.adapters.webarena.sites import STATE_VARIABLE, addresses, variable
from rebind.envs.adapters.webarena.state import logins
from rebind.envs.adapters.webarena.tasks import WebArenaTask, task, tasks
from rebind.envs.browser.actions import ENDINGS
from rebind.envs.browser.env import BrowserEnv, BrowserTask
from rebind.envs.browser.recording import Recording
from rebind.envs.browser.session import Session
from rebind.envs.browser.view import PAGE_CHARACTERS
from rebind.errors import EnvironmentFailure, UserError
from rebind.types import Call, Milestone, Seal, Verdict

ENV_ID = "rebind/WebArenaVerified-v0"
_SIGN_IN = ("/users/sign_in", "/login", "/customer/account/login", "/admin/auth")
"""Where the sites lead who is not signed in."""


class _Episode:
    """`rebind.envs.browser.env.BrowserTask` of one task."""

    def __init__(self, one: WebArenaTask, sites: Mapping[str, str], judge: Judge) -> None:
        self.task, self._judge, self._sites = one, judge, sites
        self.goal, (self.url, *self._others) = one.goal, one.addresses(sites)
        self.origins = tuple(sites[site] for site in one.sites)
        self.uploads: Mapping[str, Path] = {}
        self.recording: Recording | None = None
        self.judgement: Judgement | None = None

    async def setup(self, session: Session) -> None:
        """Opens the other pages that a task starts with, and says where its sites are.

        Raises:
            EnvironmentFailure: a site leads to its sign-in page.
        """
        first = session.page
        for address in self._others:
            await (await session.context.new_page()).goto(address, wait_until="domcontentloaded")
        for page in session.pages:
            path = urlsplit(page.url).path
            if path.startswith(_SIGN_IN) and not urlsplit(self.url).path.startswith(_SIGN_IN):
                raise EnvironmentFailure(
                    f"{page.url} asks to sign in: the logins have expired, or an agent has signed out; make the file "
                    f"that {STATE_VARIABLE} names again"
                )
        session.active, session.notes = first, [f"{site}: {self._sites[site]}" for site in self.task.sites]

    async def done(self, session: Session) -> bool:
        return False

    async def validate(self, session: Session, calls: tuple[Call, ...]) -> Verdict:
        assert self.recording is not None  # set when the tab was opened
        har = await self.recording.har()
        said = [str(next(iter(call.args.values()))) for call in calls if call.tool in ENDINGS and call.ok]
        response = said[-1] if said else None
        found = await asyncio.to_thread(self._judge.evaluate, self.task.id, response, har, self._sites)
        self.judgement = found
        return verdict(found)

    def teardown(self) -> None: ...


def verdict(found: Judgement) -> Verdict:
    """Milestones are the requests that had to be made; the answer where none had to be. Requests that must not have
    been made are collateral damage."""
    requests = [(n, part) for n, part in enumerate(found.parts) if n and not part.unwanted]
    milestones = requests or [(n, part) for n, part in enumerate(found.parts) if not part.unwanted]
    return Verdict(
        success=found.score == 1.0,
        milestones=tuple(
            Milestone(id=f"{part.name}/{n}", text=_text(part), reached=part.passed) for n, part in milestones
        ),
        failures=tuple(f"{part.name}: {part.why}" for part in found.parts if not part.passed),
        collateral=tuple(_text(part) for part in found.parts if part.unwanted and not part.passed),
    )


def _text(part: Part) -> str:
    return json.dumps(part.expected, sort_keys=True)


class WebArenaVerifiedEnv(BrowserEnv):
    """`rebind.types.Environment` over WebArena's sites where their variables are set, else over the stub site."""

    _episode: _Episode

    def __init__(self, part: int = PAGE_CHARACTERS) -> None:
        super().__init__(part)
        self._official = Judge()

    def prepare(self, seal: Seal) -> BrowserTask:
        if seal.env != ENV_ID:
            raise UserError(f"a task of {seal.env} cannot run in {ENV_ID}")
        one = task(int(str(seal.world["task"])), bool(seal.world["stub"]))
        sites = stub.addresses() if one.stub else addresses()
        unset = [variable(site) for site in one.sites if site not in sites]
        if unset:
            raise UserError(f"task {one.id} of WebArena needs {', '.join(unset)}; see `rebind doctor`")
        self._official.start()
        self._episode = _Episode(one, sites, self._official)
        return self._episode

    def draw(self, seed: int) -> tuple[Seal, str]:
        from rebind.envs.adapters.webarena.world import WebArenaVerifiedWorld

        found = list(tasks())
        if not found:
            raise UserError("no task of webarena-verified can be run here; see `rebind envs list`")
        target = WebArenaVerifiedWorld().target(found[seed % len(found)])
        return target.seal, target.task.goal

    @property
    def judgement(self) -> Judgement | None:
        """What the package said of the episode, each evaluator by itself; None before `verify`."""
        return self._episode.judgement

    def har(self) -> dict[str, Any]:
        """What the browser has sent in this episode, as HAR 1.2."""
        assert self._episode.recording is not None  # set when the tab was opened
        return self._run(self._episode.recording.har(), 40.0, "reading the recording")

    def close(self) -> None:
        super().close()
        self._official.close()

    async def _open(self, task: BrowserTask) -> Session:
        assert self._engine is not None  # set by reset
        assert isinstance(task, _Episode)
        state = None if task.task.stub else logins()
        session = await Session.open(await self._engine.browser(), task.origins, state)
        task.recording = Recording(session.context)
        return session
