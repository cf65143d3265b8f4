"""Reads questions as JSON lines on standard input and answers each with one line."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from loguru import logger

from .episode import Episodes
from .tau_bench import Recorded

_EPISODE = ("start", "call", "say", "verify", "play")


def main() -> None:
    """Answers until standard input ends. Whatever the package prints goes to standard error."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    logger.remove()
    opened: dict[str, Any] = {}
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = {"ok": _answer(opened, question.pop("do"), question)}
        except Exception as error:  # every failure is an answer: who asked decides what it means
            answer = {"error": f"{type(error).__name__}: {error}"}
        channel.write(json.dumps(answer) + "\n")
        channel.flush()


def _answer(opened: dict[str, Any], do: str, arguments: dict[str, Any]) -> Any:
    if do == "recorded":
        opened["recorded"] = Recorded(**arguments)
        return None
    if do == "replay":
        return opened["recorded"].replay(**arguments)
    if do not in _EPISODE:
        raise ValueError(f"no question named {do!r}")
    episodes = opened.setdefault("episodes", Episodes())
    return getattr(episodes, do)(**arguments)


if __name__ == "__main__":
    main()
