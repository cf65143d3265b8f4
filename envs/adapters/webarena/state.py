"""The user's logins to WebArena's sites."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from rebind.envs.adapters.webarena.sites import STATE_VARIABLE
from rebind.errors import UserError


def logins() -> dict[str, Any] | None:
    """The storage state of Playwright's that the user's file holds; None where no file is named.

    Raises:
        UserError: the file holds none, or cookies that have expired.
    """
    named = os.environ.get(STATE_VARIABLE)
    if not named:
        return None
    try:
        state: dict[str, Any] = json.loads(Path(named).read_text(encoding="utf-8"))
        old = [c["name"] for c in state["cookies"] if 0 < c.get("expires", -1) < time.time()]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{STATE_VARIABLE}={named} is no storage state of Playwright: {error}") from None
    if old:
        raise UserError(f"{named} holds expired logins ({', '.join(old)}); sign in and make it again")
    return state
