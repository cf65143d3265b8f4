"""Answers to calls as they were recorded; what was not recorded is an explicit miss, never an invention."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
from pydantic import JsonValue

from rebind.canon import digest
from rebind.envs.toolbench.trace import RecordedCall, Trace
from rebind.errors import EnvironmentFailure

CUT = " … [the recorded answer is cut here]"
_BEST = (200, 206, 422)
"""Of several answers to one call, which is given: whole ones first, errors last."""


@dataclass(frozen=True)
class Answer:
    """What a call gives. `status`: 200; 206 where the recording holds no more than the beginning of the answer, and no
    error in that; 422 where the API refused; 404 where nothing was recorded."""

    status: int
    text: str


MISSED = Answer(404, json.dumps({"error": "not recorded", "response": ""}))


class Responses:
    """Recorded answers by function and arguments; of several to one call, the first of the best."""

    def __init__(self, traces: Iterable[Trace]) -> None:
        self._answers: dict[str, Answer] = {}
        for call in (call for trace in traces for call in trace.calls):
            if call.args is not None and (found := _answer(call)):
                key = _key(call.tool, call.args)
                known = self._answers.get(key)
                if known is None or _BEST.index(found.status) < _BEST.index(known.status):
                    self._answers[key] = found

    def __len__(self) -> int:
        return len(self._answers)

    def answer(self, tool: str, args: Mapping[str, JsonValue]) -> Answer:
        """The recorded answer, or `MISSED`."""
        return self._answers.get(_key(tool, args), MISSED)


class Live:
    """ToolBench's own endpoint, for who has a key to it; speaks its request form."""

    def __init__(self, url: str, key: str, seconds: float = 15.0) -> None:
        self._url, self._key, self._seconds = url, key, seconds

    def answer(self, api: tuple[str, str, str], args: Mapping[str, JsonValue]) -> Answer:
        """Calls an API by its category, tool and name. Raises EnvironmentFailure where the endpoint does not answer."""
        category, tool, name = api
        asked: dict[str, Any] = {
            "category": category,
            "tool_name": tool,
            "api_name": name,
            "tool_input": dict(args),
            "strip": "truncate",
            "toolbench_key": self._key,
        }
        try:
            got = httpx.post(
                self._url, json=asked, headers={"toolbench_key": self._key}, timeout=self._seconds, trust_env=False
            )
            got.raise_for_status()
            value = got.json()
        except (httpx.HTTPError, ValueError) as error:
            raise EnvironmentFailure(f"ToolBench's endpoint {self._url} failed: {type(error).__name__}") from error
        refused = isinstance(value, dict) and bool(value.get("error"))
        return Answer(422 if refused else 200, json.dumps(value))


def _answer(call: RecordedCall) -> Answer | None:
    """What a recorded call was answered; None where nothing was."""
    if not call.cut:
        return Answer(200 if call.ok else 422, call.response) if call.response else None
    return Answer(422 if call.ok is False else 206, call.response + CUT)


def _key(tool: str, args: Mapping[str, JsonValue]) -> str:
    return digest([tool, dict(args)])
