"""AppWorld's API docs: tools to name in the prompt, and the API behind a logged request."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from rebind.envs.adapters.appworld.tasks import AppWorldTask
from rebind.types import ToolSpec

_NAMED = ("api_docs", "supervisor")
"""Apps whose APIs are named in the prompt; `api_docs` tells of all others."""


def specs(task: AppWorldTask) -> tuple[ToolSpec, ...]:
    """The named apps' APIs, each under `app__api`."""
    found = []
    for app in _NAMED:
        path = task.root / "data" / "api_docs" / "function_calling" / f"{app}.json"
        for row in json.loads(path.read_text(encoding="utf-8")):
            said = row["function"]
            found.append(ToolSpec(name=said["name"], description=said["description"], parameters=said["parameters"]))
    return tuple(found)


def api_of(task: AppWorldTask, row: dict[str, Any]) -> str:
    """`app__api` of a logged request (`method`, `url`); the request itself where no API has that form."""
    app, _, rest = row["url"].lstrip("/").partition("/")
    for method, pattern, name in _routes(task.root / "data" / "api_docs" / "standard" / f"{app}.json"):
        if method == row["method"].lower() and pattern.fullmatch(f"/{rest}"):
            return f"{app}__{name}"
    return f"{row['method']} {row['url']}"


@lru_cache(maxsize=32)
def _routes(path: Path) -> tuple[tuple[str, re.Pattern[str], str], ...]:
    """Method, path and name of an app's APIs, those with fewest places first."""
    docs = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    rows = sorted(docs.values(), key=lambda one: one["path"].count("{"))
    return tuple(
        (one["method"].lower(), re.compile(_pattern(one["app_name"], one["path"])), one["api_name"]) for one in rows
    )


def _pattern(app: str, path: str) -> str:
    tail = path.removeprefix(f"/{app}")
    return re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(tail))
