"""MiniWoB++ as a Gymnasium environment."""

from __future__ import annotations

from rebind.canon import digest
from rebind.envs.browser.env import STEP_SECONDS, BrowserEnv, BrowserTask
from rebind.envs.miniwob.task import MiniwobTask
from rebind.types import Seal

ENV_ID = "rebind/Miniwob-v0"


class MiniwobEnv(BrowserEnv):
    """`rebind.types.Environment` over a MiniWoB++ page."""

    def prepare(self, seal: Seal) -> BrowserTask:
        return MiniwobTask(seal.family.removeprefix("miniwob/"), int(str(seal.world["seed"])))

    def draw(self, seed: int) -> tuple[Seal, str]:
        from rebind.envs.miniwob.tasks import names
        from rebind.envs.miniwob.world import MiniwobWorld

        every = names()
        target = MiniwobWorld().sample(f"miniwob/{every[seed % len(every)]}", seed)
        return target.seal, target.task.goal

    def goal(self, name: str, seed: int) -> str:
        """What the page of a task asks for with a seed: known only by opening it. The page stays open, so that asking
        for another seed of the same task is quick."""
        if isinstance(self._task, MiniwobTask) and self._task.name == name and self._session is not None:
            return str(self._run(self._task.restart(self._session, seed), STEP_SECONDS, "starting the task"))
        seal = Seal(canary="", env=ENV_ID, task_key="", family=f"miniwob/{name}", world={"seed": seed})
        self.reset(options={"seal": seal})
        assert isinstance(self._task, MiniwobTask)  # made by prepare
        return self._task.goal


def task_state(name: str, seed: int) -> str:
    """Digest of a task's initial state."""
    return digest({"miniwob": name, "seed": seed})
