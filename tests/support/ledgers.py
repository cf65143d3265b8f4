"""Small hand-made runs, written through the real ledger: say what happened, `write` it, read it back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rebind.canon import digest
from rebind.eval.ledger import Ledger
from rebind.eval.tokens import account
from rebind.types import (
    Attempt,
    Binding,
    Call,
    Cell,
    Code,
    Completion,
    Decoding,
    Episode,
    Milestone,
    Outcome,
    ReuseNote,
    Seal,
    Selection,
    ShiftLevel,
    Step,
    Support,
    Task,
    ToolCall,
    Usage,
    Verdict,
)

ENV = "rebind/Apps-v0"
WRITER = Usage(prompt=500, completion=50)
"""What a reuse note costs in a made run."""


def call(tool: str, observation: str = "ok", *, status: int = 200, **args: Any) -> Step:
    """A step that calls one tool."""
    done = Call(tool=tool, args=args, status=status, result=observation)
    return Step(action=ToolCall(tool=tool, args=args), observation=observation, calls=(done,))


def program(code: str, observation: str = "", calls: Sequence[Call] = ()) -> Step:
    """A step that runs a block of Python."""
    return Step(action=Code(code=code), observation=observation, calls=tuple(calls))


def bound(values: Mapping[str, Any]) -> tuple[Binding, ...]:
    """Bindings by name; a value that is no Binding makes an `entity`."""
    return tuple(v if isinstance(v, Binding) else Binding(name=n, kind="entity", value=v) for n, v in values.items())


class MadeRun:
    """A run in the making. Everything is kept until `write`, which writes the whole ledger in the runner's order."""

    def __init__(
        self,
        *,
        conditions: Sequence[str] = ("none", "full", "qcr"),
        seeds: Sequence[int] = (0,),
        simulated: bool = False,
        name: str = "made",
    ) -> None:
        self.conditions, self.seeds, self.simulated, self.name = conditions, seeds, simulated, name
        self.targets: dict[str, Task] = {}
        self._seals: dict[str, Seal] = {}
        self._study: list[tuple[Any, dict[str, Any]]] = []
        self._episodes: list[tuple[Any, dict[str, Any], Cell, int]] = []

    def record(
        self,
        name: str,
        values: Mapping[str, Any] | None = None,
        *,
        family: str = "family",
        actions: int = 8,
        env: str = ENV,
    ) -> str:
        """A record of the bank, under a readable id."""
        self._seals[name] = _seal(env, family, name, values or {})
        data = {
            "record": name,
            "seal": self._seals[name].model_dump(mode="json"),
            "instruction": f"Instruction of {name}",
            "index_text": f"Task: Instruction of {name}\nWorkflow: search → show → send",
            "effective_actions": actions,
            "tokens": 400,
        }
        self._study.append(("record", data))
        return name

    def target(  # noqa: PLR0913 — a made target says everything about itself in one call
        self,
        goal: str,
        source: str,
        values: Mapping[str, Any] | None = None,
        *,
        level: ShiftLevel = "small",
        family: str = "family",
        env: str = ENV,
        candidates: Sequence[str] | None = None,
        chosen: str | None = "",
        first_observation: str = "You are signed in.",
    ) -> str:
        """A target made from `source`, retrieved and selected; its source stands first and is chosen unless said
        otherwise. Returns its key."""
        task = Task(env=env, goal=goal, state=digest([goal, dict(values or {}).__repr__()]))
        found = tuple(candidates if candidates is not None else (source,))
        scores = tuple(0.9 - 0.1 * n for n in range(len(found)))
        seal = _seal(env, family, task.key, values or {}).model_copy(update={"source": source, "level": level})
        paired = self._seals.get(source)
        old = paired.values() if paired else {}
        seal = seal.model_copy(update={"changed": tuple(n for n, v in seal.values().items() if old.get(n) != v)})
        selection = Selection(
            target_key=task.key,
            candidates=found,
            scores=scores,
            chosen=found[0] if chosen == "" and found else chosen or None,
            ranker="top1",
        )
        sealed = {"seal": seal.model_dump(mode="json"), "source": paired.model_dump(mode="json") if paired else None}
        query = f"Task: {goal}\nState: {first_observation}"
        retrieved = {"query": query, "candidates": list(found), "scores": list(scores), "encoder": "made"}
        self._study += [
            ("target", {"target": task.key, "task": task.model_dump(mode="json"), **sealed}),
            ("retrieval", {"target": task.key, **retrieved}),
            ("selection", {**selection.model_dump(mode="json"), "request": None, "completion": None}),
        ]
        self.targets[task.key] = task
        return task.key

    def episode(  # noqa: PLR0913 — as above
        self,
        target: str,
        condition: str,
        success: bool | None = True,
        *,
        seed: int = 0,
        attempt: int = 0,
        outcome: Outcome = "valid",
        ending: str = "done",
        milestones: tuple[int, int] | None = None,
        steps: Sequence[Step] = (),
        calls: Sequence[tuple[int, int, int]] = ((100, 0, 10),),
        note: ReuseNote | None = None,
        text: str = "",
        abandoned: bool = False,
        claims: Mapping[str, Any] | None = None,
    ) -> None:
        """One attempt at a cell.

        Args:
            milestones: (reached, of); success alone decides the milestone where not given.
            calls: per model call, prompt tokens, those of the support among them, and completion tokens.
            note: a reuse note, written by one call that cost `WRITER`.
            abandoned: the process died before the attempt ended.
            claims: fields of the episode row that are to say something else than its events.
        """
        cell = Cell(target=target, condition=condition, seed=seed)
        written = (Completion(text="note", usage=WRITER, attempts=(_answered(WRITER),)),) if note else ()
        support = Support(condition=condition, text=text, note=note, completions=written).model_dump(mode="json")
        rows = [_model_call(n, *tokens) for n, tokens in enumerate(calls)]
        events: list[tuple[Any, dict[str, Any]]] = [
            ("start", {"cell": cell.model_dump(mode="json"), "attempt": attempt}),
            ("support", support),
            *(("call", row) for row in rows),
            *(("step", {"index": n, **step.model_dump(mode="json")}) for n, step in enumerate(steps)),
        ]
        if not abandoned:
            verdict = _verdict(bool(success), milestones)
            judged = outcome != "invalid-infra"
            episode = Episode(
                cell=cell, attempt=attempt, outcome=outcome, ending=ending, seconds=2.0,
                success=bool(success) if outcome == "valid" else None,
                milestone=verdict.progress if judged else None,
                steps=len(steps), api_calls=sum(len(s.calls) for s in steps), tokens=account(rows, support),
            )  # fmt: skip
            events += [("verdict", verdict.model_dump(mode="json"))] if judged else []
            events.append(("episode", {**episode.model_dump(mode="json"), **(claims or {})}))
        self._episodes += [(kind, data, cell, attempt) for kind, data in events]

    def write(self, folder: Path, *, seal: bool = True) -> Path:
        """Writes the ledger (and the manifest, as a finished run has it); returns the folder."""
        with Ledger.open(folder) as ledger:
            ledger.append("plan", self._plan())
            for kind, data in self._study:
                ledger.append(kind, data)
            for kind, data, cell, attempt in self._episodes:
                ledger.append(kind, data, cell, attempt)
            if seal:
                ledger.seal()
        return folder

    def _plan(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "lock": "1" * 64,
            "environments": ["apps"],
            "conditions": list(self.conditions),
            "seeds": list(self.seeds),
            "model": {
                "actor": "simulated/made" if self.simulated else "made/model",
                "writer": None,
                "ranker": None,
                "protocol": "json",
                "grounded": False,
            },
            "decoding": Decoding().model_dump(mode="json"),
            "budget": {"steps": 40, "calls": 120, "tokens": None, "seconds": None},
            "placement": "turns",
            "attempts": 3,
            "targets": list(self.targets),
            "cells": len(self.targets) * len(self.conditions) * len(self.seeds),
            "simulated": self.simulated,
        }


def _seal(env: str, family: str, key: str, values: Mapping[str, Any]) -> Seal:
    return Seal(canary=f"canary-{key[:12]}", env=env, task_key=key, family=family, bindings=bound(values))


def _verdict(success: bool, milestones: tuple[int, int] | None) -> Verdict:
    reached, of = milestones or (0, 0)
    made = tuple(Milestone(id=f"m{n}", text=f"sealed milestone {n}", reached=n < reached) for n in range(of))
    return Verdict(success=success, milestones=made, failures=() if success else ("an effect is missing",))


def _answered(usage: Usage) -> Attempt:
    return Attempt(started=0.0, ms=1.0, status=200, usage=usage, cost=0.001)


def _model_call(index: int, prompt: int, memory: int, completion: int) -> dict[str, Any]:
    usage = Usage(prompt=prompt, completion=completion)
    return {
        "index": index,
        "kept": 0,
        "messages": [{"role": "user", "content": "…", "tool_calls": [], "tool_call_id": None}],
        "tools": [],
        "schema": None,
        "text": "{}",
        "tool_calls": [],
        "finish": "stop",
        "usage": usage.model_dump(mode="json"),
        "mem_tokens": memory,
        "attempts": [_answered(usage).model_dump(mode="json")],
        "replayed": False,
    }
