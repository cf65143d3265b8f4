"""What is asked of the package."""

from __future__ import annotations

import os
from typing import Any

_opened: dict[str, Any] = {}


def answer(do: str, **arguments: Any) -> Any:
    """See `envs/adapters/answering.py`."""
    if do == "open":
        for site, url in arguments["sites"].items():  # the packages read both when they are imported
            os.environ[f"WA_{site.upper()}"] = os.environ[site.upper()] = url
        from .patches import apply

        apply(arguments["chromium"], arguments["flags"])
        from .episode import Episode

        _opened["episode"] = Episode()
        return None
    return getattr(_opened["episode"], do)(**arguments)
