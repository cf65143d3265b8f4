"""The conditions `osu` and `flat`: retrieved steps of the selected record under a token budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rebind.memory.conditions import condition_names, get_condition
from rebind.memory.conditions.flat import FlatSteps
from rebind.memory.conditions.osu import OsuSteps
from rebind.memory.conditions.retrieved import RetrievedSteps
from rebind.memory.render import render_step
from rebind.memory.tokens import count_text
from rebind.types import Decoding, SupportAsk


def encode(texts: Any) -> NDArray[np.float32]:
    """Bags of letters: enough for steps to differ, with no model to load."""
    return np.array([[text.count(chr(c)) + 0.1 for c in range(97, 123)] for text in texts], dtype=np.float32)


@pytest.fixture
def ask(source_of: Callable[[str, int], Any], simulated: Any) -> SupportAsk:
    return SupportAsk(
        record=source_of("apps/forward-latest-invoice", 0).record,
        summary="",
        skills=(),
        goal="Forward the latest bill to Bob",
        first_observation="You are Ada.",
        writer=simulated(),
        writer_name="simulated",
        decoding=Decoding(),
        cap_tokens=60,
    )


@pytest.mark.parametrize("made", [OsuSteps, FlatSteps])
def test_steps_are_those_of_the_record_in_order_and_within_the_budget(
    made: type[RetrievedSteps], ask: SupportAsk
) -> None:
    assert ask.record is not None
    every = list(ask.record.steps)
    budget = sum(count_text(ask.writer, "simulated", render_step(step)) for step in every) // 2
    support = made(budget, encode).support(ask)
    places = [every.index(turn) for turn in support.turns]
    assert places == sorted(places)
    assert 0 < len(places) < len(every)
    assert sum(count_text(ask.writer, "simulated", render_step(turn)) for turn in support.turns) <= budget
    assert all(render_step(turn) in support.text for turn in support.turns)
    assert support.flags == (f"steps:{len(places)}/{len(every)}",)


@pytest.mark.parametrize("made", [OsuSteps, FlatSteps])
def test_without_a_budget_the_cap_of_written_support_holds(made: type[RetrievedSteps], ask: SupportAsk) -> None:
    support = made(encode=encode).support(ask.model_copy(update={"cap_tokens": 0}))
    assert (support.text, support.turns) == ("", ())


@pytest.mark.parametrize("made", [OsuSteps, FlatSteps])
def test_without_a_record_nothing_is_delivered(made: type[RetrievedSteps], ask: SupportAsk) -> None:
    assert made(encode=encode).support(ask.model_copy(update={"record": None})).flags == ("no-record",)


def test_both_are_found_by_name() -> None:
    assert {"osu", "flat"} <= set(condition_names())
    assert [get_condition(name).name for name in ("osu", "flat")] == ["osu", "flat"]
