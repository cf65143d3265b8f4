"""Reads questions as JSON lines on standard input and answers each with one line."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from webarena_verified.api import WebArenaVerified
from webarena_verified.types.config import WebArenaVerifiedConfig


def main() -> None:
    """Answers until standard input ends. Whatever the package prints goes to standard error."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = {"ok": _ANSWERS[question.pop("do")](**question)}
        except Exception as error:  # every failure is an answer: who asked decides what it means
            answer = {"error": f"{type(error).__name__}: {error}"}
        channel.write(json.dumps(answer) + "\n")
        channel.flush()


def _evaluate(task: int, response: Any, har: str, sites: dict[str, str]) -> dict[str, Any]:
    """The package's result for a task: `score`, `status`, `error_msg`, and `evaluators_results`, one for each."""
    official = _official(json.dumps(sites, sort_keys=True))
    result = official.evaluate_task(task_id=task, agent_response=response, network_trace=Path(har))
    found: dict[str, Any] = result.model_dump(mode="json")
    return found


@lru_cache(maxsize=1)
def _official(sites: str) -> WebArenaVerified:
    """The package's own facade, told where each site is."""
    urls = {f"__{name.upper()}__": {"urls": [url]} for name, url in json.loads(sites).items()}
    return WebArenaVerified(config=WebArenaVerifiedConfig.model_validate({"environments": urls}))


_ANSWERS: dict[str, Callable[..., Any]] = {"ready": lambda: None, "evaluate": _evaluate}

if __name__ == "__main__":
    main()
