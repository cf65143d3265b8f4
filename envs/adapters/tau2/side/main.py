"""What is asked of the package."""

from __future__ import annotations

from typing import Any

from loguru import logger

from .episode import Episodes
from .tau_bench import Recorded

_EPISODE = ("start", "call", "say", "verify", "play")


logger.remove()
_opened: dict[str, Any] = {}


def answer(do: str, **arguments: Any) -> Any:
    """See `envs/adapters/answering.py`."""
    if do == "recorded":
        _opened["recorded"] = Recorded(**arguments)
        return None
    if do == "replay":
        return _opened["recorded"].replay(**arguments)
    if do not in _EPISODE:
        raise ValueError(f"no question named {do!r}")
    episodes = _opened.setdefault("episodes", Episodes())
    return getattr(episodes, do)(**arguments)
