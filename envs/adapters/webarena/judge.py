"""The official evaluators of `webarena-verified`, in a process of their own: offline, and without a model."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from rebind.envs.adapters.lines import Refused, Side
from rebind.envs.adapters.webarena.install import start
from rebind.envs.browser.recording import UNTOLD
from rebind.errors import EnvironmentFailure

_START_SECONDS, _SECONDS = 120.0, 30.0
_SITE = re.compile(r"__(\w+?)__")
"""How the package names a site in an address."""


@dataclass(frozen=True)
class Part:
    """What one evaluator says."""

    name: str
    passed: bool
    unwanted: bool
    """True where it looks for a request that must not have been made."""
    expected: JsonValue
    why: str
    """Empty where it passed."""


@dataclass(frozen=True)
class Judgement:
    """What the package says of a run: 1.0 where all parts passed, else 0.0."""

    score: float
    parts: tuple[Part, ...]


class Judge:
    """Evaluates runs of the package's tasks. Starts its process when first asked. For one thread at a time."""

    def __init__(self) -> None:
        self._side: Side | None = None

    def start(self) -> None:
        """Waits until the process is there. Raises UserError where the package is not installed."""
        if self._side is None:
            self._side = start()
            self._side.ask("ready", seconds=_START_SECONDS)

    def evaluate(
        self, task: int, response: JsonValue, har: Mapping[str, Any] | Path, sites: Mapping[str, str]
    ) -> Judgement:
        """Judges a run: what the agent answered (text, or an object), and what its browser sent, as HAR. `sites`: the
        address of each, by the package's names (`gitlab`, `shopping_admin`).

        Raises:
            EnvironmentFailure: it cannot be judged: no such task, an empty or broken recording, a dead process, or a
                failed part that looks for the body of a request, where the recording lacks such a body.
        """
        if isinstance(har, Path):
            return self._ask(task, response, har, sites)
        if not har["log"]["entries"]:
            raise EnvironmentFailure(f"task {task} cannot be judged: the recording holds no request")
        handle, name = tempfile.mkstemp(prefix="rebind-webarena-", suffix=".har")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(har, file)
            found = self._ask(task, response, Path(name), sites)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(name)
        lacking = next(_lacking(found, har, sites), None)
        if lacking:
            raise EnvironmentFailure(f"task {task} cannot be judged: the browser does not tell the body of {lacking}")
        return found

    def close(self) -> None:
        """Ends the process; another one is started when asked again."""
        if self._side is not None:
            self._side.close()
        self._side = None

    def _ask(self, task: int, response: JsonValue, har: Path, sites: Mapping[str, str]) -> Judgement:
        self.start()
        assert self._side is not None
        question = {"task": task, "response": response, "har": str(har.resolve()), "sites": dict(sites)}
        try:
            found = self._side.ask("evaluate", seconds=_SECONDS, **question)
        except Refused as refused:
            raise EnvironmentFailure(f"webarena-verified could not judge task {task}: {refused}") from None
        except EnvironmentFailure:
            self.close()
            raise
        if found["error_msg"]:
            raise EnvironmentFailure(f"webarena-verified could not judge task {task}: {found['error_msg']}")
        return Judgement(float(found["score"]), tuple(map(_part, found["evaluators_results"])))


def _lacking(found: Judgement, har: Mapping[str, Any], sites: Mapping[str, str]) -> Iterator[str]:
    """Requests whose body nobody told, of the method and site of a request that a failed part looked for by its body:
    each may be the one. (No task forbids a request by its body.)"""
    for part in found.parts:
        looked = part.expected if isinstance(part.expected, dict) and not part.passed else {}
        named = _SITE.search(json.dumps(looked.get("url")))
        if named is None or not looked.get("post_data"):
            continue
        for request in (entry["request"] for entry in har["log"]["entries"]):
            untold = request.get("postData", {}).get("comment") == UNTOLD
            here = request["url"].startswith(sites[named[1].lower()])
            if untold and here and request["method"] == looked.get("http_method"):
                yield f"{request['method']} {request['url']}"


def _part(found: Mapping[str, Any]) -> Part:
    said = [line for one in found["assertions"] or () for line in (one["assertion_msgs"] or ())]
    passed = found["score"] == 1.0
    why = "" if passed else "; ".join(said) or found["error_msg"] or "failed"
    return Part(found["evaluator_name"], passed, bool(found["should_not_exist"]), found["expected"], why)
