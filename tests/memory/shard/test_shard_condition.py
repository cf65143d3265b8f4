"""The condition `evidence`: what Tier B retrieves from the selected record under a token budget."""

from __future__ import annotations

import pytest
from support.shards import embed

from rebind.memory.conditions import condition_names, get_condition
from rebind.memory.conditions.evidence import ShardedEvidence
from rebind.memory.render import render_step
from rebind.memory.tokens import count_text
from rebind.types import Completion, Decoding, Record, Request, Step, SupportAsk, ToolCall


class _Words:
    """A writer that is never asked; a token is a word."""

    def complete(self, request: Request) -> Completion:
        raise AssertionError("the writer was asked")

    def count(self, request: Request) -> int:
        return sum(len(m.content.split()) for m in request.messages)


def _record() -> Record:
    steps = tuple(
        Step(action=ToolCall(tool=f"tool{n}", args={"what": word}), observation=f"the {word} is here and all is well")
        for n, word in enumerate(("apple", "boat", "cedar", "dance", "ember", "falcon", "guitar", "harbor") * 3)
    )
    return Record(instruction="Find things", descriptor="find", first_observation="You are Ada.", steps=steps)


@pytest.fixture
def ask() -> SupportAsk:
    return SupportAsk(
        record=_record(),
        summary="The agent looked for an ember. It found a guitar.",
        skills=(),
        goal="Where is the ember",
        first_observation="You are Bob.",
        writer=_Words(),
        writer_name="words",
        decoding=Decoding(),
        cap_tokens=40,
    )


def test_support_holds_retrieved_steps_in_order_within_the_budget_and_names_them(ask: SupportAsk) -> None:
    support = ShardedEvidence(encode=embed).support(ask)
    named = [flag.removeprefix("evidence:") for flag in support.flags if flag.startswith("evidence:")]
    steps = [int(name.removeprefix("step:")) - 1 for name in named if name.startswith("step:")]
    assert ask.record is not None
    assert support.turns == tuple(ask.record.steps[n] for n in steps)
    assert 0 < len(steps) < len(ask.record.steps)
    assert steps == sorted(steps)
    assert "ember" in support.text
    spent = sum(count_text(ask.writer, "words", render_step(turn)) for turn in support.turns)
    assert spent <= ask.cap_tokens
    assert any(flag.startswith("scanned:") for flag in support.flags)
    assert any(flag.startswith("shard:") for flag in support.flags)


def test_the_summary_is_evidence_too(ask: SupportAsk) -> None:
    support = ShardedEvidence(budget=400, encode=embed).support(ask)
    assert "Summary: The agent looked for an ember." in support.text


def test_no_budget_delivers_nothing_and_no_record_is_flagged(ask: SupportAsk) -> None:
    condition = ShardedEvidence(encode=embed)
    assert condition.support(ask.model_copy(update={"cap_tokens": 0})).text == ""
    assert condition.support(ask.model_copy(update={"record": None})).flags == ("no-record",)


def test_it_is_found_by_name() -> None:
    assert "evidence" in condition_names()
    assert get_condition("evidence").name == "evidence"
