"""Tier C's read path: find a skill for a request, run it, and check what came of it (ShardMemo, Algorithm 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from rebind.memory.shard.scope import Scope
from rebind.memory.skill.execute import Caller, Execution, execute
from rebind.memory.skill.library import Library, Version
from rebind.memory.skill.preconditions import fits, precondition
from rebind.memory.skill.reads import only_reads
from rebind.memory.skill.request import masked, read_values
from rebind.memory.skill.validation import invalid
from rebind.types import Call, Slot

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts to vectors of length 1."""
Row = dict[str, JsonValue]
"""One thing that happened on the way, as a ledger keeps it."""
Given = Callable[[Version, Mapping[str, JsonValue]], Mapping[str, JsonValue]]
"""Asks who calls for values of a version's slots, told those that are known."""


@dataclass(frozen=True)
class Settings:
    """`least`: τ_C, below which no skill counts as one for the request; fit it with `fit_least`. `trusted`: reliability
    below which a version is not used (ours: two failures and no success). `r`: R. `learn`: whether uses count for
    reliability; not where no request may have a say in another."""

    least: float = 0.0
    trusted: float = 0.3
    r: int = 3
    learn: bool = True


@dataclass(frozen=True)
class Asked:
    """A request: its words, what it may see, the tools it may call (None: all), what was observed so far."""

    goal: str
    scope: Scope
    tools: frozenset[str] | None = None
    seen: Sequence[Call] = ()


@dataclass(frozen=True)
class Reading:
    """What came of a read. Not `ok`: the request goes to Tier B, with the budget it came with."""

    ok: bool
    version: Version | None = None
    values: Mapping[str, JsonValue] = field(default_factory=dict)
    execution: Execution | None = None


class TierC:
    """Reads skills out of a library. `encode` is asked for requests with their values masked, so that a skill is found
    by what it does and not by whom it was done for; vectors of stored requests are kept."""

    def __init__(self, library: Library, encode: Encode, settings: Settings | None = None) -> None:
        self.library = library
        self.settings = settings or Settings()
        self._encode = encode
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def ranked(self, goal: str, scope: Scope) -> list[tuple[Version, float]]:
        """U_t: the R current skills most similar to the goal, those below τ_C or not to be trusted left out, the most
        reliable first, of equals the most similar, and of those the longest. Similarity is the cosine to the nearest
        request of any of the skill's versions."""
        current = [v for v in self.library.current(scope) if self.library.reliability(v) >= self.settings.trusted]
        scored = list(zip(current, self.similarities(goal, current), strict=True))
        scored.sort(key=lambda pair: (-pair[1], -len(pair[0].skill.steps), pair[0].key))
        best = [(v, s) for v, s in scored if s >= self.settings.least][: self.settings.r]
        return sorted(best, key=lambda pair: -self.library.reliability(pair[0]))

    def similarities(self, goal: str, versions: Sequence[Version]) -> list[float]:
        """sim(q, s) for each version."""
        texts = [masked(goal), *(masked(r.text) for v in versions for r in v.requests)]
        missing = list(dict.fromkeys(t for t in texts if t not in self._vectors))
        if missing:
            self._vectors |= dict(zip(missing, self._encode(missing), strict=True))
        query = self._vectors[texts[0]]
        return [max(float(query @ self._vectors[masked(r.text)]) for r in v.requests) for v in versions]

    def read(
        self, asked: Asked, call: Caller, given: Given | None = None, on_row: Callable[[Row], None] = lambda _: None
    ) -> Reading:
        """Walks down U_t and runs the first skill whose slots can be filled and whose preconditions hold. If what comes
        back is not what it should be, the next is tried, unless something was written: then the state is no longer
        the one that was asked about."""
        found = self.ranked(asked.goal, asked.scope)
        on_row({"what": "ranked", "skills": [v.key for v, _ in found], "similarities": [round(s, 4) for _, s in found],
                "reliabilities": [round(self.library.reliability(v), 4) for v, _ in found]})  # fmt: skip
        for version, _ in found:
            values, sources = self._values(version, asked, given)
            on_row({"what": "slots", "skill": version.key, "from": dict(sources)})
            problem = precondition(version.skill, values, asked.tools)
            if problem:
                on_row({"what": "precondition", "skill": version.key, "problem": problem})
                continue
            execution = execute(version.skill, values, call)
            problem = invalid(version.skill, execution)
            on_row({"what": "validation", "skill": version.key, "calls": len(execution.calls), "problem": problem})
            if self.settings.learn:
                self.library.record(version, ok=problem is None, why=problem or "")
            if problem is None:
                return Reading(True, version, values, execution)
            if any(c.ok and not only_reads(c.tool) for c in execution.calls):
                break
        on_row({"what": "fallback", "to": "evidence"})
        return Reading(False)

    def _values(
        self, version: Version, asked: Asked, given: Given | None
    ) -> tuple[dict[str, JsonValue], dict[str, JsonValue]]:
        """Values for slots, and where each is from: the goal's words, what was observed, or who calls."""
        slots = version.skill.slots
        said = read_values(slots, version.requests, asked.goal)
        seen = {s.name: v for s in slots if s.name not in said and (v := observed(s, asked.seen)) is not None}
        known: dict[str, JsonValue] = {**seen, **said}
        told = dict(given(version, known)) if given else {}
        values = {**told, **known}
        sources: dict[str, JsonValue] = {
            s.name: "query" if s.name in said else "observation" if s.name in seen else "caller" if s.name in told
            else "missing"
            for s in slots
        }  # fmt: skip
        return values, sources


def observed(slot: Slot, seen: Sequence[Call]) -> JsonValue:
    """The one value that results have shown under a slot's name; None where there is none, or more than one. Only slots
    that are to be looked up are filled so."""
    if slot.provenance != "observation" or slot.type == "json":
        return None
    found: list[JsonValue] = []
    for made in seen:
        for value in _under(made.result, slot.name):
            if value not in found and fits(slot, value):
                found.append(value)
    return found[0] if len(found) == 1 else None


def _under(value: JsonValue, key: str) -> list[JsonValue]:
    if isinstance(value, dict):
        inner = [one for v in value.values() for one in _under(v, key)]
        return [value[key], *inner] if key in value else inner
    return [one for item in value for one in _under(item, key)] if isinstance(value, list) else []


def fit_least(similarities: Sequence[float], valid: Sequence[bool], precision: float = 0.95) -> float:
    """τ_C: the least similarity from which on at least `precision` of what was retrieved was valid (design: formulas).
    Where there is none, the one with the best F1, the least of equals (ours); infinite where nothing was valid. Fit it
    on the induction split."""
    order = sorted(zip(similarities, valid, strict=True), reverse=True)
    least, best, good = float("inf"), (0.0, 0.0), 0
    for count, (similarity, held) in enumerate(order, 1):
        good += held
        if count < len(order) and order[count][0] == similarity:
            continue
        if good / count >= precision:
            least = similarity
        best = max(best, (2 * good / (count + sum(valid)), -similarity))
    if least < float("inf") or not good:
        return least
    return -best[1]
