"""Reads questions as JSON lines on standard input and answers each with one line."""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def main() -> None:
    """Answers until standard input ends. Whatever the packages print goes to standard error."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
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
    if do == "open":
        for site, url in arguments["sites"].items():  # the packages read both when they are imported
            os.environ[f"WA_{site.upper()}"] = os.environ[site.upper()] = url
        from .patches import apply

        apply(arguments["chromium"], arguments["flags"])
        from .episode import Episode

        opened["episode"] = Episode()
        return None
    return getattr(opened["episode"], do)(**arguments)


if __name__ == "__main__":
    main()
