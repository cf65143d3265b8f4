"""Tier C's read path: find a skill for a request, run it, and check what came of it (ShardMemo, Algorithm 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from rebind.memory.shard.scope import Scope
from rebind.memory.skill.execute import Caller, Execution, execute
from rebind.memory.skill.library import Library, Source, Version
from rebind.memory.skill.preconditions import fits, precondition
from rebind.memory.skill.reads import only_reads
from rebind.memory.skill.request import masked, named, read_values
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
    """What is left out of a read; all but τ_C and R are ours.

    `least`: τ_C, below which no skill counts as one for the request; fit it with `tuning.fit_least`. `trusted`:
    reliability below which a version is not used: it failed, and never held. `near`: share of the best score, and of
    the best reliability among what is left, that a skill must reach to be handed on beside the best. `named`: share of
    the score that is how far the request names what the skill calls; the rest is similarity. `r`: R. `learn`: whether
    uses count for reliability; not where no request may have a say in another."""

    least: float = 0.0
    trusted: float = 0.4
    near: float = 0.8
    named: float = 0.0
    r: int = 3
    learn: bool = True


TRYING = Settings(near=0.0, trusted=0.0)
"""What a library learns by: nothing is passed over because something else is nearer or surer, nor because it failed:
what is never tried again could not show that it holds."""


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

    def ranked(self, goal: str, scope: Scope, without: Source | None = None) -> list[tuple[Version, float]]:
        """U_t: the R current skills that score best for the goal, without those that `Settings` leave out. What is left
        counts as equally reliable; of it what does most in one call comes first, then what scores higher. `without`:
        what the library is taken not to have learnt."""
        known = self.library.current(scope, without=without)
        reliability = {v.key: self.library.reliability(v, without) for v in known}
        current = [v for v in known if reliability[v.key] >= self.settings.trusted]
        scored = list(zip(current, self.similarities(goal, current, without), strict=True))
        scored.sort(key=lambda pair: (-pair[1], -len(pair[0].skill.steps), pair[0].key))
        near = self.settings.near
        least = max(self.settings.least, near * scored[0][1]) if scored else 0.0
        best = [(v, s) for v, s in scored if s >= least][: self.settings.r]
        surest = max((reliability[v.key] for v, _ in best), default=0.0)
        sure = [(v, s) for v, s in best if reliability[v.key] >= near * surest]
        return sorted(sure, key=lambda pair: -len(pair[0].skill.steps))

    def similarities(self, goal: str, versions: Sequence[Version], without: Source | None = None) -> list[float]:
        """sim(q, s) for each version: the cosine to the nearest request that any version of it was made from or held
        for, and in part how far the goal names what it calls (see `Settings.named`)."""
        known = [list(map(masked, self.library.requests(v, without))) for v in versions]
        texts = [masked(goal), *(text for own in known for text in own)]
        missing = list(dict.fromkeys(t for t in texts if t not in self._vectors))
        if missing:
            self._vectors |= dict(zip(missing, self._encode(missing), strict=True))
        query = self._vectors[texts[0]]
        share = self.settings.named
        return [
            (1 - share) * max(float(query @ self._vectors[text]) for text in own) + share * named(version.skill, goal)
            for version, own in zip(versions, known, strict=True)
        ]

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
                self.library.record(version, ok=problem is None, request=asked.goal, why=problem or "")
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
