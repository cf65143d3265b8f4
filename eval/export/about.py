"""What every export says of the run it was made from, and the small conversions that several formats share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rebind.eval.attempts import EndedAttempt, Json
from rebind.eval.ledger import read_manifest
from rebind.eval.lock import LOCK_FILE

SIMULATED = "simulated: a scripted model of the harness acted, so no number here is a result"


def provenance(folder: Path, plan: Json) -> dict[str, Any]:
    """The run's name, lock and Merkle root (None while the run is not finished), and whether its model is simulated.

    Raises:
        LedgerError: the manifest cannot be read, or was edited.
    """
    manifest = read_manifest(folder)
    return {
        "run": plan["name"],
        "lock": plan["lock"],
        "merkle_root": manifest.merkle_root if manifest else None,
        "simulated": bool(plan["simulated"]),
    }


def study_lock(folder: Path) -> dict[str, Any] | None:
    """The content of the run's study.lock; None where the folder has none."""
    try:
        found = json.loads((folder / LOCK_FILE).read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def facts(attempt: EndedAttempt) -> dict[str, Any]:
    """Where an episode stands in the study and how it ended, without anything the verifier said in words."""
    episode, seal = attempt.episode, attempt.target["seal"]
    support = attempt.data("support") or {}
    return {
        "cell": episode.cell.id,
        "attempt": episode.attempt,
        "target": episode.cell.target,
        "environment": attempt.target["task"]["env"],
        "family": seal["family"],
        "level": seal["level"],
        "source": seal["source"],
        "condition": episode.cell.condition,
        "seed": episode.cell.seed,
        "record": attempt.selection.get("chosen"),
        "support_flags": list(support.get("flags", ())),
        "outcome": episode.outcome,
        "ending": episode.ending,
        "success": episode.success,
        "milestone": episode.milestone,
        "steps": episode.steps,
        "api_calls": episode.api_calls,
        "seconds": episode.seconds,
        "tokens": episode.tokens.model_dump(mode="json"),
        "earlier_attempts": [f"{before.outcome}: {error}" for before, error in attempt.before],
        "ledger_hash": attempt.end.hash,
    }


def began(row: Json, at: float) -> tuple[float, float]:
    """When a model call began and ended (Unix seconds), by its attempts; `at`, when it was recorded, where it has none
    (answers from the cache)."""
    attempts = row["attempts"]
    if not attempts:
        return at, at
    first, last = attempts[0]["started"], attempts[-1]
    return min(first, at), max(first, min(at, last["started"] + last["ms"] / 1000))


def cost(row: Json) -> float | None:
    """US dollars of a call's attempts; None where one has no known price."""
    prices = [attempt["cost"] for attempt in row["attempts"]]
    return None if None in prices else float(sum(prices))


def moment(at: float) -> datetime:
    """A moment of the ledger, as one with a time zone."""
    return datetime.fromtimestamp(at, UTC)


def action_name(action: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """An action as a function call: its tool and arguments, or "python" and the code."""
    return ("python", {"code": action["code"]}) if "code" in action else (action["tool"], dict(action["args"]))
