"""WebArena as a Gymnasium environment: BrowserGym's actions and view, WebArena's own evaluators."""

from __future__ import annotations

from typing import Any

from rebind.envs.adapters.browsergym.env import BrowserGymEnv
from rebind.envs.adapters.webarena.original.runner import Judge, WebArenaRunner
from rebind.envs.adapters.webarena.original.tasks import OriginalTask, sites, task
from rebind.types import Seal

ENV_ID = "rebind/WebArena-v0"


class WebArenaEnv(BrowserGymEnv[WebArenaRunner]):
    """See `BrowserGymEnv`."""

    env_id = ENV_ID
    benchmark = "WebArena"

    def __init__(self, judge: Judge | None = None) -> None:
        super().__init__()
        self._judge = judge

    def _servers(self, seal: Seal) -> Any:
        return sites(_task(seal).stub)

    def _opened(self, servers: Any) -> WebArenaRunner:
        return WebArenaRunner(servers, self._judge)

    def _begun(self, runner: WebArenaRunner, seal: Seal) -> str:
        return runner.start(task=_task(seal).id)[1]


def _task(seal: Seal) -> OriginalTask:
    return task(int(str(seal.world["task"])), bool(seal.world["stub"]))
