"""Tier C's read path: find a skill for a request, run it, and check what came of it (ShardMemo, Algorithm 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from rebind.memory.shard.scope import Scope
from rebind.memory.skill.choose import chosen
from rebind.memory.skill.execute import Caller, Execution, execute
from rebind.memory.skill.library import Library, Source, Version
from rebind.memory.skill.odds import Odds
from rebind.memory.skill.preconditions import fits, otherwise_flagged, precondition
from rebind.memory.skill.reads import only_reads
from rebind.memory.skill.rehearse import rehearsed
from rebind.memory.skill.request import read_values
from rebind.memory.skill.traits import Encode, Known, Texts, similarity, traits
from rebind.memory.skill.validation import invalid
from rebind.types import Call, Slot

Row = dict[str, JsonValue]
"""One thing that happened on the way, as a ledger keeps it."""
Given = Callable[[Version, Mapping[str, JsonValue]], Mapping[str, JsonValue]]
"""Asks who calls for values of a version's slots, told those that are known."""


@dataclass(frozen=True)
class Settings:
    """What is handed on; all but τ_C and R are ours.

    `least`: τ_C, below which no skill is likely enough to be handed on. `worth`: what the share of calls saved counts
    beside precision. `odds`: how likely a skill with some traits is valid; where it is not fitted, similarity times
    reliability stands for that. `tuning.Tuning` fits it and τ_C. `r`: R. `learn`: whether uses count for reliability;
    not where no request may have a say in another."""

    least: float = 0.0
    worth: float = 1.25
    odds: Odds | None = None
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
    """Reads skills out of a library; vectors of texts are kept."""

    def __init__(self, library: Library, encode: Encode, settings: Settings | None = None) -> None:
        self.library = library
        self.settings = settings or Settings()
        self._texts = Texts(encode)

    def ranked(self, goal: str, scope: Scope, without: Source | None = None) -> list[tuple[Version, float]]:
        """U_t: at most R current skills, each with how likely it is valid, what does most in one call first (see
        `choose.chosen`). `without`: what the library is taken not to have learnt."""
        versions, known = self.known(goal, scope, without)
        odds = self.odds(goal, known)
        found = chosen(odds, [saves(v) for v in versions], self.settings.least, self.settings.worth, self.settings.r)
        return [(versions[n], odds[n]) for n in found]

    def nearest(self, goal: str, scope: Scope, without: Source | None = None) -> list[Version]:
        """The R current skills that are most similar: what a library tries to learn by, whatever came of them before,
        for what is never tried again could not show that it holds."""
        versions, known = self.known(goal, scope, without)
        scores = [similarity(goal, one.requests, self._texts) for one in known]
        order = sorted(range(len(versions)), key=lambda n: (-scores[n], versions[n].key))
        return [versions[n] for n in order[: self.settings.r]]

    def known(self, goal: str, scope: Scope, without: Source | None = None) -> tuple[list[Version], list[Known]]:
        """The current skills that a request may see, by key, and what is known of each; without those that have fixed
        what it asks for otherwise (see `preconditions.otherwise_flagged`)."""
        versions: list[Version] = []
        found: list[Known] = []
        for version in sorted(self.library.current(scope, without=without), key=lambda one: one.key):
            requests = self.library.requests(version, without)
            if requests and not otherwise_flagged(version.skill, requests, goal):
                versions.append(version)
                held, failed = self.library.record_of(version.identity, without)
                found.append(Known(version.skill, requests, held, failed))
        return versions, found

    def traits(self, goal: str, known: Sequence[Known]) -> NDArray[np.float64]:
        """See `traits.traits`."""
        return traits(goal, known, self._texts)

    def odds(self, goal: str, known: Sequence[Known]) -> list[float]:
        """How likely each is valid, 0 to 1."""
        if self.settings.odds is None or not known:
            return [max(0.0, similarity(goal, one.requests, self._texts)) * one.reliability for one in known]
        return [float(one) for one in self.settings.odds.of(self.traits(goal, known))]

    def read(
        self, asked: Asked, call: Caller, given: Given | None = None, on_row: Callable[[Row], None] = lambda _: None
    ) -> Reading:
        """Walks down U_t and runs the first skill whose slots can be filled, whose preconditions hold and whose
        look-ups, made before anything is written, find what it needs. If what comes back is not what it should be, the
        next is tried, unless something was written: then the state is no longer the one that was asked about."""
        found = self.ranked(asked.goal, asked.scope)
        on_row({"what": "ranked", "skills": [v.key for v, _ in found], "odds": [round(s, 4) for _, s in found],
                "reliabilities": [round(self.library.reliability(v), 4) for v, _ in found]})  # fmt: skip
        for version, _ in found:
            values, sources = self._values(version, asked, given)
            on_row({"what": "slots", "skill": version.key, "from": dict(sources)})
            problem = precondition(version.skill, values, asked.tools)
            if problem:
                on_row({"what": "precondition", "skill": version.key, "problem": problem})
                continue
            problem = rehearsed(version.skill, values, call)
            if problem:
                on_row({"what": "rehearsal", "skill": version.key, "problem": problem})
                self._learn(version, asked.goal, problem)
                continue
            execution = execute(version.skill, values, call)
            problem = invalid(version.skill, execution)
            on_row({"what": "validation", "skill": version.key, "calls": len(execution.calls), "problem": problem})
            self._learn(version, asked.goal, problem)
            if problem is None:
                return Reading(True, version, values, execution)
            if any(c.ok and not only_reads(c.tool) for c in execution.calls):
                break
        on_row({"what": "fallback", "to": "evidence"})
        return Reading(False)

    def _learn(self, version: Version, request: str, problem: str | None) -> None:
        if self.settings.learn:
            self.library.record(version, ok=problem is None, request=request, why=problem or "")

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


def saves(version: Version) -> int:
    """Calls that one call of a skill saves, as far as can be told before."""
    return len(version.skill.steps) - 1


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
