"""What is asked of the package."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from webarena_verified.api import WebArenaVerified
from webarena_verified.types.config import WebArenaVerifiedConfig


def answer(do: str, **arguments: Any) -> Any:
    """See `envs/adapters/answering.py`."""
    return _ANSWERS[do](**arguments)


def _evaluate(task: int, response: Any, har: str, sites: dict[str, str]) -> dict[str, Any]:
    """The package's result for a task: `score`, `status`, `error_msg`, and `evaluators_results`, one for each."""
    official = _official(json.dumps(sites, sort_keys=True))
    result = official.evaluate_task(task_id=task, agent_response=response, network_trace=Path(har))
    found: dict[str, Any] = result.model_dump(mode="json")
    return found


@lru_cache(maxsize=1)
def _official(sites: str) -> WebArenaVerified:
    """The package's own facade, told where each site is."""
    urls = {f"__{name.upper()}__": {"urls": [url]} for name, url in json.loads(sites).items()}
    return WebArenaVerified(config=WebArenaVerifiedConfig.model_validate({"environments": urls}))


_ANSWERS: dict[str, Callable[..., Any]] = {"ready": lambda: None, "evaluate": _evaluate}
