"""The judge: builds the small world and evaluates outputs, asked in JSON lines. It alone sees ground truth."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def main() -> None:
    """Answers until standard input ends. Whatever the package prints goes to standard error."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = {"ok": _ANSWERS[question.pop("do")](**question)}
        except Exception as error:  # every failure is an answer: who asked decides what it means
            answer = {"error": f"{type(error).__name__}: {error}"}
        channel.write(json.dumps(answer) + "\n")
        channel.flush()


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

if __name__ == "__main__":
    main()
