"""How ToolBench names the functions that an agent calls, from the names of tools and APIs."""

from __future__ import annotations

import re

_LONGEST = 64
_RESERVED = frozenset({"from", "class", "return", "false", "true", "id", "and"})


def standard(name: str) -> str:
    """Lower case, every run of other signs one underscore, none at the ends, no digit first."""
    plain = re.sub(r"_+", "_", re.sub(r"[^\u4e00-\u9fa5a-zA-Z0-9^_]", "_", name)).lower().strip("_")
    return f"get_{plain}" if plain[:1].isdigit() else plain


def argument(name: str) -> str:
    """A parameter's name: standard, and no reserved word."""
    plain = standard(name)
    return f"is_{plain}" if plain in _RESERVED else plain


def function(tool: str, api: str) -> str:
    """`api_for_tool`, its last 64 signs where it is longer."""
    return f"{argument(api)}_for_{standard(tool)}"[-_LONGEST:]
