"""The tables of a report. The small figure beside a mean is its denominator; the captions say of what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rebind.eval.metrics import (
    ALL,
    MACRO,
    MICRO,
    Ended,
    Mean,
    Retrieval,
    Share,
    Staleness,
    Summary,
    Treatment,
    scored,
)
from rebind.eval.passes import Passed
from rebind.eval.report import format as fmt
from rebind.eval.report.model import Entry, Table
from rebind.eval.report.tabling import column, first, table_of, treated, treatment_column
from rebind.eval.rows import COMPONENTS
from rebind.eval.savings import Saving
from rebind.types import Usage

if TYPE_CHECKING:
    import pandas as pd

Means = dict[tuple[str, str, Treatment], Summary]
"""By condition, scope and treatment."""

_COMPONENT_LABELS = {"i_base": "I_base", "i_mem": "I_mem", "i_syn": "I_syn", "o_syn": "O_syn", "o_act": "O_act"}


def end_to_end(means: Means, conditions: Sequence[str], environments: Sequence[str], treatment: Treatment) -> Table:
    """Table 1 of QCR: Success and Milestone per environment, then what it took."""
    several = len(environments) > 1
    scopes = [*environments, MACRO] if several else list(environments)
    columns = [first("Method")]
    for scope in scopes:
        group = "Average" if scope == MACRO else fmt.environment_label(scope)
        columns += [column(f"{scope}.{m}", f"{fmt.metric_label(m)} ↑", group) for m in ("success", "milestone")]
    columns += [
        column("api_calls", "API calls ↓", "Efficiency"),
        column("online", "Online tokens ↓", "Efficiency"),
        column("episodes", "Episodes", "Efficiency"),
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
    return table_of("end_to_end" if treatment == "excluded" else "end_to_end_failed", columns, rows)


def averages(means: Means, conditions: Sequence[str], treatments: Sequence[Treatment]) -> Table:
    """Macro and micro, under each treatment."""
    columns = [first("Method"), *treatment_column(treatments)]
    for scope, group in ((MACRO, "Macro"), (MICRO, "Micro")):
        columns += [column(f"{scope}.{m}", fmt.metric_label(m), group) for m in ("success", "milestone")]
    columns += [column("interval", "95 % interval of micro Success"), column("episodes", "Episodes")]
    rows = []
    for c in conditions:
        for treatment in treatments:
            macro, micro = means[c, MACRO, treatment].means, means[c, MICRO, treatment].means
            row = (
                fmt.heading(fmt.condition_label(c)),
                *treated(treatments, treatment),
                *(fmt.percent(m[name]) for m in (macro, micro) for name in ("success", "milestone")),
                fmt.percent_interval(micro["success"].interval),
                fmt.count(micro["success"].episodes),
            )
            rows.append(row)
    return table_of("averages", columns, rows)


def token_components(means: Means, shares: Mapping[str, Share], conditions: Sequence[str]) -> Table:
    """The five components of C_online, the other view, and what lies beside it. `shares`: by condition, of
    prompt tokens those from a prefix cache."""
    columns = [first("Method")]
    columns += [column(c, _COMPONENT_LABELS[c], "Billed") for c in COMPONENTS]
    columns += [column("online", "C_online", "Billed"), column("once", "Counted once")]
    columns += [column("cached", "Cached", "Not added"), column("cached_share", "Cached, % of prompts", "Not added")]
    columns.append(column("wasted", "Failed attempts", "Not added"))
    columns.append(column("cost", "Cost"))
    rows = []
    for c in conditions:
        found = means[c, MICRO, "excluded"].means
        amounts = [fmt.whole(found[name]) for name in (*COMPONENTS, "online", "once", "cached")]
        share = fmt.percent(shares[c]).model_copy(update={"n": None})
        beside = fmt.whole(found["wasted"]), fmt.dollars(found["cost"])
        rows.append((fmt.heading(fmt.condition_label(c)), *amounts, share, *beside))
    return table_of("tokens", columns, rows)


def families(episodes: pd.DataFrame, conditions: Sequence[str]) -> Table:
    """Success of every condition in every task family, over valid runs."""
    rows = scored(episodes, "excluded")
    each = rows.groupby(["family", "condition", "target"])["success"].mean().groupby(["family", "condition"])
    found = {key: (value, n) for key, value, n in zip(each.mean().index, each.mean(), each.count(), strict=True)}
    nothing = Entry(text=fmt.DASH, n=0)
    made = [
        (fmt.heading(family), *(_share(*found[family, c]) if (family, c) in found else nothing for c in conditions))
        for family in sorted(episodes["family"].unique())
    ]
    columns = [first("Task family", "family"), *(column(c, fmt.condition_label(c)) for c in conditions)]
    return table_of("families", columns, made)


def _share(value: float, targets: int) -> Entry:
    return fmt.percent(Mean(value=float(value), targets=int(targets), episodes=int(targets)))


def pass_hat(passes: dict[str, tuple[Passed, ...]]) -> Table:
    most = max((len(p) for p in passes.values()), default=0)
    rows = tuple((fmt.heading(fmt.condition_label(c)), *(fmt.percent(p) for p in found)) for c, found in passes.items())
    return table_of(
        "pass_hat_k",
        (first("Method"), *(column(f"k{k}", f"k = {k}") for k in range(1, most + 1))),
        rows,
    )


def staleness(found: Sequence[Staleness], conditions: Sequence[str]) -> Table:
    levels = [level for level in dict.fromkeys(s.level for s in found) if level != ALL]
    by = {(s.condition, s.level): s for s in found}
    columns = [first("Method")]
    for level in (ALL, *levels):
        group = "All targets" if level == ALL else f"{level.capitalize()} shift"
        columns += [column(f"{level}.stale", "Stale ↓", group), column(f"{level}.rebound", "Rebound ↑", group)]
    columns.append(column("bound", "Values bound"))
    rows = []
    for c in conditions:
        row = [fmt.heading(fmt.condition_label(c))]
        for level in (ALL, *levels):
            row += [fmt.percent(by[c, level].stale), fmt.percent(by[c, level].rebound)]
        rows.append((*row, fmt.percent(by[c, ALL].bound)))
    return table_of("staleness", columns, rows)


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
    made.append(
        (
            fmt.heading(f"Precision@{k}"),
            Entry(text=fmt.DASH, n=found.precision_at_k.targets),
            fmt.percent(found.precision_at_k),
        )
    )
    return table_of(
        "retrieval",
        (first("", "what"), column("paired", "Paired"), column("usable", "Usable")),
        made,
    )


def savings(found: Sequence[Saving]) -> Table:
    """StepRed, and the API calls saved."""
    columns = (first("Method"), column("steps", "StepRed ↑"), column("api_calls", "API calls saved ↑"))
    rows = [
        (fmt.heading(fmt.condition_label(s.condition)), fmt.amount(s.steps, 2), fmt.amount(s.api_calls, 2))
        for s in found
    ]
    return table_of("savings", columns, rows)


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
    columns = [first("Method"), *(column(".".join(way), way[1], way[0]) for way in ways), column("cells", "Cells")]
    return table_of("endings", columns, rows)


def ranking(usages: Sequence[Usage]) -> Table:
    """What the ranker spent, per target that a model ranked."""

    def average(part: str) -> Mean:
        known = [n for n in (getattr(u, part) for u in usages) if n is not None]
        return Mean(value=sum(known) / len(known) if known else None, targets=len(known), episodes=len(known))

    row = (fmt.heading("Ranker"), fmt.whole(average("prompt")), fmt.whole(average("completion")))
    columns = (first("Account", "account"), column("prompt", "Prompt"), column("completion", "Completion"))
    return table_of("ranking", columns, [row] if usages else [])
