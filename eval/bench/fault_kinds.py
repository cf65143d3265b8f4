"""How a ledger has to name each fault that a server injected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rebind.agents.faults import WIRE_FAULTS

Attempt = dict[str, Any]
_TIMED_OUT, _REFUSED = "Timeout", "Connection refused"
NAMES: dict[str | None, tuple[int | None, tuple[str, ...]]] = {
    None: (200, ()),
    "429": (429, ("RateLimitError",)),
    "429-date": (429, ("RateLimitError",)),
    "500": (500, ("simulated 500",)),
    "502-html": (502, ("502",)),
    "503": (503, ("simulated 503",)),
    "529": (529, ("simulated 529",)),
    "down": (None, ("reset by peer", "without response")),
    "reset": (None, ("reset by peer",)),
    "timeout": (None, (_TIMED_OUT,)),
    "drip": (200, (_TIMED_OUT,)),
    "cut": (200, ("peer closed connection",)),
    "malformed": (200, ("JSONDecodeError",)),
    "empty-body": (200, ("JSONDecodeError",)),
    "empty-json": (200, ("no 'choices'",)),
    "no-choices": (200, ("no choices",)),
    "null-content": (200, ("the answer is empty",)),
    "overflow": (400, ("maximum context length",)),
}
"""By fault: the attempt's status, and what its error says (one of these); no text where the attempt is no failure. What
is not listed is an answer like any other."""


def is_providers(fault: str) -> bool:
    """Whether a fault is the provider's doing, which must never count against the agent."""
    return fault in WIRE_FAULTS


def misnamed(fault: str | None, attempt: Attempt, counted: bool) -> str | None:
    """Why an attempt's row does not name what was injected into it; None where it does. `counted`: its request went on
    to be answered by this very attempt."""
    status, texts = NAMES.get(fault, NAMES[None])
    error: str | None = attempt["error"]
    if fault == "null-content" and counted:
        texts = ()  # asked often enough, saying nothing is the model's answer
    if attempt["status"] != status:
        return f"{fault}: its status is {attempt['status']}, not {status}"
    if not texts and error is not None:
        return f"{fault}: is recorded as the error {error[:120]!r}"
    if texts and not any(text in (error or "") for text in texts):
        return f"{fault}: its error is {error!r}, not one of {texts}"
    missing = attempt["usage"]["prompt"] is None
    if not texts and missing != (fault == "no-usage"):
        return f"{fault}: its usage is {'missing' if missing else 'there'}"
    return None


def mismatches(injected: Sequence[str | None], rows: Sequence[dict[str, Any]]) -> list[str]:
    """Sentences for each difference between what a server did to its requests, in order, and the rows of a ledger, in
    order. Connections that were refused reached no server: they stand after a "down" only."""
    found: list[str] = []
    waiting, outage = list(injected), False
    for row in rows:
        for attempt in row["attempts"]:
            if outage and attempt["status"] is None and _REFUSED in (attempt["error"] or ""):
                continue
            if not waiting:
                found.append(f"an attempt that no server saw: {attempt['error']}")
                continue
            fault = waiting.pop(0)
            outage = fault == "down"
            counted = attempt is row["attempts"][-1] and attempt["error"] is None
            if why := misnamed(fault, attempt, counted):
                found.append(why)
    return [*found, *(f"a request with {fault} has no row" for fault in waiting)]
