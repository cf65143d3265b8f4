"""Ledger → Report: every number computed anew."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from rebind.eval import contrasts as contrast
from rebind.eval import metrics
from rebind.eval.beside import beside
from rebind.eval.frames import Run, load_run
from rebind.eval.ledger.manifest import SIGNATURE_FILE, read_manifest
from rebind.eval.metrics import Dimension, Summary, Treatment, groups_of, mean, scored
from rebind.eval.passes import pass_rates
from rebind.eval.passes import passes as passes_of
from rebind.eval.report import contrast_tables, tables, tabling
from rebind.eval.report import format as fmt
from rebind.eval.report.cases import cases
from rebind.eval.report.drill import drill
from rebind.eval.report.model import Case, Drill, Entry, Provenance, Report, Study, Table
from rebind.eval.rows import ABANDONED
from rebind.eval.savings import savings

_PACKAGES = ("rebind", "numpy", "pandas", "scipy", "statsmodels", "pydantic")
ORDER = (
    "end_to_end", "end_to_end_failed", "averages", "pass_hat_k", "effects", "effects_milestone", "effects_api_calls",
    "effects_online", "effects_stale_binding", "savings", "utility_by_level", "utility_by_length_group",
    "utility_by_environment", "retained", "interactions", "tokens", "ranking", "staleness", "retrieval", "endings",
    "families",
)  # fmt: skip
"""The tables as they follow each other on the page."""
_MANY = 2_000
"""Episodes from which on the cases and steps are read in a second process."""
_MOST_NOTES = 8
"""Disagreeing rows named one by one."""


def build(folder: Path | str) -> Report:
    """The report of a run folder, finished or not.

    Raises:
        LedgerError: the folder holds no ledger, or one that cannot be read.
    """
    return report_of(load_run(folder))


def report_of(run: Run) -> Report:
    """The report of a run that is already loaded."""
    conditions = tuple(run.plan["conditions"])
    with beside(lambda: _told(run, conditions), apart=len(run.episodes) >= _MANY) as told:
        return _report(run, told)


def _told(run: Run, conditions: Sequence[str]) -> tuple[list[Case], Drill]:
    """What is read again from the ledger, to be shown."""
    made = cases(run, conditions)
    return made, drill(run, conditions, made)


def _report(run: Run, told: Callable[[], tuple[list[Case], Drill]]) -> Report:
    study = _study(run)
    conditions, pairs = study.conditions, contrast.pairs_of(study.conditions)
    summaries = metrics.summaries(run.episodes, conditions, study.environments)
    found = contrast.contrasts(run.episodes, pairs)
    retained = contrast.retained_utility(run.episodes, conditions)
    interactions = contrast.interactions(run.episodes, pairs)
    passes = {c: tuple(p) for c, p in passes_of(run.episodes, conditions, len(study.seeds)).items()}
    staleness = metrics.staleness(run.episodes, conditions)
    saved = savings(run.episodes, conditions)
    retrieval = metrics.retrieval(run.targets)
    endings = metrics.endings(run.episodes, conditions, study.targets * len(study.seeds))
    usages = [t.ranker_usage for t in run.target_rows.values() if t.ranker_usage]
    treatments = metrics.TREATMENTS if _invalid(run) else metrics.TREATMENTS[:1]
    made_tables = (
        *_main_tables(run, study, summaries, found, treatments),
        tables.pass_hat(passes),
        contrast_tables.retained_utility(retained, treatments),
        contrast_tables.interactions(interactions, treatments),
        tables.savings(saved),
        tables.ranking(usages),
        tables.staleness(staleness, conditions),
        tables.retrieval(retrieval),
        tables.endings(endings, conditions),
        tables.families(run.episodes, conditions),
    )
    rates = pass_rates(run.episodes, conditions, len(study.seeds), study.environments)
    made, drilled = told()
    return Report(
        study=study,
        notes=_notes(run, study),
        summaries=tuple(summaries),
        contrasts=tuple(found),
        retained=tuple(retained),
        interactions=tuple(interactions),
        passes=passes,
        pass_rates=tuple(rates),
        savings=tuple(saved),
        staleness=tuple(staleness),
        retrieval=retrieval,
        endings=tuple(endings),
        cases=tuple(made),
        tables=tuple(sorted((tabling.trimmed(t) for t in made_tables), key=_place)),
        provenance=_provenance(run),
        drill=drilled,
    )


def _place(table: Table) -> int:
    """Where a table stands on the page."""
    return ORDER.index(table.id)


def _invalid(run: Run) -> bool:
    return bool((run.episodes["outcome"] != "valid").any())


def _main_tables(
    run: Run,
    study: Study,
    summaries: Sequence[Summary],
    found: Sequence[contrast.Contrast],
    treatments: Sequence[Treatment],
) -> list[Table]:
    means: tables.Means = {(s.condition, s.scope, s.treatment): s for s in summaries}
    conditions = study.conditions
    shares = metrics.cached_shares(run.episodes, conditions)
    made = [tables.end_to_end(means, conditions, study.environments, t) for t in treatments]
    made += [tables.averages(means, conditions, treatments)]
    made += [contrast_tables.effects(found, m, treatments) for m in metrics.METRICS]
    dimensions: tuple[Dimension, ...] = ("level", "length_group", "environment")
    for dimension in dimensions[: 3 if len(study.environments) > 1 else 2]:
        if contrast.NO_MEMORY in conditions and len(conditions) > 1:
            made.append(contrast_tables.utility(found, _base(run, dimension), conditions, dimension, treatments))
    return [*made, tables.token_components(means, shares, conditions)]


def _base(run: Run, dimension: Dimension) -> dict[str, Entry]:
    """No Memory's own success in each group."""
    rows = scored(run.episodes, "excluded")
    rows = rows[rows["condition"] == contrast.NO_MEMORY]
    return {g: fmt.percent(mean(rows[rows[dimension] == g], "success")) for g in groups_of(run.episodes, dimension)}


def _study(run: Run) -> Study:
    plan: Any = run.plan
    model = plan["model"]
    return Study(
        name=plan["name"],
        simulated=plan["simulated"],
        model=model["actor"],
        writer=model.get("writer"),
        ranker=model.get("ranker"),
        environments=tuple(sorted(run.targets["environment"].unique())) if len(run.targets) else (),
        conditions=tuple(plan["conditions"]),
        seeds=tuple(plan["seeds"]),
        protocol=model["protocol"] + (", arguments limited to values seen" if model["grounded"] else ""),
        placement=plan["placement"],
        decoding=plan["decoding"],
        budget=plan["budget"],
        targets=len(plan["targets"]),
        sources=run.targets["source"].nunique() if len(run.targets) else 0,
        cells_planned=plan["cells"],
        cells_ended=len(run.episodes),
        attempts=len(run.attempts),
        abandoned=int((run.attempts["ending"] == ABANDONED).sum()),
    )


def _notes(run: Run, study: Study) -> tuple[str, ...]:
    notes = []
    missing = study.cells_planned - study.cells_ended
    if missing > 0:
        notes.append(
            f"The run is not finished: {missing:,} of {study.cells_planned:,} cells have not ended. They are in no "
            "number below."
        )
    invalid = int((run.episodes["outcome"] != "valid").sum())
    if not invalid and study.cells_ended:
        notes.append("No run ended invalid: leaving invalid runs out and counting them as failures is the same here.")
    if invalid:
        share = 100 * invalid / study.cells_ended
        notes.append(
            f"{invalid:,} of {study.cells_ended:,} cells ({share:.1f} %) ended invalid; every contrast is shown with "
            "them excluded and with them counted as failures."
        )
    if run.chain.redacted:
        notes.append(
            f"{run.chain.redacted:,} events were redacted after the run: “[redacted]” stands where a value was."
        )
    unknown = int(run.episodes["online"].isna().sum())
    if unknown:
        notes.append(f"{unknown:,} cells lack a token count that the provider did not report: missing, never 0.")
    dropped = int(run.episodes["once_dropped"].fillna(False).sum())
    if dropped:
        notes.append(
            f"In {dropped:,} cells the prompt shrank between two calls: “counted once” is a lower bound there."
        )
    if found := run.discrepancies:
        named = "; ".join(found[:_MOST_NOTES])
        notes.append(f"{len(found):,} statements of episode rows disagree with their own events: {named}")
    return tuple(notes)


def _provenance(run: Run) -> Provenance:
    manifest = read_manifest(run.folder)
    chain = run.chain
    versions = {"python": platform.python_version()}
    for name in _PACKAGES:
        versions[name] = metadata.version(name)
    return Provenance(
        ledger=run.folder.resolve().name,
        lock_digest=str(run.plan["lock"]),
        events=chain.events,
        last_hash=chain.last_hash,
        began=_utc(chain.began),
        ended=_utc(chain.ended),
        merkle_root=manifest.merkle_root if manifest else None,
        signed_by=signers(run.folder),
        redacted=chain.redacted,
        manifest_matches=(manifest.last_hash, manifest.events) == (chain.last_hash, chain.events) if manifest else None,
        versions=versions,
    )


def signers(folder: Path) -> tuple[str, ...]:
    """The ids of the keys a run's manifest says it was signed with; whether it was is for `verify --key` to say."""
    try:
        envelope = json.loads((folder / SIGNATURE_FILE).read_bytes())
        return tuple(str(s["keyid"]) for s in envelope["signatures"])
    except (OSError, ValueError, KeyError, TypeError):
        return ()


def _utc(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
