"""The judge's side: AppWorld's own tests, run where the ground truth is, on outputs copied out of the agent's reach."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from rebind.envs.adapters.appworld.install import PLACE, SIDE
from rebind.envs.adapters.appworld.tasks import AppWorldTask
from rebind.envs.adapters.lines import Refused, Side
from rebind.errors import EnvironmentFailure


class Bench:
    """A process that judges, and its folder. AppWorld keeps paths of the first root it meets: the folder stays."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="rebind-appworld-judge-")
        self._side = Side(PLACE.python, SIDE)

    def judge(self, task: AppWorldTask, experiment: str, outputs: Path) -> dict[str, Any]:
        """AppWorld's test report: `success`, `passes` and `failures` with `requirement` and `label`.

        Raises:
            EnvironmentFailure: the tests could not be run.
        """
        root = Path(self._folder.name)
        if not (root / "data").exists():
            (root / "data").symlink_to(task.root / "data")
        ends = root / "experiments" / "outputs" / experiment
        try:
            shutil.copytree(outputs / "dbs", ends / "tasks" / task.id / "dbs")
            report: dict[str, Any] = self._side.ask("judge", root=str(root), task=task.id, experiment=experiment)
        except (OSError, Refused) as error:
            raise EnvironmentFailure(f"AppWorld could not judge {task.id}: {error}") from error
        finally:
            shutil.rmtree(ends, ignore_errors=True)
        return report

    def close(self) -> None:
        """Kills the process and deletes the folder."""
        self._side.close()
        self._folder.cleanup()
