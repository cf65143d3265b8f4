"""WebArena's tasks and evaluators."""

from __future__ import annotations

import functools
import os
import sys
import types
from typing import Any

from .episode import Episode, Gate

_VERDICTS: dict[str, str] = {}
"""What the judge has said to each question."""


class NeedsJudge(Exception):
    """The evaluators want to ask a model; `args[0]` is what."""


def opened(sites: dict[str, str]) -> Episode:
    """WebArena on these sites, with what has to be changed in its packages to run them here."""
    for site, url in sites.items():  # the packages read both when they are imported
        os.environ[f"WA_{site.upper()}"] = os.environ[site.upper()] = url
    _no_models()
    _no_download()
    from nltk.tokenize import word_tokenize
    from webarena.evaluation_harness import evaluators
    from webarena.evaluation_harness import helper_functions as helpers

    helpers.generate_from_openai_chat_completion = _judged
    # Only words of one sign are looked for by words: sentences, which need a download, play no part in it.
    evaluators.word_tokenize = functools.partial(word_tokenize, preserve_line=True)
    return WebArena("webarena")


class WebArena(Episode):
    """Tasks by number."""

    def start(self, seed: int, **task: Any) -> dict[str, Any]:
        """See `Episode`."""
        _VERDICTS.clear()
        return super().start(seed, **task)

    def judge(self, verdicts: dict[str, str] | None = None) -> dict[str, Any]:
        """The task's score as it stands, or the question that a model has to answer first."""
        _VERDICTS.update(verdicts or {})
        try:
            return super().judge()
        except NeedsJudge as needs:
            return {"question": needs.args[0]}

    def _task(self, **task: Any) -> tuple[Any, dict[str, Any]]:
        from browsergym.webarena.task import GenericWebArenaTask

        return GenericWebArenaTask, {"task_id": task["task"]}

    def _gated(self, env: Any) -> Gate:
        gate = env.task.evaluator = Gate(functools.partial(_understood, env.task.evaluator), lambda **_: 0.0)
        return gate


def _understood(evaluator: Any, **arguments: Any) -> float:
    """Where the judge says nothing that the evaluators understand, stock calls that a score of 0; here it is an
    error."""
    try:
        return float(evaluator(**arguments))
    except AssertionError as error:
        if not _VERDICTS:
            raise
        raise ValueError(f"the judge's answer is none of those asked for: {list(_VERDICTS.values())[-1]!r}") from error


def _no_models() -> None:
    """Modules that are imported to ask models, and never called."""
    hub, openai = types.ModuleType("text_generation"), types.ModuleType("openai")
    vars(hub).update(Client=object)
    vars(openai).update(OpenAI=object, AsyncOpenAI=object, RateLimitError=type("RateLimitError", (Exception,), {}))
    sys.modules.update({"text_generation": hub, "openai": openai})


def _no_download() -> None:
    """`browsergym.webarena` fetches sentence data when it is imported, where nltk finds none."""
    import nltk

    nltk.download = lambda *_args, **_named: True


def _judged(messages: list[dict[str, str]], **_: Any) -> str:
    question = messages[-1]["content"]
    if question not in _VERDICTS:
        raise NeedsJudge(question)
    return _VERDICTS[question]
