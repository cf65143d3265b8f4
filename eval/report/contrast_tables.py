"""The tables of paired contrasts: gains over No Memory by group, effects and their tests, retained utility."""

from __future__ import annotations

from collections.abc import Sequence

from rebind.eval.contrasts import NO_MEMORY, Contrast, Interaction, Retained
from rebind.eval.metrics import Dimension, Treatment
from rebind.eval.report import format as fmt
from rebind.eval.report.model import Column, Entry, Table
from rebind.eval.report.tabling import column, first, table_of, treated, treatment_column


def utility(
    contrasts: Sequence[Contrast],
    means: dict[str, Entry],
    conditions: Sequence[str],
    dimension: Dimension,
    treatments: Sequence[Treatment],
) -> Table:
    """Tables 2 and 3 of QCR: gain over No Memory within each group, under each treatment. `means` gives No Memory's own
    success by group."""
    memory = [c for c in conditions if c != NO_MEMORY]
    found = {
        (c.group, c.condition, c.treatment): c.effect
        for c in contrasts
        if (c.metric, c.reference, c.dimension) == ("success", NO_MEMORY, dimension)
    }
    groups = list(dict.fromkeys(group for group, _, _ in found))
    columns = [first({"level": "Binding shift", "length_group": "Length group"}.get(dimension, "Environment"), "group")]
    columns.append(column("none", "Success", fmt.condition_label(NO_MEMORY)))
    for c in memory:
        labels = {"excluded": "excl.", "failed": "fail."} if len(treatments) > 1 else {treatments[0]: "Gain"}
        columns += [column(f"{c}.{t}", labels[t], fmt.condition_label(c)) for t in treatments]
    rows = []
    for group in groups:
        effects_of = (found.get((group, c, t)) for c in memory for t in treatments)  # none where all pairs are invalid
        cells = [fmt.difference(effect) if effect else Entry(text=fmt.DASH) for effect in effects_of]
        rows.append((fmt.heading(fmt.group_label(dimension, group)), means.get(group, Entry(text=fmt.DASH)), *cells))
    return table_of(f"utility_by_{dimension}", columns, rows, both=len(treatments) > 1)


def effects(contrasts: Sequence[Contrast], metric: str, treatments: Sequence[Treatment]) -> Table:
    """Every contrast on one metric over all targets, with its intervals and tests."""
    wanted = [c for c in contrasts if c.metric == metric and c.dimension in ("all", "macro")]
    found = [c for c in wanted if c.treatment in treatments]
    order = list(dict.fromkeys((c.condition, c.reference) for c in found))
    found.sort(key=lambda c: (order.index((c.condition, c.reference)), c.dimension, c.treatment))
    several = any(c.dimension == "macro" for c in found)
    columns = (
        first("Contrast", "contrast"),
        *([Column(key="mean", label="Average", numeric=False)] if several else []),
        *treatment_column(treatments),
        column("difference", "Difference"),
        column("robust", "Cluster-robust", "95 % interval"),
        column("bootstrap", "BCa bootstrap", "95 % interval"),
        column("p", "p", "Sign-flip"),
        column("holm", "Holm", "Sign-flip"),
        column("pairs", "Pairs"),
        column("clusters", "Sources"),
    )
    rows = [_effect_row(c, several, treatments) for c in found]
    return table_of("effects" if metric == "success" else f"effects_{metric}", columns, rows)


def _effect_row(c: Contrast, several: bool, treatments: Sequence[Treatment]) -> tuple[Entry, ...]:
    e = c.effect
    return (
        fmt.contrast(c.condition, c.reference),
        *([fmt.word("micro" if c.dimension == "all" else "macro")] if several else []),
        *treated(treatments, c.treatment),
        fmt.difference(e, c.metric),
        fmt.interval(e.robust, c.metric),
        fmt.interval(e.bootstrap, c.metric),
        fmt.p_value(e.sign_flip.p, e.sign_flip.reason),
        fmt.p_value(e.sign_flip.holm, e.sign_flip.reason),
        fmt.count(e.pairs),
        fmt.count(e.clusters),
    )


def retained_utility(found: Sequence[Retained], treatments: Sequence[Treatment]) -> Table:
    columns = (
        first("Method"),
        *treatment_column(treatments),
        Column(key="group", label="Group", numeric=False),
        Column(key="reference", label="Against", numeric=False),
        column("ratio", "Retained"),
        column("interval", "95 % interval"),
    )
    rows = tuple(
        (
            fmt.heading(fmt.condition_label(r.condition)),
            *treated(treatments, r.treatment),
            fmt.word(fmt.group_label(r.dimension, r.group)),
            fmt.word(fmt.group_label(r.dimension, r.reference_group)),
            fmt.ratio(r.ratio),
            fmt.ratio_interval(r.ratio),
        )
        for r in found
        if r.treatment in treatments
    )
    return table_of("retained", columns, rows)


def interactions(found: Sequence[Interaction], treatments: Sequence[Treatment]) -> Table:
    columns = (
        first("Contrast", "contrast"),
        *treatment_column(treatments),
        Column(key="dimension", label="Changes with", numeric=False),
        column("p", "p"),
    )
    rows = tuple(
        (
            fmt.contrast(i.condition, i.reference),
            *treated(treatments, i.treatment),
            fmt.word({"level": "binding shift", "length_group": "length"}.get(i.dimension, i.dimension)),
            fmt.p_value(i.test.p, i.test.reason),
        )
        for i in found
        if i.treatment in treatments
    )
    return table_of("interactions", columns, rows)
