"""Where what may be deleted at any time is kept between runs."""

from __future__ import annotations

import os
from pathlib import Path


def user_cache() -> Path:
    """`rebind` in the user's cache (XDG Base Directory): `$XDG_CACHE_HOME/rebind`, else `~/.cache/rebind`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rebind"


def worlds_cache() -> Path:
    """For what the environments build: `$REBIND_CACHE`, else `user_cache()`."""
    own = os.environ.get("REBIND_CACHE")
    return Path(own) if own else user_cache()
