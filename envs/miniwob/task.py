"""One MiniWoB++ task: its page, started from a seed and judged by its own reward."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rebind.envs.browser.session import Session
from rebind.envs.miniwob.server import address
from rebind.errors import EnvironmentFailure
from rebind.types import Call, Milestone, Verdict

_START = """seed => {
  core.EPISODE_MAX_TIME = 3600000;
  Math.seedrandom(seed);
  core.startEpisodeReal();
  const shown = document.getElementById("reward-display");
  if (shown) shown.style.display = "none";
  return core.getUtterance();
}"""
_STATE = """path => location.pathname === path && typeof WOB_DONE_GLOBAL !== "undefined"
  ? {done: WOB_DONE_GLOBAL, reward: WOB_RAW_REWARD_GLOBAL, why: WOB_REWARD_REASON}
  : {done: false, reward: 0, why: "the task's page was left"}"""


class MiniwobTask:
    """A `BrowserTask`. The reward is the page's raw one: success is a reward of 1, not any above 0, which would count
    partial credit."""

    uploads: Mapping[str, Path] = {}

    def __init__(self, name: str, seed: int) -> None:
        site = address()
        self.name, self._seed = name, seed
        self.url = f"{site}/miniwob/{name}.html"
        self.origins: tuple[str, ...] = (site,)
        self.goal = ""
        """The page's own words, known once it was started."""

    async def setup(self, session: Session) -> None:
        self.goal = await self.restart(session, self._seed)

    async def restart(self, session: Session, seed: int) -> str:
        """Starts the page's task with a seed; returns its words."""
        from playwright.async_api import Error

        try:
            return str(await session.page.evaluate(_START, seed))
        except Error as error:
            raise EnvironmentFailure(f"the page {self.name} did not start: {error}") from None

    async def done(self, session: Session) -> bool:
        return bool((await self._state(session))["done"])

    async def validate(self, session: Session, calls: tuple[Call, ...]) -> Verdict:
        state = await self._state(session)
        reward = float(state["reward"]) if state["done"] else 0.0
        success = reward >= 1.0
        why = () if success else (str(state["why"] or ("the task was not finished" if not state["done"] else "wrong")),)
        parts = (Milestone(id="ended", text="the page ended the task", reached=bool(state["done"])),)
        return Verdict(success=success, milestones=(*parts, _right(success)), failures=why)

    async def _state(self, session: Session) -> dict[str, Any]:
        state: dict[str, Any] = await session.page.evaluate(_STATE, f"/miniwob/{self.name}.html")
        return state

    def teardown(self) -> None:
        pass


def _right(success: bool) -> Milestone:
    return Milestone(id="right", text="the page's reward is 1", reached=success)
