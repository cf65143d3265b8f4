"""The tables of a report. The small figure beside a mean is its denominator; the captions say of what."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from rebind.eval.contrasts import NO_MEMORY, Contrast, Interaction, Retained
from rebind.eval.metrics import (
    ALL,
    MACRO,
    MICRO,
    TREATMENTS,
    Dimension,
    Ended,
    Mean,
    Retrieval,
    Staleness,
    Summary,
    Treatment,
)
from rebind.eval.report import format as fmt
from rebind.eval.report.model import Column, Entry, Table
from rebind.eval.rows import COMPONENTS
from rebind.eval.stats import Passed
from rebind.types import Usage

Means = dict[tuple[str, str, Treatment], Summary]
"""By condition, scope and treatment."""

_COMPONENT_LABELS = {"i_base": "I_base", "i_mem": "I_mem", "i_syn": "I_syn", "o_syn": "O_syn", "o_act": "O_act"}


def _table(name: str, columns: Sequence[Column], rows: Sequence[tuple[Entry, ...]]) -> Table:
    """A table with the title and caption it has in `captions.toml`."""
    words = _captions()[name]
    caption = " ".join(words["caption"].split())
    return Table(id=name, title=words["title"], caption=caption, columns=tuple(columns), rows=tuple(rows))


@cache
def _captions() -> dict[str, dict[str, str]]:
    return tomllib.loads(Path(__file__).with_name("captions.toml").read_text(encoding="utf-8"))


def _column(key: str, label: str, group: str = "") -> Column:
    return Column(key=key, label=label, group=group)


def _first(label: str, key: str = "condition") -> Column:
    return Column(key=key, label=label, numeric=False)


def end_to_end(means: Means, conditions: Sequence[str], environments: Sequence[str], treatment: Treatment) -> Table:
    """Table 1 of QCR: Success and Milestone per environment, then what it took."""
    several = len(environments) > 1
    scopes = [*environments, MACRO] if several else list(environments)
    columns = [_first("Method")]
    for scope in scopes:
        group = "Average" if scope == MACRO else fmt.environment_label(scope)
        columns += [_column(f"{scope}.{m}", f"{fmt.metric_label(m)} ↑", group) for m in ("success", "milestone")]
    columns += [
        _column("api_calls", "API calls ↓", "Efficiency"),
        _column("online", "Online tokens ↓", "Efficiency"),
        _column("episodes", "Episodes", "Efficiency"),
    ]
    rows = []
    for c in conditions:
        row = [fmt.heading(fmt.condition_label(c))]
        for scope in scopes:
            found = means[c, scope, treatment].means
            row += [fmt.percent(found["success"]), fmt.percent(found["milestone"])]
        micro = means[c, MICRO, treatment].means
        row += [fmt.amount(micro["api_calls"]), fmt.tokens(micro["online"]), fmt.count(micro["success"].episodes)]
        rows.append(tuple(row))
    return _table("end_to_end" if treatment == "excluded" else "end_to_end_failed", columns, rows)


def averages(means: Means, conditions: Sequence[str]) -> Table:
    """Macro and micro, both treatments."""
    columns = [_first("Method"), Column(key="treatment", label="Invalid runs", numeric=False)]
    for scope, group in ((MACRO, "Macro"), (MICRO, "Micro")):
        columns += [_column(f"{scope}.{m}", fmt.metric_label(m), group) for m in ("success", "milestone")]
    columns += [_column("interval", "95 % interval of micro Success"), _column("episodes", "Episodes")]
    rows = []
    for c in conditions:
        for treatment in TREATMENTS:
            macro, micro = means[c, MACRO, treatment].means, means[c, MICRO, treatment].means
            row = (
                fmt.heading(fmt.condition_label(c)),
                fmt.treatment(treatment),
                *(fmt.percent(m[name]) for m in (macro, micro) for name in ("success", "milestone")),
                fmt.percent_interval(micro["success"].interval),
                fmt.count(micro["success"].episodes),
            )
            rows.append(row)
    return _table("averages", columns, rows)


def token_components(means: Means, conditions: Sequence[str]) -> Table:
    """The five components of C_online, the other view, and what lies beside it."""
    columns = [_first("Method")]
    columns += [_column(c, _COMPONENT_LABELS[c], "Billed") for c in COMPONENTS]
    columns += [_column("online", "C_online", "Billed"), _column("once", "Counted once")]
    columns += [_column("cached", "Cached", "Not added"), _column("wasted", "Failed attempts", "Not added")]
    columns.append(_column("cost", "Cost"))
    rows = []
    for c in conditions:
        found = means[c, MICRO, "excluded"].means
        amounts = [fmt.tokens(found[name]) for name in (*COMPONENTS, "online", "once", "cached", "wasted")]
        rows.append((fmt.heading(fmt.condition_label(c)), *amounts, fmt.dollars(found["cost"])))
    return _table("tokens", columns, rows)


def utility(
    contrasts: Sequence[Contrast], means: dict[str, Entry], conditions: Sequence[str], dimension: Dimension
) -> Table:
    """Tables 2 and 3 of QCR: gain over No Memory within each group, both treatments. `means` gives No Memory's own
    success by group."""
    memory = [c for c in conditions if c != NO_MEMORY]
    found = {
        (c.group, c.condition, c.treatment): c.effect
        for c in contrasts
        if (c.metric, c.reference, c.dimension) == ("success", NO_MEMORY, dimension)
    }
    groups = list(dict.fromkeys(group for group, _, _ in found))
    columns = [
        _first({"level": "Binding shift", "length_group": "Length group"}.get(dimension, "Environment"), "group")
    ]
    columns.append(_column("none", "Success", fmt.condition_label(NO_MEMORY)))
    for c in memory:
        columns += [
            _column(f"{c}.excluded", "excl.", fmt.condition_label(c)),
            _column(f"{c}.failed", "fail.", fmt.condition_label(c)),
        ]
    rows = []
    for group in groups:
        effects_of = (found.get((group, c, t)) for c in memory for t in TREATMENTS)  # none where all pairs are invalid
        cells = [fmt.difference(effect) if effect else Entry(text=fmt.DASH) for effect in effects_of]
        rows.append((fmt.heading(fmt.group_label(dimension, group)), means.get(group, Entry(text=fmt.DASH)), *cells))
    return _table(f"utility_by_{dimension}", columns, rows)


def effects(contrasts: Sequence[Contrast], metric: str) -> Table:
    """Every contrast on one metric over all targets, with its intervals and tests."""
    found = [c for c in contrasts if c.metric == metric and c.dimension in ("all", "macro")]
    order = list(dict.fromkeys((c.condition, c.reference) for c in found))
    found.sort(key=lambda c: (order.index((c.condition, c.reference)), c.dimension, c.treatment))
    several = any(c.dimension == "macro" for c in found)
    columns = (
        _first("Contrast", "contrast"),
        *([Column(key="mean", label="Average", numeric=False)] if several else []),
        Column(key="treatment", label="Invalid runs", numeric=False),
        _column("difference", "Difference"),
        _column("robust", "Cluster-robust", "95 % interval"),
        _column("bootstrap", "BCa bootstrap", "95 % interval"),
        _column("p", "p", "Sign-flip"),
        _column("holm", "Holm", "Sign-flip"),
        _column("pairs", "Pairs"),
        _column("clusters", "Sources"),
    )
    rows = [_effect_row(c, several) for c in found]
    return _table("effects" if metric == "success" else f"effects_{metric}", columns, rows)


def _effect_row(c: Contrast, several: bool) -> tuple[Entry, ...]:
    e = c.effect
    return (
        fmt.contrast(c.condition, c.reference),
        *([fmt.word("micro" if c.dimension == "all" else "macro")] if several else []),
        fmt.treatment(c.treatment),
        fmt.difference(e, c.metric),
        fmt.interval(e.robust, c.metric),
        fmt.interval(e.bootstrap, c.metric),
        fmt.p_value(e.sign_flip.p, e.sign_flip.reason),
        fmt.p_value(e.sign_flip.holm, e.sign_flip.reason),
        fmt.count(e.pairs),
        fmt.count(e.clusters),
    )


def retained_utility(found: Sequence[Retained]) -> Table:
    columns = (
        _first("Method"),
        Column(key="treatment", label="Invalid runs", numeric=False),
        Column(key="group", label="Group", numeric=False),
        Column(key="reference", label="Against", numeric=False),
        _column("ratio", "Retained"),
        _column("interval", "95 % interval"),
    )
    rows = tuple(
        (
            fmt.heading(fmt.condition_label(r.condition)),
            fmt.treatment(r.treatment),
            fmt.word(fmt.group_label(r.dimension, r.group)),
            fmt.word(fmt.group_label(r.dimension, r.reference_group)),
            fmt.ratio(r.ratio),
            fmt.ratio_interval(r.ratio),
        )
        for r in found
    )
    return _table("retained", columns, rows)


def interactions(found: Sequence[Interaction]) -> Table:
    columns = (
        _first("Contrast", "contrast"),
        Column(key="treatment", label="Invalid runs", numeric=False),
        Column(key="dimension", label="Changes with", numeric=False),
        _column("p", "p"),
    )
    rows = tuple(
        (
            fmt.contrast(i.condition, i.reference),
            fmt.treatment(i.treatment),
            fmt.word("binding shift" if i.dimension == "level" else "length"),
            fmt.p_value(i.test.p, i.test.reason),
        )
        for i in found
    )
    return _table("interactions", columns, rows)


def pass_hat(passes: dict[str, tuple[Passed, ...]]) -> Table:
    most = max((len(p) for p in passes.values()), default=0)
    rows = tuple((fmt.heading(fmt.condition_label(c)), *(fmt.percent(p) for p in found)) for c, found in passes.items())
    return _table(
        "pass_hat_k",
        (_first("Method"), *(_column(f"k{k}", f"k = {k}") for k in range(1, most + 1))),
        rows,
    )


def staleness(found: Sequence[Staleness], conditions: Sequence[str]) -> Table:
    levels = [level for level in dict.fromkeys(s.level for s in found) if level != ALL]
    by = {(s.condition, s.level): s for s in found}
    columns = [_first("Method")]
    for level in (ALL, *levels):
        group = "All targets" if level == ALL else f"{level.capitalize()} shift"
        columns += [_column(f"{level}.stale", "Stale ↓", group), _column(f"{level}.rebound", "Rebound ↑", group)]
    columns.append(_column("bound", "Values bound"))
    rows = []
    for c in conditions:
        row = [fmt.heading(fmt.condition_label(c))]
        for level in (ALL, *levels):
            row += [fmt.percent(by[c, level].stale), fmt.percent(by[c, level].rebound)]
        rows.append((*row, fmt.percent(by[c, ALL].bound)))
    return _table("staleness", columns, rows)


def retrieval(found: Retrieval) -> Table:
    k = found.k
    rows = (
        ("First candidate", found.paired_at_1, found.usable_at_1),
        (f"Among the top {k}", found.paired_at_k, found.usable_at_k),
        ("Selected", found.chosen_paired, found.chosen_usable),
    )
    made: list[tuple[Entry, ...]] = [
        (fmt.heading(name), fmt.percent(paired), fmt.percent(usable)) for name, paired, usable in rows
    ]
    mrr = [
        Entry(text=fmt.DASH if m.value is None else f"{m.value:.3f}", value=m.value, n=m.targets)
        for m in (found.mrr_paired, found.mrr_usable)
    ]
    made.append((fmt.heading("Mean reciprocal rank"), *mrr))
    return _table(
        "retrieval",
        (_first("", "what"), _column("paired", "Paired"), _column("usable", "Usable")),
        made,
    )


def endings(found: Sequence[Ended], conditions: Sequence[str]) -> Table:
    """One column per way to end, grouped by outcome."""
    order = ("valid", "invalid-agent", "invalid-infra", "missing")
    ways = sorted({(e.outcome, e.ending) for e in found}, key=lambda way: (order.index(way[0]), way[1]))
    cells = {(e.condition, e.outcome, e.ending): e.cells for e in found}
    rows = [
        (
            fmt.heading(fmt.condition_label(c)),
            *(fmt.count(cells.get((c, *way), 0)) for way in ways),
            fmt.count(sum(e.cells for e in found if e.condition == c)),
        )
        for c in conditions
    ]
    columns = [_first("Method"), *(_column(".".join(way), way[1], way[0]) for way in ways), _column("cells", "Cells")]
    return _table("endings", columns, rows)


def ranking(usages: Sequence[Usage]) -> Table:
    """What the ranker spent, per target that a model ranked."""

    def average(part: str) -> Mean:
        known = [n for n in (getattr(u, part) for u in usages) if n is not None]
        return Mean(value=sum(known) / len(known) if known else None, targets=len(known), episodes=len(known))

    row = (fmt.heading("Ranker"), fmt.tokens(average("prompt")), fmt.tokens(average("completion")))
    columns = (_first("Account", "account"), _column("prompt", "Prompt"), _column("completion", "Completion"))
    return _table("ranking", columns, [row] if usages else [])
