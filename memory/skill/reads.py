"""Which tools only read, judged by their names; whatever is not known to read is taken to write."""

from __future__ import annotations

_READING = frozenset({
    "search", "list", "show", "read", "get", "find", "fetch", "query", "lookup", "view", "check", "describe", "count",
    "login", "profile", "messages", "transactions", "cart", "orders", "wishlist", "reviews", "free",
})  # fmt: skip
_FINISH = ("complete_task", "send_msg_to_user", "report_infeasible")


def only_reads(tool: str) -> bool:
    """Whether a tool called `app_verb…` reads and changes nothing, by the first word of its verb."""
    words = tool.split("_")
    verb = words[1:] or words
    if verb[0] == "docs":  # api_docs_show: the app's own name has two words
        verb = verb[1:] or verb
    return verb[0] in _READING


def app_of(tool: str) -> str:
    """The app that a tool called `app_verb…` belongs to."""
    return tool.partition("_")[0]


def finishes(tool: str) -> bool:
    """Whether a tool declares a task done."""
    return tool.endswith(_FINISH)
