"""A plan holds every cell once, in an order that leaves a stopped run balanced."""

from __future__ import annotations

from collections import Counter

import pytest

from rebind.banks.store import Bank
from rebind.errors import StudyError, UserError
from rebind.eval.demo import demo_study
from rebind.eval.plan import estimate, make_plan
from rebind.eval.study import Study


def _demo(**targets: object) -> Study:
    study = demo_study()
    return study.model_copy(update={"targets": study.targets.model_copy(update=targets)})


def test_every_target_meets_every_condition_and_seed_once() -> None:
    study = _demo().model_copy(update={"seeds": (0, 1)})
    plan = make_plan(study)
    assert len({c.id for c in plan.cells}) == len(plan.cells) == len(plan.targets) * len(study.conditions) * 2


def test_the_conditions_of_a_target_and_seed_stand_together() -> None:
    plan = make_plan(_demo())
    width = len(plan.study.conditions)
    for n in range(0, len(plan.cells), width):
        assert len({(c.target, c.seed) for c in plan.cells[n : n + width]}) == 1


def test_a_limit_is_spread_over_shift_levels() -> None:
    plan = make_plan(_demo(limit=4, families=(), levels=()))
    assert Counter(t.seal.level for t in plan.targets) == {"none": 1, "small": 1, "medium": 1, "large": 1}


def test_a_limit_is_spread_over_families_across_levels() -> None:
    plan = make_plan(_demo(limit=4, families=(), levels=()))
    assert len({t.seal.family for t in plan.targets}) == 4


def test_a_filter_that_leaves_nothing_says_what_to_loosen() -> None:
    with pytest.raises(UserError, match="did you mean"):
        make_plan(_demo(families=("apps/star-newest-mial",)))


def test_an_unknown_condition_suggests_the_nearest() -> None:
    with pytest.raises(UserError, match="did you mean 'summary'"):
        make_plan(_demo().model_copy(update={"conditions": ("none", "sumary")}))


def test_an_environment_that_no_target_has_is_an_error() -> None:
    with pytest.raises((StudyError, UserError), match="no environment named 'app'; did you mean 'apps'"):
        make_plan(_demo().model_copy(update={"environments": ("app",)}))


def test_the_estimate_counts_an_episode_per_cell_and_knows_no_price_of_a_local_model() -> None:
    plan = make_plan(_demo())
    expected = estimate(plan, Bank.open(plan.study.bank.path))
    assert expected.episodes == len(plan.cells)
    assert expected.model_calls > expected.episodes
    assert expected.usd is None


def test_the_estimate_of_a_priced_model_is_in_dollars() -> None:
    study = _demo()
    priced = study.model_copy(update={"model": study.model.model_copy(update={"actor": "openai/gpt-4o-mini"})})
    plan = make_plan(priced)
    usd = estimate(plan, Bank.open(priced.bank.path)).usd
    assert usd is not None
    assert usd > 0
