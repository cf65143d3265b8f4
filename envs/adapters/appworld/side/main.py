"""The judge: builds the small world and evaluates outputs. It alone sees ground truth."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))


def answer(do: str, **arguments: Any) -> Any:
    """See `envs/adapters/answering.py`."""
    return _ANSWERS[do](**arguments)


def _build(root: str) -> None:
    os.environ["APPWORLD_ROOT"] = root
    os.makedirs(root, exist_ok=True)
    os.chdir(root)  # ruff, which ground truth is saved with, else takes the settings of where we are
    from .small import build

    build()


def _judge(root: str, task: str, experiment: str) -> dict[str, Any]:
    """The test report of outputs that lie below `root`: `success`, `passes`, `failures`, with each test's label."""
    os.environ["APPWORLD_ROOT"] = root
    from appworld.apps.model_lib import CachedDBHandler
    from appworld.evaluator import evaluate_task

    CachedDBHandler.reset()
    tracker = evaluate_task(task_id=task, experiment_name=experiment, save_report=False)
    CachedDBHandler.reset()
    found: dict[str, Any] = tracker.to_dict(stats_only=False)
    return found


_ANSWERS: dict[str, Callable[..., Any]] = {"build": _build, "judge": _judge}
