"""Where WebArena's sites are, as browsergym-webarena names the variables that say so."""

from __future__ import annotations

import os

TASK_SITES = ("shopping", "shopping_admin", "reddit", "gitlab", "wikipedia", "map")
SITES = (*TASK_SITES, "homepage")
STATE_VARIABLE = "REBIND_WEBARENA_STATE"
"""Names a file with the logins: what Playwright's `context.storage_state(path=...)` wrote after signing in by hand."""


def variable(site: str) -> str:
    """`shopping_admin` is told by WA_SHOPPING_ADMIN."""
    return f"WA_{site.upper()}"


def addresses() -> dict[str, str]:
    """The sites whose variables are set, without a slash at the end."""
    found = {site: os.environ.get(variable(site), "").strip().rstrip("/") for site in SITES}
    return {site: url for site, url in found.items() if url}
