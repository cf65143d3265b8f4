"""Model answers by content: one small file each, safe to share between processes and to delete at any time."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path

from pydantic import ValidationError

from rebind.agents.endpoint import Endpoint
from rebind.types import Completion, Request


def answer_key(request: Request, endpoint: Endpoint) -> str | None:
    """Where the answer to a request is kept; None for one that asks for a fresh sample (no seed, no zero
    temperature)."""
    if request.decoding.seed is None and request.decoding.temperature > 0:
        return None
    asked = {"request": request.model_dump(mode="json"), "endpoint": endpoint.known_by}
    # Sorted JSON rather than RFC 8785, which takes milliseconds on a long prompt: nobody else computes this hash.
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


class ResponseCache:
    """Completions under `folder`, by hex digest of what was asked."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: str) -> Completion | None:
        """The stored answer as a replay: its logical usage stands, it has no attempts, so it bills nothing."""
        try:
            stored = Completion.model_validate_json(self._file(key).read_bytes())
        except (FileNotFoundError, ValidationError):  # the latter: written by another version
            return None
        return stored.model_copy(update={"attempts": (), "replayed": True})

    def put(self, key: str, completion: Completion) -> None:
        """Stores an answer; a reader sees it whole or not at all."""
        file = self._file(key)
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=file.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(completion.model_dump_json())
        os.replace(draft, file)

    def _file(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"
