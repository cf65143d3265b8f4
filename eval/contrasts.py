"""Contrasts between conditions: always paired on target and seed, always under both treatments of invalid runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rebind.eval.metrics import ALL, METRICS, TREATMENTS, Dimension, Treatment, groups_of, scored
from rebind.eval.ratios import Ratio, retained
from rebind.eval.stats import RESAMPLES, Effect, Test, interaction, macro_effect, paired_effect, with_holm
from rebind.types import LENGTH_GROUPS, SHIFT_LEVELS, Frozen

if TYPE_CHECKING:
    import pandas as pd

NO_MEMORY, OURS = "none", "qcr"
SLICE_RESAMPLES = 1_999
"""Draws of a sign-flip test within a group of targets; over all targets it has `RESAMPLES`."""


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


@dataclass(frozen=True)
class Differences:
    """Target means of a paired difference, with what each target belongs to."""

    values: list[float]
    clusters: list[str]
    groups: list[str]
    pairs: int


def pairs_of(conditions: Sequence[str]) -> list[tuple[str, str]]:
    """The contrasts of a study: every condition against No Memory, QCR against every other memory condition. Without No
    Memory, every condition against the first."""
    if NO_MEMORY not in conditions:
        return [(c, conditions[0]) for c in conditions[1:]]
    memory = [c for c in conditions if c != NO_MEMORY]
    against = [(OURS, c) for c in memory if c != OURS] if OURS in memory else []
    return [(c, NO_MEMORY) for c in memory] + against


class Pairing:
    """The episodes of one treatment, laid out so that differences are quick to take."""

    def __init__(self, episodes: pd.DataFrame, treatment: Treatment) -> None:
        self.treatment: Treatment = treatment
        self.rows = scored(episodes, treatment)
        self._about = self.rows.drop_duplicates("target").set_index("target")
        self._wide: dict[str, pd.DataFrame] = {}

    def differences(
        self, metric: str, pair: tuple[str, str], dimension: Dimension = "all", group: str = ALL
    ) -> Differences:
        """condition − reference of a metric, seed by seed, then the mean per target. Targets without a pair are left
        out."""
        if metric not in self._wide:
            self._wide[metric] = self.rows.pivot(index=["target", "seed"], columns="condition", values=metric)
        wide = self._wide[metric]
        if not set(pair) <= set(wide.columns):
            return Differences([], [], [], 0)
        each = (wide[pair[0]] - wide[pair[1]]).dropna()
        column = "environment" if dimension in ("all", "macro") else dimension
        about = self._about[[column, "source"]]
        if group != ALL:
            about = about[about[column] == group]
            each = each[each.index.get_level_values("target").isin(about.index)]
        means = each.groupby(level="target", sort=True).mean()
        about = about.loc[means.index]
        return Differences(means.tolist(), about["source"].tolist(), about[column].tolist(), len(each))


def contrasts(episodes: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> list[Contrast]:
    """All contrasts: on every metric over all targets (micro, and macro where there are several environments), on
    success also by environment, shift level and length group. Holm runs within one metric, treatment and dimension."""
    found: list[Contrast] = []
    several = episodes["environment"].nunique() > 1
    for treatment in TREATMENTS:
        pairing = Pairing(episodes, treatment)
        for metric in METRICS:
            found += _family(pairing, metric, pairs, "all")
            if several:
                found += _family(pairing, metric, pairs, "macro")
        for dimension in _dimensions(several):
            found += _family(pairing, "success", pairs, dimension)
    return found


def _dimensions(several_environments: bool) -> tuple[Dimension, ...]:
    return ("environment", "level", "length_group") if several_environments else ("level", "length_group")


def _family(pairing: Pairing, metric: str, pairs: Sequence[tuple[str, str]], dimension: Dimension) -> list[Contrast]:
    """One family of tests: every pair in every group of a dimension."""
    keys = [(pair, group) for group in groups_of(pairing.rows, dimension) for pair in pairs]
    effects = with_holm(
        [_effect(pairing.differences(metric, pair, dimension, group), dimension) for pair, group in keys]
    )
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
        for (pair, group), effect in zip(keys, effects, strict=True)
    ]


def _effect(found: Differences, dimension: Dimension) -> Effect:
    if dimension == "macro":
        return macro_effect(found.values, found.clusters, found.groups, pairs=found.pairs)
    whole = dimension == "all"
    draws = RESAMPLES if whole else SLICE_RESAMPLES
    return paired_effect(found.values, found.clusters, pairs=found.pairs, bootstrap=whole, resamples=draws)


def retained_utility(episodes: pd.DataFrame, conditions: Sequence[str]) -> list[Retained]:
    """Utility over No Memory in each group over that in the easiest group there is: no shift, and the shortest length
    group of the paper (5–10)."""
    found: list[Retained] = []
    for treatment in TREATMENTS:
        pairing = Pairing(episodes, treatment)
        levels = [g for g in groups_of(pairing.rows, "level") if g in SHIFT_LEVELS]
        lengths = [g for g in groups_of(pairing.rows, "length_group") if g in LENGTH_GROUPS[1:]]
        found += _retained(pairing, conditions, "level", levels)
        found += _retained(pairing, conditions, "length_group", lengths)
    return found


def _retained(
    pairing: Pairing, conditions: Sequence[str], dimension: Dimension, groups: Sequence[str]
) -> list[Retained]:
    if len(groups) < 2:
        return []
    found = []
    for condition in (c for c in conditions if c != NO_MEMORY and NO_MEMORY in conditions):
        base = pairing.differences("success", (condition, NO_MEMORY), dimension, groups[0])
        for group in groups[1:]:
            part = pairing.differences("success", (condition, NO_MEMORY), dimension, group)
            ratio = retained((part.values, part.clusters), (base.values, base.clusters))
            found.append(
                Retained(
                    condition=condition,
                    treatment=pairing.treatment,
                    dimension=dimension,
                    group=group,
                    reference_group=groups[0],
                    ratio=ratio,
                )
            )
    return found


def interactions(episodes: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> list[Interaction]:
    """Condition × level and condition × length, for every pair."""
    dimensions: tuple[Dimension, ...] = ("level", "length_group")
    found = []
    for treatment in TREATMENTS:
        pairing = Pairing(episodes, treatment)
        for dimension in dimensions:
            for pair in pairs:
                d = pairing.differences("success", pair, dimension)
                test = interaction(d.values, d.clusters, d.groups)
                found.append(
                    Interaction(
                        condition=pair[0], reference=pair[1], treatment=treatment, dimension=dimension, test=test
                    )
                )
    return found
