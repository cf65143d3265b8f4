"""A ledger of any size, written through the real writer: events as long as those of real runs, outcomes planted by a
stated rule. For benchmarks of reading and reporting; nothing in it was measured, and its plan says "simulated"."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from rebind.canon import digest
from rebind.eval.bench.big_texts import SUCCESS, Values, Words, family_of, record_length
from rebind.eval.ledger import Ledger
from rebind.eval.tokens import account
from rebind.types import (
    SHIFT_LEVELS,
    Binding,
    Budget,
    Cell,
    Decoding,
    Episode,
    Milestone,
    Outcome,
    Seal,
    Selection,
    ShiftLevel,
    Task,
    Verdict,
)

CONDITIONS = ("none", "summary", "full", "qcr", "skill")
MEAN_STEPS = {"none": 30, "summary": 25, "full": 27, "qcr": 20, "skill": 23}
"""25 on average."""
MEMORY_TOKENS = {"none": 0, "summary": 260, "full": 2_300, "qcr": 240, "skill": 130}
SEEDS = (0, 1)
ENVIRONMENTS = ("rebind/Apps-v0", "rebind/Desk-v0", "rebind/Sites-v0")
_TOGETHER = 8
"""Episodes whose events are written in turn, as parallel workers do."""
_SHIFTED = {"none": 0, "small": 1, "medium": 2, "large": 4}
"""Bindings that a level changes."""
Line = tuple[Any, dict[str, Any], Cell | None, int | None]
"""Kind, data, cell and attempt of an event."""


@dataclass(frozen=True)
class _Target:
    """A made target and what is planted for it."""

    task: Task
    seal: Seal
    source: Seal
    record: str
    level: ShiftLevel
    number: int


def write_big_ledger(folder: Path, sources: int = 250) -> tuple[int, int]:
    """Writes a finished run of `sources` × 4 levels × 5 conditions × 2 seeds; returns its episodes and steps (25 an
    episode on average). The same number of sources gives the same events, their times apart."""
    words = Words(random.Random(0))
    targets = [_target(words, n, level) for n in range(sources) for level in SHIFT_LEVELS]
    cells = [(t, c, s) for t in targets for c in CONDITIONS for s in SEEDS]
    with Ledger.open(folder) as ledger:
        for line in [*_study(words, targets, sources)]:
            ledger.append(*line)
        for line in _in_turn(_episode(words, *cell) for cell in cells):
            ledger.append(*line)
            if line[0] == "episode" and line[2] and line[2].seed == SEEDS[-1]:
                ledger.commit()
        ledger.seal()
    return len(cells), sum(_steps(t, c, s) for t, c, s in cells)


def _in_turn(episodes: Iterator[Iterator[Line]]) -> Iterator[Line]:
    """The events of several episodes at a time, one of each in turn."""
    running = list(islice(episodes, _TOGETHER))
    while running:
        for events in list(running):
            line = next(events, None)
            if line is None:
                running.remove(events)
                running += islice(episodes, 1)
            else:
                yield line


# --- the study ---


def _target(words: Words, number: int, level: ShiftLevel) -> _Target:
    env, family, record = ENVIRONMENTS[number % 3], family_of(number), f"{number:016x}"
    old = Values.draw(random.Random(number))
    new = old.shifted(_SHIFTED[level], random.Random(f"{number}-{level}"))
    source = _seal(env, family, record, old)
    task = Task(env=env, goal=words.goal(new), state=digest([number, level]), budget=Budget())
    seal = _seal(env, family, task.key, new).model_copy(
        update={"source": record, "level": level, "changed": tuple(new.differs_from(old))}
    )
    return _Target(task, seal, source, record, level, number)


def _seal(env: str, family: str, key: str, values: Values) -> Seal:
    bindings = tuple(Binding(name=n, kind=kind, value=value) for n, (kind, value) in values.all().items())
    return Seal(canary=f"canary-{key[:12]}", env=env, task_key=key, family=family, bindings=bindings)


def _study(words: Words, targets: list[_Target], sources: int) -> Iterator[Line]:
    yield "plan", _plan(targets), None, None
    for target in targets[:: len(SHIFT_LEVELS)]:
        yield "record", _record(words, target), None, None
    for target in targets:
        sealed = {"seal": target.seal.model_dump(mode="json"), "source": target.source.model_dump(mode="json")}
        key = target.task.key
        yield "target", {"target": key, "task": target.task.model_dump(mode="json"), **sealed}, None, None
        found = _candidates(target, sources)
        scores = [0.9 - 0.07 * n for n in range(len(found))]
        query = f"Task: {target.task.goal}\nState: {words.sentence(40)}"
        about = {"query": query, "candidates": found, "scores": scores, "encoder": "planted"}
        yield "retrieval", {"target": key, **about}, None, None
        chosen = target.record if target.record in found and target.number % 12 else found[0]
        selection = Selection(
            target_key=key, candidates=tuple(found), scores=tuple(scores), chosen=chosen, ranker="planted"
        )
        yield "selection", {**selection.model_dump(mode="json"), "request": None, "completion": None}, None, None


def _candidates(target: _Target, sources: int) -> list[str]:
    """The source first for four targets of five, second for most others, now and then not at all."""
    others = [f"{(target.number + step) % sources:016x}" for step in (28, 1, 56, 7, 84)]
    if target.number % 23 == 0:
        return others
    return [target.record, *others[:4]] if target.number % 5 else [others[0], target.record, *others[1:4]]


def _plan(targets: list[_Target]) -> dict[str, Any]:
    name = "simulated/planted"
    return {
        "name": "planted outcomes",
        "lock": "0" * 64,
        "environments": ["apps", "desk", "sites"],
        "conditions": list(CONDITIONS),
        "seeds": list(SEEDS),
        "model": {"actor": name, "writer": name, "ranker": None, "protocol": "json", "grounded": False},
        "decoding": Decoding().model_dump(mode="json"),
        "budget": Budget().model_dump(mode="json"),
        "placement": "turns",
        "attempts": 3,
        "targets": [t.task.key for t in targets],
        "cells": len(targets) * len(CONDITIONS) * len(SEEDS),
        "simulated": True,
    }


def _record(words: Words, target: _Target) -> dict[str, Any]:
    length = record_length(target.number)
    content = {
        "instruction": words.sentence(40),
        "descriptor": " → ".join(words.tools(length)),
        "first_observation": words.sentence(60),
        "steps": [words.step(n, f"r{target.number}", {}) for n in range(length)],
    }
    return {
        "record": target.record,
        "content": content,
        "seal": target.source.model_dump(mode="json"),
        "instruction": content["instruction"],
        "index_text": f"Task: {content['instruction']}\nWorkflow: {content['descriptor']}",
        "effective_actions": length,
        "tokens": 250 * length,
    }


# --- an episode ---


def _steps(target: _Target, condition: str, seed: int) -> int:
    """The two seeds of a target add up to twice the condition's mean."""
    spread = (target.number * 7 + SHIFT_LEVELS.index(target.level)) % 13
    return MEAN_STEPS[condition] + (spread if seed == SEEDS[0] else -spread)


def _episode(words: Words, target: _Target, condition: str, seed: int) -> Iterator[Line]:
    cell = Cell(target=target.task.key, condition=condition, seed=seed)
    luck = random.Random(cell.id)
    attempt = 0
    if luck.random() < 0.02:  # a provider failed first: an attempt of its own
        yield from _failed_attempt(cell)
        attempt = 1
    yield "start", {"cell": cell.model_dump(mode="json"), "attempt": attempt}, cell, attempt
    support = words.support(condition, MEMORY_TOKENS[condition])
    yield "support", support, cell, attempt
    length, rows, api_calls = _steps(target, condition, seed), [], 0
    stale = condition == "full" and luck.random() < (0.0, 0.1, 0.25, 0.45)[SHIFT_LEVELS.index(target.level)]
    used = (target.source if stale else target.seal).values()
    for index in range(length):
        step = words.step(index, f"{target.number}", _shown(index, length, target.seal.values(), used))
        row = words.call(index, step, MEMORY_TOKENS[condition])
        rows.append(row)
        api_calls += len(step["calls"])
        yield "call", row, cell, attempt
        yield "step", {"index": index, **step}, cell, attempt
    yield from _end(target, cell, attempt, luck, (rows, support, length, api_calls))


def _shown(index: int, length: int, target: dict[str, Any], used: dict[str, Any]) -> dict[str, Any]:
    """What a step holds of the bindings: every sixth shows the target's, the last but one uses some."""
    if index % 6 == 1:
        return {"shown": target}
    return {"used": used} if index == length - 2 else {}


def _failed_attempt(cell: Cell) -> Iterator[Line]:
    yield "start", {"cell": cell.model_dump(mode="json"), "attempt": 0}, cell, 0
    yield "note", {"error": "ProviderError: 503"}, cell, 0
    episode = Episode(
        cell=cell, attempt=0, outcome="invalid-infra", ending="ProviderError", success=None, milestone=None, steps=0,
        api_calls=0, tokens=account([], None),
    )  # fmt: skip
    yield "episode", episode.model_dump(mode="json"), cell, 0


def _end(
    target: _Target, cell: Cell, attempt: int, luck: random.Random, did: tuple[list[dict[str, Any]], Any, int, int]
) -> Iterator[Line]:
    rows, support, length, api_calls = did
    env = ENVIRONMENTS.index(target.seal.env)
    success = luck.random() < SUCCESS[cell.condition][SHIFT_LEVELS.index(target.level)] + 0.04 * (1 - env)
    outcome: Outcome = "invalid-agent" if luck.random() < 0.03 else "valid"
    reached = 4 if success else luck.randrange(4)
    verdict = Verdict(
        success=success and outcome == "valid",
        milestones=tuple(Milestone(id=f"m{n}", text=f"planted {n}", reached=n < reached) for n in range(4)),
        failures=() if success else ("planted",),
    )
    yield "verdict", verdict.model_dump(mode="json"), cell, attempt
    episode = Episode(
        cell=cell, attempt=attempt, outcome=outcome, ending="done" if outcome == "valid" else "over-steps",
        success=verdict.success if outcome == "valid" else None, milestone=verdict.progress, steps=length,
        api_calls=api_calls, tokens=account(rows, support), seconds=2.0 * length,
    )  # fmt: skip
    yield "episode", json.loads(episode.model_dump_json()), cell, attempt
