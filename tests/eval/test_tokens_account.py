"""The token account of an episode: its five components, both views, what is missing or wasted, its identities."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rebind.eval.tokens import account, identity_violations
from rebind.types import TokenAccount

Json = dict[str, Any]


def usage(prompt: int | None, completion: int | None, cached: int | None = 0, reasoning: int | None = None) -> Json:
    return {"prompt": prompt, "completion": completion, "cached": cached, "reasoning": reasoning}


def attempt(used: Json, error: str | None = None, cost: float | None = 0.5) -> Json:
    return {
        "started": 1.5, "ms": 2.5, "status": 200, "error": error, "usage": used, "raw_usage": None, "cost": cost,
    }  # fmt: skip


def call(prompt: int | None, completion: int | None, memory: int | None = 0, **more: Any) -> Json:
    used = usage(prompt, completion, more.pop("cached", 0))
    return {
        "usage": used,
        "mem_tokens": memory,
        "attempts": [attempt(used)],
        "replayed": False,
        "finish": "stop",
        **more,
    }


def writer(prompt: int | None, completion: int | None, **more: Any) -> Json:
    used = usage(prompt, completion)
    return {"completions": [{"usage": used, "attempts": [attempt(used)], "replayed": False, "finish": "stop", **more}]}


def test_the_five_components_are_disjoint_and_sum_to_what_was_sent_and_received() -> None:
    counts = account([call(100, 10, 30), call(130, 12, 30)], writer(500, 60))
    assert (counts.i_base, counts.i_mem, counts.i_syn, counts.o_syn, counts.o_act) == (170, 60, 500, 60, 22)
    assert counts.online == 100 + 10 + 130 + 12 + 500 + 60


def test_counted_once_takes_each_token_the_first_time_it_is_sent() -> None:
    counts = account([call(100, 10, 30), call(130, 12, 30), call(150, 5, 30)], writer(500, 60))
    # 100 sent, 10 answered, 20 new, 12 answered, 8 new, 5 answered, and the writer's 560
    assert counts.once == 100 + 10 + 20 + 12 + 8 + 5 + 560
    assert not counts.once_dropped


def test_a_history_that_shrank_is_flagged_and_once_is_a_lower_bound() -> None:
    counts = account([call(1000, 10), call(300, 10)], None)
    assert counts.once_dropped
    assert counts.once == 1000 + 10 + 0 + 10


@pytest.mark.parametrize(
    ("calls", "support", "missing"),
    [
        ([call(None, 10, 5)], None, {"i_base", "once"}),
        ([call(100, None, 5)], None, {"o_act", "once"}),
        ([call(100, 10, None)], None, {"i_base", "i_mem"}),
        ([call(100, 10, 5, cached=None)], None, {"cached"}),
        ([call(100, 10, 5)], writer(None, 10), {"i_syn", "once"}),
        ([call(100, 10, 5)], writer(10, None), {"o_syn", "once"}),
    ],
)
def test_a_missing_count_makes_its_components_none_and_no_other(calls: Any, support: Any, missing: set[str]) -> None:
    counts = account(calls, support)
    assert {name for name, value in counts.model_dump().items() if value is None} == missing
    assert (counts.online is None) == bool(missing & {"i_base", "i_mem", "i_syn", "o_syn", "o_act"})


def test_failed_attempts_are_wasted_and_billed_but_not_counted() -> None:
    used = usage(100, 10)
    row = call(100, 10)
    row["attempts"] = [attempt(usage(100, 3), "Timeout", 0.25), attempt(usage(None, None), "429", None), attempt(used)]
    counts = account([row], None)
    assert (counts.wasted, counts.online, counts.cost) == (103, 110, 0.75)


def test_a_call_that_was_never_answered_counts_nothing_and_wastes_what_was_reported() -> None:
    row = call(None, None, None)
    row["attempts"] = [attempt(usage(40, 0), "Timeout"), attempt(usage(None, None), "ServerError", None)]
    counts = account([call(100, 10), row], None)
    assert (counts.online, counts.wasted, counts.once) == (110, 40, 110)


def test_a_call_that_failed_before_any_attempt_counts_nothing_and_costs_an_unknown_sum() -> None:
    row = {**call(None, None, None), "attempts": [], "finish": "error"}
    counts = account([call(100, 10), row], None)
    assert (counts.online, counts.cost) == (110, None)
    assert account([{**call(100, 10), "attempts": []}], None).online == 110


def test_a_replayed_answer_keeps_its_usage_and_bills_nothing() -> None:
    row = call(100, 10, replayed=True)
    row["attempts"] = [attempt(usage(7, 7), "Timeout", 9.0), attempt(usage(100, 10), cost=9.0)]
    counts = account([row], None)
    assert (counts.online, counts.cost, counts.wasted) == (110, 0.0, 0)


def test_an_unknown_price_makes_the_cost_none_rather_than_nothing() -> None:
    row = call(100, 10)
    row["attempts"] = [attempt(usage(100, 10), cost=None)]
    assert account([row], None).cost is None
    assert account([call(100, 10)], None).cost == 0.5
    assert account([], None).cost == 0.0


def test_an_attempt_that_never_called_a_model_spent_nothing() -> None:
    nothing = TokenAccount(i_base=0, i_mem=0, i_syn=0, o_syn=0, o_act=0, once=0, cached=0, cost=0.0)
    assert account([], None) == account([], {}) == nothing


counts = st.none() | st.integers(0, 5000)


@settings(deadline=None)
@given(st.lists(st.tuples(counts, counts, counts), max_size=6), st.none() | st.tuples(counts, counts))
def test_the_account_of_any_episode_obeys_its_identities(calls: list[Any], wrote: Any) -> None:
    rows = []
    for prompt, completion, memory in calls:
        within = None if memory is None or prompt is None else min(memory, prompt)
        rows.append(call(prompt, completion, within, cached=None if prompt is None else 0))
    support = writer(*wrote) if wrote and wrote[0] is not None else None
    assert identity_violations(account(rows, support), rows, support) == ()


CALLS = [call(100, 10, 30), call(130, 12, 30)]
RIGHT = account(CALLS, writer(500, 60))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"i_base": 171}, "the components sum to 813, the counted calls to 812"),
        ({"o_act": 21, "i_mem": 61}, "o_act is 21 in the episode and 22 by its events"),
        ({"once": 1}, "once is 1 in the episode"),
        ({"cost": 0.1}, "cost is 0.1 in the episode"),
        ({"i_syn": None}, "i_syn is None in the episode and 500"),
    ],
)
def test_a_planted_change_of_an_account_is_a_violation(changed: Json, said: str) -> None:
    assert identity_violations(RIGHT, CALLS, writer(500, 60)) == ()
    assert said in "; ".join(identity_violations(RIGHT.model_copy(update=changed), CALLS, writer(500, 60)))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (call(100, 10, 130), "the support has 130 of 100 prompt tokens"),
        (call(100, 10, 0, cached=200), "cached is 200 of 100 prompt tokens"),
        ({**call(100, 10, 0), "usage": usage(90, 10)}, "its answered attempt says"),
    ],
)
def test_a_count_that_cannot_be_is_a_violation_though_the_sums_agree(row: Json, said: str) -> None:
    found = identity_violations(account([row], None), [row], None)
    assert len(found) == 1
    assert said in found[0]
    assert found[0].startswith("call 0: ")


def test_a_total_claimed_although_a_count_is_missing_is_a_violation() -> None:
    row = call(100, None)
    claimed = account([row], None).model_copy(update={"o_act": 0})
    assert any("although a count is missing" in found for found in identity_violations(claimed, [row], None))
