"""A small complete run as a list of events, clean in every check of the audit, to plant violations in."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rebind.canon import digest
from rebind.eval.ledger import Ledger
from rebind.eval.tokens import account
from rebind.memory.index import index_text
from rebind.memory.render import render
from rebind.types import (
    Attempt,
    Binding,
    Call,
    Cell,
    Completion,
    Decoding,
    Episode,
    Message,
    Milestone,
    Record,
    Request,
    Seal,
    Selection,
    Skill,
    SkillStep,
    Slot,
    Step,
    Support,
    Task,
    ToolCall,
    ToolSpec,
    Usage,
    Verdict,
)

ENV, FAMILY = "rebind/Apps-v0", "apps/forward-latest-invoice"
CONDITIONS, SEEDS = ("none", "full", "summary", "qcr", "skill"), (0, 1)
FIRST = "You are Ada Quill. Today is 2026-05-04."
SOURCE_CANARY, TARGET_CANARY = "canary-0123456789abcdef0123456789abcdef", "canary-fedcba9876543210fedcba9876543210"
FAILURE = "No mail with the invoice was sent to the recipient."
TOOLS = (ToolSpec(name="mail_forward", description="Forwards a mail.", parameters={"type": "object"}),)


class Entry(NamedTuple):
    """An event to be."""

    kind: Any
    data: dict[str, Any]
    cell: Cell | None = None
    attempt: int | None = None


def step(mail: str, to: str) -> Step:
    args: dict[str, Any] = {"mail_id": mail, "to": [to]}
    call = Call(tool="mail_forward", args=args, status=200, result={"id": "mail_9001", "to": [to]})
    return Step(action=ToolCall(tool="mail_forward", args=args), observation=f'200 {{"sent": "{mail}"}}', calls=(call,))


RECORD = Record(
    instruction="Forward the newest invoice from Alder Print to Ben Moss.",
    descriptor="mail_search → mail_forward",
    first_observation="You are Ada Quill. Today is 2026-04-01.",
    steps=(step("mail_4711", "ben.moss@mail.example"),),
)
OTHER = Record(instruction="Pin a note.", descriptor="notes_search → notes_pin", first_observation="Hi.", steps=())
GOAL = "Forward the newest invoice from Hazel Freight to Cleo Marsh."
TASK = Task(env=ENV, goal=GOAL, state=digest("state"))
BINDINGS = (
    Binding(name="supplier", kind="entity", value="Hazel Freight", central=True),
    Binding(name="recipient", kind="user", value="Cleo Marsh"),
    Binding(name="invoice", kind="record", value="mail_8321"),
    Binding(name="addresses", kind="user", value=["cleo.marsh@mail.example", "cm@x.example"]),
    Binding(name="amount", kind="parameter", value=184250),
    Binding(name="urgent", kind="state", value=True),
    Binding(name="copies", kind="parameter", value=2),
)
SKILL = Skill(
    name="search_and_forward",
    description="Forwards a mail.",
    slots=(Slot(name="mail_id", type="id", provenance="observation"),),
    steps=(SkillStep(tool="mail_forward", args={"mail_id": {"slot": "mail_id"}}),),
    record_id=RECORD.id,
)
USAGE = Usage(prompt=900, completion=40, cached=0)


def dump(value: Any) -> dict[str, Any]:
    made: dict[str, Any] = value.model_dump(mode="json")
    return made


def answer(text: str, usage: Usage = USAGE) -> Completion:
    return Completion(text=text, usage=usage, attempts=(Attempt(started=1.5, ms=9.5, usage=usage, cost=0.5),))


def seal_of(record: Record, canary: str) -> Seal:
    return Seal(
        canary=canary,
        env=ENV,
        task_key=digest(record.instruction),
        family=FAMILY,
        rollout={"source": "oracle", "seed": 412345, "detours": {"re-check": 3}, "style": "oracle-with-detours"},
        verdict=Verdict(
            success=True, milestones=(Milestone(id="m1", text="The newest invoice was found first.", reached=True),)
        ),
    )


def clean_run() -> list[Entry]:
    """One target, five conditions, two seeds; a fresh copy each time."""
    return copy.deepcopy([*_study(), *(e for s in SEEDS for c in CONDITIONS for e in _episode(c, s))])


def _study() -> Iterator[Entry]:
    decoding, key = dump(Decoding()), TASK.key
    plan = {"name": "p", "lock": "0" * 64, "conditions": list(CONDITIONS), "seeds": list(SEEDS), "decoding": decoding}
    yield Entry("plan", {**plan, "targets": [key], "cells": 10, "simulated": True})
    for record, canary in ((RECORD, SOURCE_CANARY), (OTHER, "canary-" + "5" * 32)):
        yield Entry(
            "record",
            {
                "record": record.id,
                "content": dump(record),
                "seal": dump(seal_of(record, canary)),
                "instruction": record.instruction,
                "index_text": index_text(record),
                "effective_actions": record.effective_actions,
                "tokens": 90,
            },
        )
    seal = Seal(
        canary=TARGET_CANARY, env=ENV, task_key=key, family=FAMILY, bindings=BINDINGS, source=RECORD.id, level="large"
    )
    source = dump(seal_of(RECORD, SOURCE_CANARY))
    yield Entry("target", {"target": key, "task": dump(TASK), "seal": dump(seal), "source": source})
    ids = [RECORD.id, OTHER.id]
    found = {"candidates": ids, "scores": [0.9, 0.25]}
    yield Entry("retrieval", {"target": key, "query": f"Task: {GOAL}\nState: {FIRST}", "encoder": "e", **found})
    chosen = Selection(target_key=key, candidates=(ids[0], ids[1]), scores=(0.9, 0.25), chosen=ids[0], ranker="llm")
    request = _request("ranker", f"Which helps?\n1. {RECORD.instruction}\n2. {OTHER.instruction}\nGoal: {GOAL}")
    completion = dump(answer('{"candidate": 1}'))
    yield Entry("selection", {**dump(chosen), "request": dump(request), "completion": completion})


def _request(purpose: Any, text: str) -> Request:
    messages = (Message(role="system", content="Answer in JSON."), Message(role="user", content=text))
    return Request(model="m", purpose=purpose, messages=messages, decoding=Decoding())


def _support(condition: str) -> Support:
    if condition == "full":
        turns, goal = RECORD.steps, RECORD.instruction
        return Support(condition="full", text=render(RECORD), turns=turns, turns_goal=goal)
    if condition == "summary":
        return Support(condition="summary", text="Find the newest invoice, then forward it.")
    if condition == "qcr":
        request = _request("writer", f"{render(RECORD)}\n\nNow: {GOAL}\n{FIRST}")
        note = "Find the invoice of Hazel Freight again; look up the address of Cleo Marsh."
        return Support(condition="qcr", text=note, completions=(answer(note),), requests=(request,))
    return Support(condition=condition, skills=(SKILL,) if condition == "skill" else ())


def _episode(condition: str, seed: int) -> Iterator[Entry]:
    cell = Cell(target=TASK.key, condition=condition, seed=seed)
    support = dump(_support(condition))
    calls = [*_calls(support, seed)]
    taken = step("mail_8321", "cleo.marsh@mail.example")
    verdict = Verdict(success=seed == 0, failures=() if seed == 0 else (FAILURE,))
    episode = Episode(
        cell=cell,
        attempt=0,
        outcome="valid",
        ending="done",
        success=verdict.success,
        milestone=verdict.progress,
        steps=1,
        api_calls=1,
        tokens=account(calls, support),
        seconds=1.5,
    )
    yield Entry("start", {"cell": dump(cell), "attempt": 0}, cell, 0)
    yield Entry("support", support, cell, 0)
    yield Entry("call", calls[0], cell, 0)
    yield Entry("step", {"index": 0, **dump(taken)}, cell, 0)
    yield Entry("call", calls[1], cell, 0)
    yield Entry("verdict", dump(verdict), cell, 0)
    yield Entry("episode", dump(episode), cell, 0)


def _calls(support: dict[str, Any], seed: int) -> Iterator[dict[str, Any]]:
    first = [
        Message(role="system", content="You act through tools."),
        Message(role="user", content=f"{support['text']}\n\nTask: {GOAL}\n{FIRST}"),
    ]
    said = '{"tool": "mail_forward"}'
    then = [Message(role="assistant", content=said), Message(role="user", content='200 {"sent": "mail_8321"}')]
    for index, (kept, messages) in enumerate(((0, first), (2, then))):
        usage = Usage(prompt=900 + 60 * index, completion=40, cached=0)
        yield {
            "index": index,
            "kept": kept,
            "messages": [dump(m) for m in messages],
            "tools": [dump(t) for t in TOOLS],
            "schema": None,
            "model": "m",
            "decoding": dump(Decoding(seed=seed)),
            **dump(answer(said, usage)),
            "mem_tokens": 100,
        }


def write(entries: list[Entry], folder: Path, *, seal: bool = True) -> Path:
    """Writes the run through the real ledger."""
    with Ledger.open(folder) as ledger:
        for entry in entries:
            ledger.append(entry.kind, entry.data, entry.cell, entry.attempt)
        if seal:
            ledger.seal()
    return folder
