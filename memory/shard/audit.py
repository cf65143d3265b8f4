"""The audit trail: for each request, what it was refused and by which event."""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from rebind.memory.shard.scope import FIELDS, MayRead, Scope
from rebind.memory.shard.store import Store
from rebind.types import Frozen

_LABEL = FIELDS.index("label")


class Refusal(Frozen):
    """A label that a request would have met, and that its principal does not hold."""

    principal: str
    label: str
    reason: str


class Auditor:
    """Writes one line a request into a file of this process's own, so that readers do not wait for one another.

    The trail says nothing of the request but its hash, and nothing of the refused items but their label.
    """

    def __init__(self, store: Store, folder: Path | None = None) -> None:
        """`folder`: where the trail is kept; the store's own where not given."""
        self._store = store
        self._path = (folder or store.folder / "audit") / f"{os.getpid()}-{time.time_ns()}.jsonl"

    def refusals(self, scope: Scope) -> tuple[Refusal, ...]:
        """What a scope is refused now: labels of items that everything else in the scope admits."""
        principals = [p.principal for p in scope.predicates if isinstance(p, MayRead)]
        if not principals:
            return ()
        admitted = self._store.admit(scope.without("permission"))
        codes: set[int] = set()
        for part in admitted.parts:
            shared = part.view.shard_codes[_LABEL, part.shards]
            codes.update(int(code) for code in np.unique(shared[shared >= 0]))
            for inner in np.flatnonzero(shared < 0):
                codes.update(int(c) for c in np.unique(part.view.item_codes[_LABEL, part.rows(int(inner))]))
        labels = sorted(self._store.names[_LABEL].name(code) for code in codes)
        rights = self._store.rights
        return tuple(
            Refusal(principal=principal, label=label, reason=rights.reason(principal, label))
            for principal in principals
            for label in labels
            if label and label not in rights.held.get(principal, frozenset())
        )

    def record(self, request: str, scope: Scope) -> tuple[Refusal, ...]:
        """Writes what a request is refused; returns it."""
        refused = self.refusals(scope)
        line: dict[str, Any] = {
            "at": time.time(),
            "request": hashlib.sha256(request.encode()).hexdigest(),
            "scope": scope.model_dump(mode="json"),
            "events": self._store.events,
            "refused": [refusal.model_dump() for refusal in refused],
        }
        with self._path.open("ab") as file:
            file.write(json.dumps(line, ensure_ascii=False, sort_keys=True).encode() + b"\n")
        return refused
