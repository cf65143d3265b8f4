"""Sample sizes from a pilot, held to simulated studies."""

from __future__ import annotations

import numpy as np
import pytest

from rebind.errors import UserError
from rebind.eval import power, stats
from rebind.eval.bench import calibration_world as world
from rebind.eval.contrasts import Pairing

PAIR = ("full", "none")


def simulated(seed: int, sources: int, seeds: int) -> tuple[np.ndarray, world.Design]:
    """full − none in success, targets × seeds, of one simulated study; no invalid runs."""
    rng = np.random.default_rng(seed)
    design = world.draw_design(rng, sources)
    success = world.draw(rng, design).success.astype(float)
    full, none = (success[world.CONDITIONS.index(c)] for c in PAIR)
    return (full - none)[:, :seeds], design


def sample(differences: np.ndarray, design: world.Design) -> stats.Sample:
    return stats.Sample.of(differences.mean(axis=1), design.source, width=design.sources)


@pytest.fixture(scope="module")
def pilot() -> power.Components:
    """Of a large pilot, so that its own error does not matter."""
    differences, design = simulated(1, 1_500, 3)
    data = sample(differences, design).data
    assert data is not None
    return power.components(differences, stats.robust_error(data), data.clusters)


@pytest.mark.parametrize(("sources", "seeds"), [(15, 1), (30, 1), (15, 3), (30, 3)])
def test_predicted_power_is_that_of_simulated_studies(pilot: power.Components, sources: int, seeds: int) -> None:
    """A gain of 11 points on average; the tests are the sign-flip tests of the reports."""
    asked = stats.Asked(bootstrap=False, resamples=999)
    found = []
    for n in range(300):
        effect = stats.effects([sample(*simulated(100 + n, sources, seeds))], asked)[0]
        found.append(effect.sign_flip.p is not None and effect.sign_flip.p <= 0.05)
    predicted = power.power(pilot, sources, seeds, 0.11, 0.05)
    assert 0.2 < predicted < 0.95, "a size at which power can be told apart"
    assert np.mean(found) == pytest.approx(predicted, abs=0.08)


def test_components_of_a_balanced_design_are_recovered() -> None:
    """Between-source sd .3, between-target sd .2, seed sd .5; 4 targets a source, 3 seeds."""
    rng = np.random.default_rng(3)
    sources = np.repeat(np.arange(2_000), 4)
    by_seed = rng.normal(0, 0.3, 2_000)[sources, None] + rng.normal(0, 0.2, (8_000, 1)) + rng.normal(0, 0.5, (8_000, 3))
    data = stats.Sample.of(by_seed.mean(axis=1), sources, width=2_000).data
    assert data is not None
    found = power.components(by_seed, stats.robust_error(data), 2_000)
    assert found.between == pytest.approx(0.3**2 + 0.2**2 / 4, rel=0.06)
    assert found.seeds == pytest.approx(0.5**2 / 4, rel=0.03)
    assert found.targets_per_source == 4


def test_more_sources_and_more_seeds_give_more_power_and_the_level_where_there_is_no_effect() -> None:
    parts = power.Components(between=0.05, seeds=0.1, targets_per_source=4)
    by_sources = [power.power(parts, s, 3, 0.1, 0.05) for s in (5, 10, 40, 160)]
    by_seeds = [power.power(parts, 20, k, 0.1, 0.05) for k in (1, 3, 10)]
    assert by_sources == sorted(by_sources)
    assert by_seeds == sorted(by_seeds)
    assert power.power(parts, 20, 3, 0.0, 0.05) == pytest.approx(0.05)
    assert power.power(parts, 20, 3, 10.0, 0.05) == 1.0


def test_the_smallest_study_has_the_power_and_one_source_less_has_not(pilot: power.Components) -> None:
    asked = power.wish("success", 11, 0.8, 0.05)
    need = power._need(pilot, 3, asked, 60, 4)
    assert need.sources is not None
    assert power.power(pilot, need.sources, 3, 0.11, 0.05) >= 0.8
    assert power.power(pilot, need.sources - 1, 3, 0.11, 0.05) < 0.8
    assert need.targets is not None
    assert need.episodes == 6 * need.targets
    assert need.cautious is not None
    assert need.holm is not None
    assert min(need.cautious, need.holm) > need.sources
    found = power.detectable(pilot, need.sources, 3, asked)
    assert found == pytest.approx(0.11, rel=0.05)


def test_a_pilot_with_one_seed_says_nothing_of_more_seeds() -> None:
    differences, design = simulated(5, 40, 1)
    data = sample(differences, design).data
    assert data is not None
    found = power.components(differences, stats.robust_error(data), data.clusters)
    assert found.seeds is None
    assert found.between == pytest.approx(stats.robust_error(data) ** 2 * 40)


def test_every_contrast_of_a_pilot_gets_its_table() -> None:
    rng = np.random.default_rng(9)
    design = world.draw_design(rng, 20)
    pairing = Pairing(world.frame(design, world.draw(rng, design)), "excluded")
    found = power._contrast(pairing, PAIR, power.wish("online", 2_000, 0.8, 0.05), 5)
    assert found.reason is None
    assert found.detectable is not None
    assert 0 < found.detectable < 20_000
    assert {p.seeds for p in found.table} == set(power.SEEDS)
    seeds, rows = power.grid(found)
    assert (list(seeds), len(rows)) == (list(power.SEEDS), len(power.SOURCES))
    assert all(len(each) == len(seeds) for _, _, each in rows)


@pytest.mark.parametrize(
    ("metric", "effect", "wanted", "alpha", "said"),
    [
        ("sucess", 5, 0.8, 0.05, "did you mean 'success'"),
        ("success", 0, 0.8, 0.05, "--effect is 0"),
        ("success", 120, 0.8, 0.05, "between 0 and 100 points"),
        ("online", 500, 1.2, 0.05, "--power is 1.2"),
        ("online", 500, 0.8, 0.7, "--alpha is 0.7"),
    ],
)
def test_a_wish_out_of_range_is_refused_with_the_range(metric, effect, wanted, alpha, said) -> None:
    with pytest.raises(UserError, match=said):
        power.wish(metric, effect, wanted, alpha)
