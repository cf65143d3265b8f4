"""Contrasts between conditions: always paired on target and seed, always under both treatments of invalid runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from rebind.eval.metrics import ALL, METRICS, SHARES, TREATMENTS, Dimension, Treatment, groups_of, scored
from rebind.eval.ratios import Ratio, ratios
from rebind.eval.stats import (
    ANY,
    BCA,
    SHARE_DIFFERENCE,
    Asked,
    Bounds,
    Effect,
    Interval,
    Sample,
    Test,
    effects,
    holm_tests,
    with_holm,
)
from rebind.eval.stats import interaction as wald
from rebind.types import LENGTH_GROUPS, SHIFT_LEVELS, Frozen

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NO_MEMORY, OURS = "none", "qcr"
Pair = tuple[str, str]
"""A condition and its reference."""
WHOLE = Asked()
WITHIN = Asked(bootstrap=False, skipped=Interval(method=BCA, reason="made over all targets only"))
"""For effects in a group of targets."""


class Contrast(Frozen):
    """condition − reference on one metric, in one group of targets."""

    metric: str
    condition: str
    reference: str
    treatment: Treatment
    dimension: Dimension
    group: str
    effect: Effect


class Retained(Frozen):
    """How much of its utility over No Memory a condition keeps in a group, against a reference group."""

    condition: str
    treatment: Treatment
    dimension: Dimension
    group: str
    reference_group: str
    ratio: Ratio


class Interaction(Frozen):
    """Whether a condition's utility differs between the groups of a dimension."""

    condition: str
    reference: str
    treatment: Treatment
    dimension: Dimension
    test: Test


def pairs_of(conditions: Sequence[str]) -> list[tuple[str, str]]:
    """The contrasts of a study: every condition against No Memory, QCR against every other memory condition. Without No
    Memory, every condition against the first."""
    if NO_MEMORY not in conditions:
        return [(c, conditions[0]) for c in conditions[1:]]
    memory = [c for c in conditions if c != NO_MEMORY]
    against = [(OURS, c) for c in memory if c != OURS] if OURS in memory else []
    return [(c, NO_MEMORY) for c in memory] + against


class Pairing:
    """The episodes of one treatment as an array conditions × targets × seeds, so that differences are quick to take."""

    def __init__(self, episodes: pd.DataFrame, treatment: Treatment) -> None:
        import pandas as pd

        self.treatment: Treatment = treatment
        self.rows = scored(episodes, treatment)
        target, keys = pd.factorize(self.rows["target"], sort=True)
        seed, seeds = pd.factorize(self.rows["seed"], sort=True)
        condition, self._conditions = pd.factorize(self.rows["condition"], sort=True)
        self._at = condition, target, seed
        self._shape = len(self._conditions), len(keys), len(seeds)
        about = self.rows.drop_duplicates("target").set_index("target").loc[keys]
        self.sources, names = pd.factorize(about["source"], sort=True)
        self.width = len(names)
        """Source trajectories; `sources` are codes below it."""
        self._about = {d: about[d].to_numpy(dtype=object) for d in ("environment", "level", "length_group")}
        self._cubes: dict[str, Floats] = {}
        self._taken: dict[tuple[str, Pair], tuple[Floats, NDArray[np.intp]]] = {}

    def differences(self, metric: str, pair: Pair) -> tuple[Floats, NDArray[np.intp]]:
        """condition − reference of a metric, seed by seed, then the mean per target (NaN where it has no pair), and the
        number of pairs per target."""

        if (metric, pair) not in self._taken:
            self._taken[metric, pair] = over_seeds(self.by_seed(metric, pair))
        return self._taken[metric, pair]

    def by_seed(self, metric: str, pair: Pair) -> Floats:
        """condition − reference, targets × seeds; NaN where either is not known."""
        return self._values(metric, pair[0]) - self._values(metric, pair[1])

    def _values(self, metric: str, condition: str) -> Floats:
        """A condition's targets × seeds; NaN where nothing is known."""
        import numpy as np

        if metric not in self._cubes:
            cube = np.full(self._shape, np.nan)
            cube[self._at] = self.rows[metric].to_numpy(dtype=float)
            self._cubes[metric] = cube
        if condition not in self._conditions:
            return np.full(self._shape[1:], np.nan)
        place = cast("int", self._conditions.get_loc(condition))  # no condition is there twice
        return np.asarray(self._cubes[metric][place])

    def sample(self, metric: str, pair: Pair, dimension: Dimension = "all", group: str = ALL) -> Sample:
        """A contrast's differences in a group of targets, ready for the tests."""
        return self.sample_of(self.differences(metric, pair), bounds_of(metric), dimension, group)

    def sample_of(
        self,
        means: tuple[Floats, NDArray[np.intp]],
        bounds: Bounds,
        dimension: Dimension = "all",
        group: str = ALL,
    ) -> Sample:
        """As `sample`, of any means over seeds and the number of pairs behind each."""
        values, pairs = means
        kept = pairs > 0
        if group != ALL:
            kept = kept & (self._about[dimension] == group)
        return Sample.of(
            values[kept],
            self.sources[kept],
            self._about["environment"][kept].astype(str) if dimension == "macro" else None,
            pairs=int(pairs[kept].sum()),
            bounds=bounds,
            width=self.width,
        )

    def interaction(self, metric: str, pair: Pair, dimension: Dimension) -> Test:
        """Whether a contrast differs between the groups of a dimension."""
        values, pairs = self.differences(metric, pair)
        kept = (pairs > 0) & (self._about[dimension] == self._about[dimension])  # a missing group is unlike itself
        groups = self._about[dimension][kept].astype(str)
        return wald(values[kept].tolist(), self.sources[kept].astype(str).tolist(), groups.tolist())


def bounds_of(metric: str) -> Bounds:
    """What a difference on a metric can be."""
    return SHARE_DIFFERENCE if metric in SHARES else ANY


def over_seeds(each: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Means over seeds of targets × seeds (NaN for a target where none is known), and how many are known."""
    import numpy as np

    known = np.isfinite(each)
    pairs = known.sum(axis=1)
    with np.errstate(invalid="ignore"):
        return np.where(known, each, 0.0).sum(axis=1) / pairs, pairs


def contrasts(episodes: pd.DataFrame, pairs: Sequence[Pair]) -> list[Contrast]:
    """All contrasts on every metric under both treatments: over all targets (micro, and macro where there are several
    environments), and by environment, shift level and length group. Holm runs within one metric, treatment and
    dimension."""
    several = episodes["environment"].nunique() > 1
    found: list[Contrast] = []
    for treatment in TREATMENTS:
        pairing = Pairing(episodes, treatment)
        whole: tuple[Dimension, ...] = ("all", "macro") if several else ("all",)
        found += _families(pairing, pairs, whole, WHOLE)
        found += _families(pairing, pairs, _dimensions(several), WITHIN)
    return found


def _dimensions(several_environments: bool) -> tuple[Dimension, ...]:
    return ("environment", "level", "length_group") if several_environments else ("level", "length_group")


def _families(pairing: Pairing, pairs: Sequence[Pair], dimensions: Sequence[Dimension], asked: Asked) -> list[Contrast]:
    """Every metric and dimension is one family of tests: every pair in every group of the dimension."""
    keys: list[tuple[str, Dimension, str, Pair]] = [
        (metric, dimension, group, pair)
        for metric in METRICS
        for dimension in dimensions
        for group in groups_of(pairing.rows, dimension)
        for pair in pairs
    ]
    made = effects([pairing.sample(metric, pair, dimension, group) for metric, dimension, group, pair in keys], asked)
    families: dict[tuple[str, Dimension], list[int]] = {}
    for n, (metric, dimension, _, _) in enumerate(keys):
        families.setdefault((metric, dimension), []).append(n)
    for members in families.values():
        for n, effect in zip(members, with_holm([made[n] for n in members]), strict=True):
            made[n] = effect
    return [
        Contrast(
            metric=metric,
            condition=pair[0],
            reference=pair[1],
            treatment=pairing.treatment,
            dimension=dimension,
            group=group,
            effect=effect,
        )
        for (metric, dimension, group, pair), effect in zip(keys, made, strict=True)
    ]


def retained_utility(episodes: pd.DataFrame, conditions: Sequence[str]) -> list[Retained]:
    """Utility over No Memory in each group over that in the easiest group there is: no shift, and the shortest length
    group of the paper (5–10)."""
    found: list[Retained] = []
    memory = [c for c in conditions if c != NO_MEMORY and NO_MEMORY in conditions]
    for treatment in TREATMENTS:
        pairing = Pairing(episodes, treatment)
        levels = [g for g in groups_of(pairing.rows, "level") if g in SHIFT_LEVELS]
        lengths = [g for g in groups_of(pairing.rows, "length_group") if g in LENGTH_GROUPS[1:]]
        found += _retained(pairing, memory, "level", levels)
        found += _retained(pairing, memory, "length_group", lengths)
    return found


def _retained(pairing: Pairing, memory: Sequence[str], dimension: Dimension, groups: Sequence[str]) -> list[Retained]:
    keys = [(condition, group) for condition in memory for group in groups[1:]]

    def utility(condition: str, group: str) -> Sample:
        return pairing.sample("success", (condition, NO_MEMORY), dimension, group)

    made = ratios([(utility(condition, group), utility(condition, groups[0])) for condition, group in keys])
    return [
        Retained(
            condition=condition,
            treatment=pairing.treatment,
            dimension=dimension,
            group=group,
            reference_group=groups[0],
            ratio=ratio,
        )
        for (condition, group), ratio in zip(keys, made, strict=True)
    ]


def interactions(episodes: pd.DataFrame, pairs: Sequence[Pair]) -> list[Interaction]:
    """Condition × level, × length and, where there are several, × environment, for every pair; on Success. Holm runs
    within one treatment and dimension."""
    dimensions: tuple[Dimension, ...] = ("level", "length_group")
    if episodes["environment"].nunique() > 1:
        dimensions = (*dimensions, "environment")
    found = []
    for treatment in TREATMENTS:
        pairing = Pairing(episodes, treatment)
        for dimension in dimensions:
            tests = holm_tests([pairing.interaction("success", pair, dimension) for pair in pairs])
            found += [
                Interaction(condition=pair[0], reference=pair[1], treatment=treatment, dimension=dimension, test=test)
                for pair, test in zip(pairs, tests, strict=True)
            ]
    return found
