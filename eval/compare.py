"""Two or more runs side by side, paired on target, seed and condition where they share them (`rebind report
--compare`). The first run is the reference of all others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import JsonValue

from rebind.canon import digest
from rebind.errors import UserError
from rebind.eval.contrasts import NO_MEMORY, Pairing, bounds_of, over_seeds
from rebind.eval.frames import Run, load_run
from rebind.eval.lock import LOCK_FILE
from rebind.eval.lock_compare import LockDifference, lock_differences, lock_of
from rebind.eval.metrics import (
    ALL,
    METRICS,
    TREATMENTS,
    Dimension,
    Mean,
    Retrieval,
    Treatment,
    groups_of,
    means,
    retrieval,
    scored,
)
from rebind.eval.stats import Asked, Effect, Sample, effects, with_holm
from rebind.types import Frozen

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["outcome", "gain"]
_APART = "\N{UNIT SEPARATOR}"


class Side(Frozen):
    """One of the runs."""

    label: str
    name: str
    simulated: bool
    model: str
    ranker: str
    """Of the selections in its ledger."""
    lock: str
    """Digest, as its ledger has it."""
    last_hash: str
    targets: int
    shared_targets: int
    """Targets that this run and the first have in common."""
    shared_seeds: tuple[int, ...]
    conditions: tuple[str, ...]
    same_selection: int | None
    """Shared targets for which it selected the same record as the first run; None of the first itself."""
    success: dict[str, Mean]
    """By condition, over the shared targets, invalid runs excluded."""
    retrieval: Retrieval
    """Over the shared targets."""


class Difference(Frozen):
    """A run against the first, on one metric under one condition: `outcome` is the difference of the metric, `gain`
    that of the differences to No Memory."""

    kind: Kind
    run: str
    reference: str
    condition: str
    metric: str
    treatment: Treatment
    dimension: Dimension
    group: str
    effect: Effect


class Comparison(Frozen):
    sides: tuple[Side, ...]
    notes: tuple[str, ...]
    lock: tuple[LockDifference, ...]
    differences: tuple[Difference, ...]

    @property
    def simulated(self) -> bool:
        return any(side.simulated for side in self.sides)


def compare(folders: Sequence[Path]) -> Comparison:
    """Compares runs with the first of them.

    Raises:
        UserError: fewer than two runs, the same run twice, or runs that share no target, seed or condition with the
            first.
        LedgerError: a folder holds no ledger that can be read.
    """
    if len(folders) < 2:
        raise UserError(f"--compare needs two run folders or more; got {len(folders)}")
    labels = _labels(folders)
    runs = dict(zip(labels, (load_run(f) for f in folders), strict=True))
    _refuse_twins(runs)
    first = labels[0]
    differences: list[Difference] = []
    for label in labels[1:]:
        _refuse_strangers(first, runs[first], label, runs[label])
        differences += _differences(first, runs[first], label, runs[label])
    locks = {label: lock_of(run.folder) for label, run in runs.items()}
    lock = tuple(lock_differences({label: kept for label, kept in locks.items() if kept is not None}))
    return Comparison(
        sides=tuple(_side(label, run, runs[first]) for label, run in runs.items()),
        notes=tuple(_notes(runs, locks, lock)),
        lock=lock,
        differences=tuple(differences),
    )


def _labels(folders: Sequence[Path]) -> list[str]:
    """The shortest ends of the paths that tell the folders apart."""
    paths = [f.resolve() for f in folders]
    for depth in range(1, max(len(p.parts) for p in paths) + 1):
        labels = ["/".join(p.parts[-depth:]) for p in paths]
        if len(set(labels)) == len(labels):
            return labels
    raise UserError(f"the same run folder is named twice: {', '.join(map(str, folders))}")


def _refuse_twins(runs: dict[str, Run]) -> None:
    seen: dict[str, str] = {}
    for label, run in runs.items():
        twin = seen.setdefault(run.chain.last_hash, label)
        if twin != label:
            raise UserError(f"{label} is a copy of {twin}: their ledgers end in the same hash")


def _refuse_strangers(first: str, a: Run, label: str, b: Run) -> None:
    """Refuses runs that have nothing to pair."""
    for what, of in (("target", _targets), ("seed", _seeds), ("condition", _conditions)):
        ours, theirs = of(a), of(b)
        if not ours & theirs:
            raise UserError(
                f"{first} and {label} share no {what}, so that nothing can be paired: {_named(ours)} in {first}, "
                f"{_named(theirs)} in {label}. Runs are comparable that were made from the same targets folder"
            )


def _targets(run: Run) -> set[Any]:
    return set(run.plan["targets"])


def _seeds(run: Run) -> set[Any]:
    return set(run.plan["seeds"])


def _conditions(run: Run) -> set[Any]:
    return set(run.plan["conditions"])


def _named(values: set[Any]) -> str:
    shown = ", ".join(str(v)[:16] for v in sorted(values)[:4])
    return shown + (f" and {len(values) - 4:,} more" if len(values) > 4 else "")


def _differences(first: str, a: Run, label: str, b: Run) -> Iterator[Difference]:
    """Every shared condition on every metric under both treatments; success also by shift level."""
    import pandas as pd

    conditions = [c for c in a.plan["conditions"] if c in _conditions(b)]
    shared = _targets(a) & _targets(b)
    parts = [_relabelled(run.episodes, shared, side) for side, run in ((first, a), (label, b))]
    episodes = pd.concat(parts, ignore_index=True)
    for treatment in TREATMENTS:
        pairing = Pairing(episodes, treatment)
        kinds: tuple[Kind, ...] = ("outcome", "gain") if NO_MEMORY in conditions else ("outcome",)
        for kind in kinds:
            kept = [c for c in conditions if kind == "outcome" or c != NO_MEMORY]
            for metric, dimension in (*((m, "all") for m in METRICS), ("success", "level")):
                groups = groups_of(pairing.rows, "level") if dimension == "level" else [ALL]
                keys = [(c, g) for c in kept for g in groups]
                samples = [_sample(pairing, kind, metric, c, (label, first), g) for c, g in keys]
                made = with_holm(effects(samples, Asked(bootstrap=dimension == "all")))
                for (condition, group), effect in zip(keys, made, strict=True):
                    yield Difference(
                        kind=kind,
                        run=label,
                        reference=first,
                        condition=condition,
                        metric=metric,
                        treatment=treatment,
                        dimension="level" if dimension == "level" else "all",
                        group=group,
                        effect=effect,
                    )


def _relabelled(episodes: pd.DataFrame, shared: set[Any], side: str) -> pd.DataFrame:
    """A run's episodes of the shared targets, its conditions marked as its own."""
    kept = episodes[episodes["target"].isin(shared)]
    return kept.assign(condition=side + _APART + kept["condition"].astype(str))


def _sample(pairing: Pairing, kind: Kind, metric: str, condition: str, sides: tuple[str, str], group: str) -> Sample:
    """The paired differences between two runs; of gains, the differences of each run's own paired differences."""
    here, there = (side + _APART + condition for side in sides)
    dimension: Dimension = "all" if group == ALL else "level"
    if kind == "outcome":
        return pairing.sample(metric, (here, there), dimension, group)
    base_here, base_there = (side + _APART + NO_MEMORY for side in sides)
    each = pairing.by_seed(metric, (here, base_here)) - pairing.by_seed(metric, (there, base_there))
    low, high = bounds_of(metric)
    return pairing.sample_of(over_seeds(each), (2 * low, 2 * high), dimension, group)


def _side(label: str, run: Run, first: Run) -> Side:
    shared = _targets(run) & _targets(first)
    kept = run.targets[run.targets["target"].isin(shared)]
    rows = scored(run.episodes[run.episodes["target"].isin(shared)], "excluded")
    chosen = dict(zip(first.targets["target"], first.targets["chosen"], strict=True))
    same = [chosen.get(t) == c for t, c in zip(kept["target"], kept["chosen"], strict=True)]
    conditions = tuple(run.plan["conditions"])
    return Side(
        label=label,
        name=run.plan["name"],
        simulated=bool(run.plan["simulated"]),
        model=run.plan["model"]["actor"],
        ranker=", ".join(sorted({str(r) for r in kept["ranker"].dropna()})) or "–",
        lock=str(run.plan["lock"]),
        last_hash=run.chain.last_hash,
        targets=len(run.plan["targets"]),
        shared_targets=len(shared),
        shared_seeds=tuple(sorted(_seeds(run) & _seeds(first))),
        conditions=conditions,
        same_selection=None if run is first else sum(same),
        success={
            c: means(rows[rows["condition"] == c], ("success",), interval_of="success")["success"] for c in conditions
        },
        retrieval=retrieval(kept),
    )


def _notes(
    runs: dict[str, Run], locks: dict[str, dict[str, JsonValue] | None], lock: Sequence[LockDifference]
) -> Iterator[str]:
    first, *others = runs
    for label, run in runs.items():
        missing = int(run.plan["cells"]) - len(run.episodes)
        if missing > 0:
            yield f"{label} is not finished: {missing:,} of {run.plan['cells']:,} cells have not ended."
        kept = locks[label]
        if kept is None:
            yield f"{label} has no readable {LOCK_FILE}: what differs in its lock cannot be shown."
        elif digest(kept) != run.plan["lock"]:
            yield f"The {LOCK_FILE} of {label} is not the one its ledger names: what is shown of it may be false."
    for label in others:
        yield from _unshared(first, runs[first], label, runs[label])
    parts = sorted({d.where.split(".")[0] if not d.where.startswith("study.") else d.where for d in lock})
    if len(parts) > 1:
        yield (
            f"The runs differ in {len(parts)} parts of their locks ({', '.join(parts[:8])}"
            f"{', …' if len(parts) > 8 else ''}): a difference below is that of all of them together."
        )
    if len({bool(run.plan["simulated"]) for run in runs.values()}) > 1:
        yield "Some runs have a simulated model and some do not: their difference is no result."


def _unshared(first: str, a: Run, label: str, b: Run) -> Iterator[str]:
    for what, of in (("targets", _targets), ("seeds", _seeds), ("conditions", _conditions)):
        ours, theirs = of(a), of(b)
        if ours != theirs:
            yield (
                f"{first} and {label} share {len(ours & theirs):,} {what}; {len(ours - theirs):,} are in {first} only "
                f"and {len(theirs - ours):,} in {label} only, and in no difference."
            )
