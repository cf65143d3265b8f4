"""What is asked of the package."""

from __future__ import annotations

import importlib
from typing import Any

_opened: dict[str, Any] = {}


def answer(do: str, **arguments: Any) -> Any:
    """See `envs/adapters/answering.py`. `open` names the benchmark, a module of this folder."""
    if do == "open":
        _opened["episode"] = _open(**arguments)
        return None
    return getattr(_opened["episode"], do)(**arguments)


def _open(benchmark: str, chromium: str, flags: list[str], **given: Any) -> Any:
    from .patches import apply

    apply(chromium, flags)
    return importlib.import_module(f".{benchmark}", __package__).opened(**given)
