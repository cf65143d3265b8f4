"""The half of `lines` that another Python runs, by the path of this file: it can import nothing of ours.

Of the folder's module `side.main` it calls `answer(do, **arguments)` for each question, a JSON line on standard input,
and writes what comes of it as a line. Whatever the packages print goes to standard error."""

from __future__ import annotations

import importlib
import json
import os
import sys


def main() -> None:
    """Answers until standard input ends."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    folder, module = sys.argv[1:]
    del sys.argv[1:]  # a package may read them
    sys.path.insert(0, folder)
    answer = importlib.import_module(module).answer
    for line in sys.stdin:
        question = json.loads(line)
        try:
            said = {"ok": answer(question.pop("do"), **question)}
        except Exception as error:  # every failure is an answer: who asked decides what it means
            said = {"error": f"{type(error).__name__}: {error}"}
        channel.write(json.dumps(said) + "\n")
        channel.flush()


if __name__ == "__main__":
    main()
