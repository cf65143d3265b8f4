"""A simulated study written through the real ledger, so that its frame can be compared with the one made directly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from rebind.eval.bench.calibration_world import (
    CONDITIONS,
    ENVIRONMENTS,
    FAMILY,
    MILESTONES,
    SEEDS,
    Design,
    Drawn,
    fixed_parts,
    source_name,
    source_value,
    target_value,
    task,
)
from rebind.eval.ledger import Ledger
from rebind.eval.tokens import account
from rebind.types import (
    SHIFT_LEVELS,
    Attempt,
    Binding,
    Budget,
    Call,
    Cell,
    Completion,
    Decoding,
    Episode,
    Milestone,
    Outcome,
    Seal,
    Selection,
    Step,
    Support,
    ToolCall,
    Usage,
    Verdict,
)

OUTCOMES: tuple[Outcome, ...] = ("valid", "invalid-agent", "invalid-infra")
_ENDINGS = ("done", "over-steps", "SimulatedFailure")


def write_ledger(folder: Path, design: Design, drawn: Drawn) -> Path:
    """Writes a simulated study as a finished run; returns its folder."""
    with Ledger.open(folder) as ledger:
        ledger.append("plan", _plan(design))
        for source in range(design.sources):
            ledger.append("record", _record(design, source))
        for target in range(len(design.level)):
            for kind, data in _target(design, target):
                ledger.append(kind, data)
        for target in range(len(design.level)):
            for seed in range(len(SEEDS)):
                for condition in range(len(CONDITIONS)):
                    cell, events = _episode(design, drawn, (condition, target, seed))
                    for kind, data in events:
                        ledger.append(kind, data, cell, 0)
        ledger.seal()
    return folder


def _plan(design: Design) -> dict[str, Any]:
    name = "simulated/planted"
    return {
        "name": "simulated-calibration",
        "lock": "0" * 64,
        "environments": list(ENVIRONMENTS),
        "conditions": list(CONDITIONS),
        "seeds": list(SEEDS),
        "model": {"actor": name, "writer": name, "ranker": name, "protocol": "json", "grounded": False},
        "decoding": Decoding().model_dump(mode="json"),
        "budget": Budget().model_dump(mode="json"),
        "placement": "turns",
        "attempts": 1,
        "targets": design.keys(),
        "cells": len(design.level) * len(CONDITIONS) * len(SEEDS),
        "simulated": True,
    }


def _seal(env: str, key: str, value: str) -> Seal:
    binding = Binding(name="payee", kind="entity", value=value)
    return Seal(canary=f"simulated-canary-{key}", env=env, task_key=key, family=FAMILY, bindings=(binding,))


def _source_seal(design: Design, source: int) -> Seal:
    env = ENVIRONMENTS[design.environment[design.source == source][0]]
    return _seal(env, source_name(source), source_value(source))


def _record(design: Design, source: int) -> dict[str, Any]:
    return {
        "record": source_name(source),
        "seal": _source_seal(design, source).model_dump(mode="json"),
        "instruction": "Simulated record",
        "index_text": "Simulated record",
        "effective_actions": int(design.actions[design.source == source][0]),
        "tokens": 4_000,
    }


def _target(design: Design, n: int) -> Iterator[tuple[Any, dict[str, Any]]]:
    source, level = int(design.source[n]), int(design.level[n])
    made = task(int(design.environment[n]), source, level)
    seal = _seal(made.env, made.key, target_value(source, level)).model_copy(
        update={
            "source": source_name(source),
            "level": SHIFT_LEVELS[level],
            "changed": ("payee",) if level else (),
        }
    )
    selection = Selection(
        target_key=made.key, candidates=(source_name(source),), scores=(0.9,), chosen=source_name(source), ranker="top1"
    )
    sealed = {
        "seal": seal.model_dump(mode="json"),
        "source": _source_seal(design, source).model_dump(mode="json"),
    }
    yield "target", {"target": made.key, "task": made.model_dump(mode="json"), **sealed}
    yield (
        "retrieval",
        {
            "target": made.key,
            "query": f"Task: {made.goal}",
            "candidates": [source_name(source)],
            "scores": [0.9],
            "encoder": "simulated",
        },
    )
    yield "selection", {**selection.model_dump(mode="json"), "request": None, "completion": None}


def _episode(design: Design, drawn: Drawn, at: tuple[int, int, int]) -> tuple[Cell, list[tuple[Any, dict[str, Any]]]]:
    """The events of one simulated attempt, its verdict and account included."""
    condition, n, seed = at
    source, level = int(design.source[n]), int(design.level[n])
    cell = Cell(target=task(int(design.environment[n]), source, level).key, condition=CONDITIONS[condition], seed=seed)
    token = fixed_parts(cell.condition)
    token["i_base"] = int(drawn.tokens[at]) - sum(token.values())
    call, support = _call(token), _support(cell.condition, token)
    value = source_value(source) if drawn.stale[at] else target_value(source, level)
    steps = [_step(index, value if index == 0 else None) for index in range(int(drawn.calls[at]))]
    outcome = int(drawn.outcome[at])
    milestones = tuple(
        Milestone(id=f"m{k}", text="simulated", reached=k < drawn.reached[at]) for k in range(MILESTONES)
    )
    verdict = Verdict(success=bool(drawn.success[at]), milestones=milestones)
    episode = Episode(
        cell=cell,
        attempt=0,
        outcome=OUTCOMES[outcome],
        ending=_ENDINGS[outcome],
        success=verdict.success if outcome == 0 else None,
        milestone=verdict.progress if outcome < 2 else None,
        steps=len(steps),
        api_calls=len(steps),
        tokens=account([call], support),
        seconds=1.0,
    )
    events: list[tuple[Any, dict[str, Any]]] = [
        ("start", {"cell": cell.model_dump(mode="json"), "attempt": 0}),
        ("support", support),
        ("call", call),
        *(("step", step) for step in steps),
    ]
    if outcome < 2:
        events.append(("verdict", verdict.model_dump(mode="json")))
    return cell, [*events, ("episode", episode.model_dump(mode="json"))]


def _step(index: int, value: str | None) -> dict[str, Any]:
    args: dict[str, JsonValue] = {"payee": value} if value else {}
    done = Call(tool="simulated_pay" if value else "simulated_show", args=args, status=200, result="ok")
    step = Step(action=ToolCall(tool=done.tool, args=args), observation="ok", calls=(done,))
    return {"index": index, **step.model_dump(mode="json")}


def _support(condition: str, token: dict[str, int]) -> dict[str, Any]:
    usage = Usage(prompt=token["i_syn"], completion=token["o_syn"])
    written = (Completion(text="simulated", usage=usage, attempts=(_attempt(usage),)),) if token["i_syn"] else ()
    return Support(condition=condition, completions=written).model_dump(mode="json")


def _call(token: dict[str, int]) -> dict[str, Any]:
    usage = Usage(prompt=token["i_base"] + token["i_mem"], completion=token["o_act"])
    return {
        "index": 0,
        "kept": 0,
        "messages": [{"role": "user", "content": "simulated", "tool_calls": [], "tool_call_id": None}],
        "tools": [],
        "schema": None,
        "text": "{}",
        "tool_calls": [],
        "finish": "stop",
        "usage": usage.model_dump(mode="json"),
        "mem_tokens": token["i_mem"],
        "attempts": [_attempt(usage).model_dump(mode="json")],
        "replayed": False,
        "model": "simulated/planted",
        "decoding": Decoding().model_dump(mode="json"),
    }


def _attempt(usage: Usage) -> Attempt:
    return Attempt(started=0.0, ms=1.0, status=200, usage=usage)
