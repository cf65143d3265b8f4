"""Where the study locks of several runs differ."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from pydantic import JsonValue

from rebind.eval.lock import LOCK_FILE
from rebind.types import Frozen

_UNTOLD = ("study.name", "target_keys", "cells")
"""Parts of a lock that say the same as others, or nothing."""


class LockDifference(Frozen):
    """A place of the study locks that is not the same in all runs; values by run label, None where it is not there."""

    where: str
    values: dict[str, JsonValue]


def lock_of(folder: Path) -> dict[str, JsonValue] | None:
    """A run's study lock; None where the file is missing or cannot be read."""
    try:
        found = json.loads((folder / LOCK_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def lock_differences(locks: dict[str, dict[str, JsonValue]]) -> Iterator[LockDifference]:
    """Every place at which the locks are not all the same, in the order of the first."""
    flat = {label: dict(_flat("", lock)) for label, lock in locks.items()}
    for where in dict.fromkeys(place for values in flat.values() for place in values):
        values = {label: own.get(where) for label, own in flat.items()}
        if where not in _UNTOLD and len({json.dumps(v, sort_keys=True) for v in values.values()}) > 1:
            yield LockDifference(where=where, values=values)


def _flat(where: str, value: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _flat(f"{where}.{key}" if where else key, inner)
    else:
        yield where, value
