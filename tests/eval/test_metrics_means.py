"""Means with denominators, contrasts and diagnostics of small runs, against numbers worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.ledgers import MadeRun, call

from rebind.eval import contrasts, metrics, passes
from rebind.eval.contrasts import Contrast
from rebind.eval.frames import Run, load_run
from rebind.eval.metrics import Mean
from rebind.eval.savings import savings
from rebind.eval.stats import Effect

CONDITIONS = ("none", "full", "qcr")
STALE_FULL = ("stale_binding", "full", "none", "all")
SITES = "rebind/Sites-v0"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Three targets of two sources in Apps and one in Sites; two seeds.

    Success by target (rows) and condition, seeds 0 and 1; I is an infrastructure failure, A an agent's, – was not run:

               none   full   qcr
        a1      0 0    1 0   1 1
        a2      0 1    0 I   1 1
        a3      1 –    0 A   1 0
        s1      0 0    1 1   I I
    """
    made = MadeRun(conditions=CONDITIONS, seeds=(0, 1))
    made.record("r1", {"person": "Ben Moss"}, family="pay", actions=8)
    made.record("r2", {"person": "Dan Okafor"}, family="pay", actions=25)
    made.record("r3", {"page": "Start"}, family="browse", actions=25, env=SITES)
    a1 = made.target("one", "r1", {"person": "Anna Keller"}, level="small", family="pay")
    a2 = made.target("two", "r1", {"person": "Eva Lind"}, level="large", family="pay")
    a3 = made.target("three", "r2", {"person": "Hugo Brandt"}, level="large", family="pay", candidates=("r1", "r2"))
    s1 = made.target("four", "r3", {"page": "End"}, level="small", family="browse", env=SITES)
    grid = {
        a1: {"none": "00", "full": "10", "qcr": "11"},
        a2: {"none": "01", "full": "0I", "qcr": "11"},
        a3: {"none": "1-", "full": "0A", "qcr": "10"},
        s1: {"none": "00", "full": "11", "qcr": "II"},
    }
    for target, by in grid.items():
        for condition, letters in by.items():
            for seed, letter in enumerate(letters):
                stale = condition == "full" and target in (a1, a2)
                step = call("contacts_search", query="Ben Moss" if stale else "Anna Keller")
                if letter == "I":
                    made.episode(target, condition, seed=seed, outcome="invalid-infra", ending="ProviderError")
                elif letter == "A":
                    made.episode(
                        target, condition, False, seed=seed, outcome="invalid-agent", ending="over-steps",
                        milestones=(1, 2), steps=[step] * 3,
                    )  # fmt: skip
                elif letter != "-":
                    calls = [(100 + 100 * seed, 0, 10)]
                    made.episode(target, condition, letter == "1", seed=seed, steps=[step], calls=calls)
    return load_run(made.write(tmp_path_factory.mktemp("run")))


def means(run: Run, condition: str, scope: str, treatment: str) -> dict[str, Mean]:
    found = metrics.summaries(run.episodes, CONDITIONS, ("rebind/Apps-v0", SITES))
    return next(s.means for s in found if (s.condition, s.scope, s.treatment) == (condition, scope, treatment))


@pytest.mark.parametrize(
    ("condition", "scope", "treatment", "value", "targets", "episodes"),
    [
        ("none", "rebind/Apps-v0", "excluded", (0 + 0.5 + 1) / 3, 3, 5),
        ("full", "rebind/Apps-v0", "excluded", (0.5 + 0 + 0) / 3, 3, 4),
        ("full", "rebind/Apps-v0", "failed", (0.5 + 0 + 0) / 3, 3, 6),
        ("qcr", "rebind/Apps-v0", "excluded", (1 + 1 + 0.5) / 3, 3, 6),
        ("full", SITES, "excluded", 1.0, 1, 2),
        ("qcr", SITES, "excluded", None, 0, 0),
        ("qcr", SITES, "failed", 0.0, 1, 2),
        ("full", "micro", "excluded", (0.5 + 0 + 0 + 1) / 4, 4, 6),
        ("full", "macro", "excluded", (0.5 / 3 + 1) / 2, 4, 6),
        ("qcr", "macro", "excluded", None, 3, 6),
        ("qcr", "macro", "failed", (2.5 / 3 + 0) / 2, 4, 8),
    ],
)
def test_success_means_weigh_targets_alike_and_say_how_many(
    run: Run, condition: str, scope: str, treatment: str, value: float | None, targets: int, episodes: int
) -> None:
    found = means(run, condition, scope, treatment)["success"]
    assert (found.targets, found.episodes) == (targets, episodes)
    assert found.value == (None if value is None else pytest.approx(value))


def test_an_invalid_run_counted_as_failure_keeps_the_milestone_it_was_judged_to_have_reached(run: Run) -> None:
    """a3 under full: seed 0 judged 0, seed 1 invalid-agent judged 1 of 2; a2: 0 and, never judged, 0."""
    found = means(run, "full", "rebind/Apps-v0", "failed")["milestone"]
    assert found.value == pytest.approx((0.5 + 0 + 0.25) / 3)


def test_amounts_are_means_over_targets_too(run: Run) -> None:
    """None, Apps: a1 and a2 have 110 and 210 tokens, a3 was run with seed 0 only."""
    found = means(run, "none", "rebind/Apps-v0", "excluded")
    assert found["online"].value == pytest.approx((160 + 160 + 110) / 3)
    assert found["i_base"].value == pytest.approx((150 + 150 + 100) / 3)
    assert found["cached"].value is None
    assert found["cached"].targets == 0


@pytest.fixture(scope="module")
def found(run: Run) -> list[Contrast]:
    return contrasts.contrasts(run.episodes, contrasts.pairs_of(CONDITIONS))


def effect(
    found: list[Contrast], condition: str, reference: str, treatment: str, dimension: str = "all", group: str = "all"
) -> Effect:
    wanted = ("success", condition, reference, treatment, dimension, group)
    return next(
        c.effect for c in found if (c.metric, c.condition, c.reference, c.treatment, c.dimension, c.group) == wanted
    )


def test_contrasts_pair_on_target_and_seed_and_leave_out_pairs_with_an_invalid_run(found: list[Contrast]) -> None:
    """full − none: a1 (1−0, 0−0) → .5; a2 seed 0 only → 0; a3 seed 0 → −1; s1 (1, 1) → 1."""
    of = effect(found, "full", "none", "excluded")
    assert of.mean == pytest.approx((0.5 + 0 - 1 + 1) / 4)
    assert (of.targets, of.pairs, of.clusters) == (4, 6, 3)


def test_contrasts_with_invalid_runs_as_failures_keep_every_pair_that_was_run(found: list[Contrast]) -> None:
    """a2 gains the pair (0 − 1): (0, −1) → −.5; a3 has no second run of none to pair with."""
    of = effect(found, "full", "none", "failed")
    assert of.mean == pytest.approx((0.5 - 0.5 - 1 + 1) / 4)
    assert (of.targets, of.pairs, of.clusters) == (4, 7, 3)


def test_a_group_without_a_valid_pair_has_none_and_not_zero(found: list[Contrast]) -> None:
    of = effect(found, "qcr", "none", "excluded", "environment", SITES)
    assert (of.mean, of.targets, of.pairs) == (None, 0, 0)
    assert of.sign_flip.reason == "no valid pair"


def test_utility_by_level_and_length_group_stays_within_the_group(found: list[Contrast]) -> None:
    """Small: a1 (+1, +1) → 1 (s1 has no valid pair). 5–10: a1 and a2 (1−0, 1−1) → .5 and a3, whose selected record
    is r1."""
    assert effect(found, "qcr", "none", "excluded", "level", "small").mean == pytest.approx(1.0)
    short = effect(found, "qcr", "none", "excluded", "length_group", "5-10")
    assert short.mean == pytest.approx((1 + 0.5 + 0) / 3)
    assert short.clusters == 2


def test_macro_contrast_is_the_mean_of_the_environments(found: list[Contrast]) -> None:
    of = effect(found, "full", "none", "excluded", "macro")
    assert of.mean == pytest.approx(((0.5 + 0 - 1) / 3 + 1) / 2)


def test_every_contrast_stands_under_both_treatments_and_holm_runs_within_a_family(found: list[Contrast]) -> None:
    keys = {
        t: {(c.metric, c.condition, c.reference, c.dimension, c.group) for c in found if c.treatment == t}
        for t in metrics.TREATMENTS
    }
    assert keys["excluded"] == keys["failed"]
    family = [c.effect.sign_flip for c in found if (c.metric, c.treatment, c.dimension) == ("success", "failed", "all")]
    assert len(family) == 3
    assert all(t.p is not None and t.holm is not None and t.holm >= t.p for t in family)


def test_pairs_are_every_condition_against_no_memory_and_qcr_against_every_other() -> None:
    assert contrasts.pairs_of(("none", "full", "summary", "qcr")) == [
        ("full", "none"), ("summary", "none"), ("qcr", "none"), ("qcr", "full"), ("qcr", "summary"),
    ]  # fmt: skip
    assert contrasts.pairs_of(("full", "skill")) == [("skill", "full")]
    assert contrasts.pairs_of(("none",)) == []


def test_staleness_counts_runs_that_acted_over_checkable_targets(run: Run) -> None:
    """Apps under full: a1 stale in both seeds, a2 in its one run that acted, a3 in neither, s1 in neither."""
    found = {(s.condition, s.level): s for s in metrics.staleness(run.episodes, CONDITIONS)}
    everything = found["full", "all"].stale
    assert (everything.value, everything.targets, everything.episodes) == (pytest.approx(2 / 4), 4, 7)
    assert found["full", "large"].stale.value == pytest.approx(1 / 2)
    assert found["none", "all"].stale.value == 0.0
    assert found["qcr", "small"].rebound.value == pytest.approx(1.0)
    assert "none" not in {level for _, level in found}


def test_retrieval_diagnostics_by_hand(run: Run) -> None:
    """a3's own record stands second, behind r1 of the same family; the others' stand first."""
    found = metrics.retrieval(run.targets)
    assert (found.k, found.paired_at_1.hits, found.paired_at_1.n) == (2, 3, 4)
    assert found.paired_at_k.value == 1.0
    assert found.usable_at_1.value == 1.0
    assert found.chosen_paired.value == pytest.approx(3 / 4)
    assert found.chosen_usable.value == 1.0
    assert found.mrr_paired.value == pytest.approx((1 + 1 + 0.5 + 1) / 4)
    assert found.mrr_usable.value == 1.0
    assert (found.precision_at_k.value, found.precision_at_k.targets) == (pytest.approx((1 + 1 + 2 + 1) / 2 / 4), 4)


def test_steps_saved_are_those_of_pairs_that_both_solved(tmp_path: Path) -> None:
    """Of one target one seed counts: in the other No Memory failed at once. A skill's calls are calls, not steps."""
    made = MadeRun(conditions=("none", "skill", "qcr"), seeds=(0, 1))
    made.record("r", {"person": "Ben"})
    one, two = (made.target(f"Pay Anna {n}.", "r", {"person": "Anna"}) for n in (1, 2))
    step = call("contacts_search", query="Anna")
    for target, seed, took in ((one, 0, 6), (one, 1, 1), (two, 0, 5), (two, 1, 3)):
        made.episode(target, "none", took > 1, seed=seed, steps=[step] * took)
        inner = step.model_copy(update={"calls": step.calls * 4})
        made.episode(target, "skill", True, seed=seed, steps=[inner])
        made.episode(target, "qcr", False, seed=seed, steps=[])
    skill, qcr = savings(load_run(made.write(tmp_path / "run")).episodes, ("none", "skill", "qcr"))
    assert (skill.condition, skill.steps.value, skill.steps.targets, skill.steps.episodes) == ("skill", 4.0, 2, 3)
    assert skill.api_calls.value == pytest.approx((2 + (1 - 1) / 2) / 2)
    assert (qcr.steps.value, qcr.steps.targets) == (None, 0)


def test_endings_account_for_every_planned_cell(run: Run) -> None:
    found = metrics.endings(run.episodes, CONDITIONS, planned=8)
    full = {(e.outcome, e.ending): e.cells for e in found if e.condition == "full"}
    assert full == {
        ("valid", "success"): 3,
        ("valid", "failure"): 3,
        ("invalid-agent", "over-steps"): 1,
        ("invalid-infra", "ProviderError"): 1,
    }
    assert {(e.outcome, e.cells) for e in found if e.condition == "none"} >= {("missing", 1)}
    for condition in CONDITIONS:
        assert sum(e.cells for e in found if e.condition == condition) == 8


def test_pass_hat_k_uses_valid_runs_only(run: Run) -> None:
    found = passes.passes(run.episodes, CONDITIONS, 2)
    assert (found["qcr"][0].value, found["qcr"][0].targets) == (pytest.approx((1 + 1 + 0.5) / 3), 3)
    assert (found["qcr"][1].value, found["qcr"][1].targets) == (pytest.approx((1 + 1 + 0) / 3), 3)
    assert (found["full"][1].value, found["full"][1].targets) == (pytest.approx((0 + 1) / 2), 2)


def test_retained_utility_is_the_ratio_to_the_easiest_group(run: Run) -> None:
    """qcr, valid pairs: small (a1) 1; large (a2 .5, a3 0) .25."""
    found = contrasts.retained_utility(run.episodes, CONDITIONS)
    one = next(r for r in found if (r.condition, r.treatment, r.dimension) == ("qcr", "excluded", "level"))
    assert (one.group, one.reference_group) == ("large", "small")
    assert one.ratio.value == pytest.approx(0.25)


def test_pass_rates_stand_under_both_treatments_in_every_group(run: Run) -> None:
    """qcr, k = 2: a1 and a2 always succeed, a3 not; s1 is invalid throughout: no target of Sites, or failures there."""
    found = {
        (r.treatment, r.dimension, r.group): r.passed
        for r in passes.pass_rates(run.episodes, CONDITIONS, 2, ("rebind/Apps-v0", SITES))
        if (r.condition, r.passed.k) == ("qcr", 2)
    }
    assert (found["excluded", "all", "all"].value, found["excluded", "all", "all"].targets) == (pytest.approx(2 / 3), 3)
    assert found["failed", "all", "all"].value == pytest.approx(2 / 4)
    assert found["excluded", "environment", SITES].value is None
    assert found["excluded", "macro", "all"].value is None
    assert found["failed", "macro", "all"].value == pytest.approx((2 / 3 + 0) / 2)
    assert found["excluded", "level", "large"].value == pytest.approx(1 / 2)
    assert found["excluded", "length_group", "5-10"].targets == 3


def test_stale_bindings_are_contrasted_over_runs_that_acted_on_checkable_targets(found: list[Contrast]) -> None:
    """full − none: a1 is stale in both seeds, a2 in its one valid run, a3 in none of its runs, s1 neither."""
    by = {c.treatment: c.effect for c in found if (c.metric, c.condition, c.reference, c.dimension) == STALE_FULL}
    assert by["excluded"].mean == pytest.approx((1 + 1 + 0 + 0) / 4)
    assert by["failed"].pairs == by["excluded"].pairs, "an invalid-agent run counts, but a3 has no second run of none"


def test_contrasts_exist_on_every_metric_in_every_dimension(found: list[Contrast]) -> None:
    seen = {(c.metric, c.dimension) for c in found}
    dimensions = ("all", "macro", "environment", "level", "length_group")
    assert seen == {(m, d) for m in metrics.METRICS for d in dimensions}


def test_interactions_are_tested_and_adjusted_for_every_pair_and_dimension(run: Run) -> None:
    made = contrasts.interactions(run.episodes, contrasts.pairs_of(CONDITIONS))
    assert len(made) == 2 * 3 * 3
    assert {i.dimension for i in made} == {"level", "length_group", "environment"}
    assert all(i.test.reason == "fewer than two groups with 5 clusters each" for i in made)
