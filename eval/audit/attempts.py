"""Attempts and cells: none missing, deleted or doubled; one decoding for all; whole prompts; tokens that add up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rebind.eval.audit.facts import Facts, gone
from rebind.eval.audit.findings import Findings
from rebind.eval.tokens import identity_violations
from rebind.types import Event, TokenAccount

_COUNTED = ("usage", "mem_tokens", "attempts", "replayed", "finish")
"""Fields of a call that the token account needs."""


@dataclass
class _Open:
    """An attempt that has begun and not ended."""

    started: Event
    calls: list[Mapping[str, Any]] = field(default_factory=list)
    support: Mapping[str, Any] = field(default_factory=dict)
    prompt: int | None = 0
    """Messages of the last call's prompt; None where they are redacted."""
    steps: int = 0
    api_calls: int = 0
    judged: bool = False
    countable: bool = True
    """False where steps or tokens cannot be counted for what is redacted."""


class Attempts:
    """Follows every attempt from its start to its end. `finished`: the run's manifest is written, so that nothing may
    still be under way."""

    def __init__(self, facts: Facts, findings: Findings, finished: bool) -> None:
        self._facts, self._findings, self._finished = facts, findings, finished
        self._begun: dict[str, int] = defaultdict(int)
        self._open: dict[tuple[str, int], _Open] = {}
        self._ended: dict[str, list[str]] = defaultdict(list)
        """Outcomes of ended attempts, by cell."""
        self._model: str | None = None

    def take(self, event: Event) -> None:
        if event.cell is None or event.attempt is None:
            return
        key = event.cell, event.attempt
        if event.kind == "start":
            self._start(event, *key)
            return
        attempt = self._open.get(key)
        if attempt is None:
            self._findings.add("deleted_attempts", f"{_name(*key)} has no start", event.n, event.kind)
            return
        self._inside(event, attempt)
        if event.kind == "episode" or (event.kind == "note" and "abandoned" in event.data):
            del self._open[key]

    def close(self) -> None:
        """What only shows at the end: cells without an episode, attempts without an end."""
        for (cell, number), attempt in self._open.items():
            if self._finished or number + 1 < self._begun[cell]:
                what = f"{_name(cell, number)} has neither an end nor a note that explains it"
                self._findings.add("deleted_attempts", what, attempt.started.n, "start")
        for planned in self._facts.cells():
            if planned.id not in self._ended:
                self._findings.add("missing_cells", f"cell {planned.id} has no episode")
        for name, outcomes in self._ended.items():
            if outcomes.count("valid") > 1:
                self._findings.add("doubled_cells", f"cell {name} has {outcomes.count('valid')} valid episodes")

    def _start(self, event: Event, cell: str, number: int) -> None:
        for missing in range(self._begun[cell], number):
            self._findings.add("deleted_attempts", f"{_name(cell, missing)} is missing", event.n, event.kind)
        if number < self._begun[cell]:
            self._findings.add("deleted_attempts", f"{_name(cell, number)} begins again", event.n, event.kind)
        self._begun[cell] = max(self._begun[cell], number + 1)
        self._open[cell, number] = _Open(event)

    def _inside(self, event: Event, attempt: _Open) -> None:
        data: dict[str, Any] = event.data
        attempt.countable = attempt.countable and not gone(event, "calls", "completions", *_COUNTED)
        match event.kind:
            case "support":
                attempt.support = data
            case "call":
                self._call(event, data, attempt)
            case "step":
                attempt.steps += 1
                attempt.api_calls += 0 if gone(event, "calls") else len(data["calls"])
            case "verdict":
                attempt.judged = True
            case "episode":
                self._episode(event, data, attempt)
            case _:
                pass

    def _call(self, event: Event, data: dict[str, Any], attempt: _Open) -> None:
        if gone(event, "index", "kept", "messages"):
            self._findings.skipped["prompts"] += 1
            attempt.prompt = None
        elif data["index"] != len(attempt.calls) or (attempt.prompt is not None and data["kept"] > attempt.prompt):
            what = f"call {data['index']} stands where call {len(attempt.calls)} was due"
            if data["index"] == len(attempt.calls):
                what = f"call {data['index']} keeps {data['kept']} messages of a prompt of {attempt.prompt}"
            self._findings.add("broken_prompts", what, event.n, event.kind)
        if not gone(event, "kept", "messages"):
            attempt.prompt = data["kept"] + len(data["messages"])
        attempt.calls.append({name: data[name] for name in _COUNTED})
        self._findings.checked["calls"] += 1
        self._decoding(event, data)

    def _decoding(self, event: Event, data: dict[str, Any]) -> None:
        """A call's decoding is the plan's with the seed of its cell, and its model the one of all calls."""
        assert event.cell is not None  # the caller asked
        if gone(event, "decoding", "model"):
            self._findings.skipped["decodings"] += 1
            return
        self._model = self._model or data.get("model")
        planned = {**self._facts.plan["decoding"], "seed": int(event.cell.rpartition("/")[2])}
        for name, said, due in (
            ("decoding", data.get("decoding"), planned),
            ("model", data.get("model"), self._model),
        ):
            if said is None or said != due:
                self._findings.add("decoding_differs", f"its {name} is {said}, due was {due}", event.n, event.kind)

    def _episode(self, event: Event, data: dict[str, Any], attempt: _Open) -> None:
        assert event.cell is not None  # the caller asked
        self._ended[event.cell].append(data["outcome"])
        self._findings.checked["episodes"] += 1
        if gone(event) or not attempt.countable:
            self._findings.skipped["episodes"] += 1
            return
        said = (data["steps"], data["api_calls"])
        if said != (attempt.steps, attempt.api_calls) or (data["outcome"] == "valid" and not attempt.judged):
            what = f"says {said[0]} steps and {said[1]} API calls, its events {attempt.steps} and {attempt.api_calls}"
            what = what if said != (attempt.steps, attempt.api_calls) else "is valid without a verdict"
            self._findings.add("deleted_attempts", f"the episode {what}", event.n, event.kind)
        account = TokenAccount.model_validate(data["tokens"])
        for violation in identity_violations(account, attempt.calls, attempt.support):
            self._findings.add("token_identity_violations", violation, event.n, event.kind)


def _name(cell: str, number: int) -> str:
    return f"attempt {number} of cell {cell}"
