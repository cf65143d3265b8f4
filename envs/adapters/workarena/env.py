"""WorkArena as a Gymnasium environment: BrowserGym's actions and view, WorkArena's own evaluators."""

from __future__ import annotations

from typing import Any

from rebind.envs.adapters.browsergym.env import BrowserGymEnv
from rebind.envs.adapters.workarena.instance import answering
from rebind.envs.adapters.workarena.runner import WorkArenaRunner
from rebind.errors import EnvironmentFailure
from rebind.types import Seal

ENV_ID = "rebind/WorkArena-v0"


class WorkArenaEnv(BrowserGymEnv[WorkArenaRunner]):
    """See `BrowserGymEnv`. A reset without an instance that answers raises EnvironmentFailure, too."""

    env_id = ENV_ID
    benchmark = "WorkArena"

    def solve(self) -> None:
        """Lets the task's own solution drive the browser. Raises EnvironmentFailure where it fails."""
        with self._alive() as runner:
            runner.solve()

    def _servers(self, seal: Seal) -> Any:
        return answering()

    def _opened(self, servers: Any) -> WorkArenaRunner:
        return WorkArenaRunner(servers)

    def _begun(self, runner: WorkArenaRunner, seal: Seal) -> str:
        goal, view = runner.start(task=str(seal.world["task"]), config=seal.world["config"])
        if goal != seal.world["goal"]:
            raise EnvironmentFailure(f"WorkArena words this task otherwise than its bank: {goal!r}; build it again")
        return view
