"""What has to be changed in BrowserGym to run it here, and nothing else."""

from __future__ import annotations

from typing import Any


def apply(chromium: str, flags: list[str]) -> None:
    """To be called before a benchmark's package is imported."""
    from browsergym.core import env

    _launch(chromium, flags)
    env.Chat = Chat


def _launch(chromium: str, flags: list[str]) -> None:
    """This machine's Chromium, not the one that Playwright would fetch."""
    from playwright.sync_api import BrowserType

    stock = BrowserType.launch

    def launch(self: Any, **given: Any) -> Any:
        args = [*(given.pop("args", None) or []), *flags]
        return stock(self, **{**given, "executable_path": chromium, "args": args})

    BrowserType.launch = launch  # type: ignore[method-assign]


class Chat:
    """Takes messages down. The stock one shows them in a browser of its own."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.messages: list[dict[str, Any]] = []

    def add_message(self, role: str, msg: str) -> None:
        if role != "info":
            self.messages.append({"role": role, "timestamp": 0.0, "message": msg})

    def close(self) -> None: ...
