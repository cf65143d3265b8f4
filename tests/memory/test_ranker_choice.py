"""The ranker: chooses by number from what is visible, falls back in the open, and can be replaced by simpler rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from rebind.memory.index import Candidates
from rebind.memory.ranker import rank_llm, rank_oracle, rank_random, rank_top1

FAMILIES = ("apps/forward-latest-invoice", "apps/send-gift-to-current-address", "apps/postpone-meeting-tell-accepted")


@pytest.fixture
def sources(source_of: Callable[[str, int], Any]) -> list[Any]:
    return [source_of(family, 0) for family in FAMILIES]


def candidates(sources: list[Any]) -> Candidates:
    return Candidates("q", tuple(s.record.id for s in sources), (0.9, 0.8, 0.7), "all-minilm-l6-v2")


def rank(sources: list[Any], model: Any) -> Any:
    records = {s.record.id: s.record for s in sources}
    return rank_llm("k", "Forward a bill", "You are Ada.", candidates(sources), records, model, "simulated")


def test_the_model_chooses_by_number_and_its_words_are_kept(sources: list[Any], simulated: Any) -> None:
    model = simulated('{"candidate": 2}')
    ranked = rank(sources, model)
    assert ranked.selection.chosen == sources[1].record.id
    assert ranked.selection.fallback is None
    assert ranked.completion.text == '{"candidate": 2}'
    assert ranked.request == model.asked[0]
    assert ranked.request.decoding.temperature == 0
    assert ranked.request.decoding.max_tokens == 512


@pytest.mark.parametrize("answer", ['{"candidate": 4}', '{"candidate": 0}', "the second", '{"candidate": "2"}', "{}"])
def test_an_unusable_answer_falls_back_to_the_first_and_says_so(
    sources: list[Any], simulated: Any, answer: str
) -> None:
    selection = rank(sources, simulated(answer)).selection
    assert selection.chosen == sources[0].record.id
    assert selection.fallback


def test_the_request_shows_instructions_and_workflows_and_nothing_sealed(sources: list[Any], simulated: Any) -> None:
    model = simulated('{"candidate": 1}')
    rank(sources, model)
    text = model.asked[0].model_dump_json()
    for source in sources:
        assert source.record.descriptor in text
        for sealed in (source.record.id, source.seal.canary, source.seal.family, source.seal.task_key, source.seal.env):
            assert sealed not in text


def test_one_candidate_is_taken_without_asking(sources: list[Any], simulated: Any) -> None:
    model = simulated()
    one = Candidates("q", (sources[0].record.id,), (0.9,), "e")
    ranked = rank_llm("k", "g", "o", one, {}, model, "simulated")
    assert ranked.selection.chosen == sources[0].record.id
    assert model.asked == []


def test_an_empty_bank_gives_no_record(simulated: Any) -> None:
    nothing = Candidates("q", (), (), "e")
    for ranked in (
        rank_llm("k", "g", "o", nothing, {}, simulated(), "s"),
        rank_top1("k", nothing),
        rank_random("k", nothing),
    ):
        assert ranked.selection.chosen is None


def test_random_is_fixed_by_the_target_and_covers_all_candidates(sources: list[Any]) -> None:
    of = candidates(sources)
    chosen = [rank_random(f"target {n}", of).selection.chosen for n in range(60)]
    assert chosen == [rank_random(f"target {n}", of).selection.chosen for n in range(60)]
    assert set(Counter(chosen)) == set(of.ids)


def test_the_oracle_takes_the_best_reusable_candidate_and_says_if_there_is_none(sources: list[Any]) -> None:
    of = candidates(sources)
    assert rank_oracle("k", of, of.ids[1:]).selection.chosen == of.ids[1]
    none = rank_oracle("k", of, ("elsewhere",)).selection
    assert (none.chosen, none.fallback) == (of.ids[0], "no reusable candidate")
