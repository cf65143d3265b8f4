"""What has to be changed in `browsergym` and `webarena` to run them here, and nothing else."""

from __future__ import annotations

import functools
import sys
import types
from typing import Any

VERDICTS: dict[str, str] = {}
"""What the judge has said to each question."""


class NeedsJudge(Exception):
    """The evaluators want to ask a model; `args[0]` is what."""


def apply(chromium: str, flags: list[str]) -> None:
    """To be called before any of the packages is imported."""
    _no_models()
    _launch(chromium, flags)
    _no_download()
    from browsergym.core import env
    from nltk.tokenize import word_tokenize
    from webarena.evaluation_harness import evaluators
    from webarena.evaluation_harness import helper_functions as helpers

    env.Chat = Chat
    helpers.generate_from_openai_chat_completion = _judged
    # Only words of one sign are looked for by words: sentences, which need a download, play no part in it.
    evaluators.word_tokenize = functools.partial(word_tokenize, preserve_line=True)


def _no_models() -> None:
    """Modules that are imported to ask models, and never called."""
    hub, openai = types.ModuleType("text_generation"), types.ModuleType("openai")
    vars(hub).update(Client=object)
    vars(openai).update(OpenAI=object, AsyncOpenAI=object, RateLimitError=type("RateLimitError", (Exception,), {}))
    sys.modules.update({"text_generation": hub, "openai": openai})


def _launch(chromium: str, flags: list[str]) -> None:
    """This machine's Chromium, not the one that Playwright would fetch."""
    from playwright.sync_api import BrowserType

    stock = BrowserType.launch

    def launch(self: Any, **given: Any) -> Any:
        args = [*(given.pop("args", None) or []), *flags]
        return stock(self, **{**given, "executable_path": chromium, "args": args})

    BrowserType.launch = launch  # type: ignore[method-assign]


def _no_download() -> None:
    """`browsergym.webarena` fetches sentence data when it is imported, where nltk finds none."""
    import nltk

    nltk.download = lambda *_args, **_named: True


def _judged(messages: list[dict[str, str]], **_: Any) -> str:
    question = messages[-1]["content"]
    if question not in VERDICTS:
        raise NeedsJudge(question)
    return VERDICTS[question]


class Chat:
    """Takes messages down. The stock one shows them in a browser of its own."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.messages: list[dict[str, Any]] = []

    def add_message(self, role: str, msg: str) -> None:
        if role != "info":
            self.messages.append({"role": role, "timestamp": 0.0, "message": msg})

    def close(self) -> None: ...
