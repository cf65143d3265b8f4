"""`rebind export inspect`: logs that open in `inspect view`, one per environment and condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rebind import __version__
from rebind.banks.files import silent
from rebind.canon import digest
from rebind.eval.attempts import Attempts, Group
from rebind.eval.export.about import SIMULATED, moment, provenance, study_lock
from rebind.eval.export.files import export_folder, file_name, need
from rebind.types import Progress

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalResults, EvalSample, EvalSpec

SCORES = ("success", "milestone")


def export(run: Path, out: Path, progress: Progress = silent) -> dict[str, Any]:
    """Writes the logs into `out`. A sample is a target, its epochs are the seeds. The ledger is read once per log, so
    that no more than one log's episodes are in memory.

    Raises:
        UserError: the extra is missing, or `out` is something else. LedgerError: the run cannot be read.
    """
    need("inspect_ai", "inspect")
    from inspect_ai.log import write_eval_log

    from rebind.eval.export.inspect_samples import sample

    attempts = Attempts(run)
    about = provenance(run, attempts.plan)
    lock = study_lock(run)
    samples, done = 0, 0
    groups = attempts.groups()
    with export_folder(out, "inspect", about) as folder:
        for group in groups:
            made = []
            for attempt in attempts.of_group(group):
                progress(group.condition, done, len(attempts))
                with attempt.explained("its sample"):
                    made.append(sample(attempt, attempts.plan))
                done += 1
            log = _log(group, made, attempts, about, lock)
            name = f"{moment(attempts.began):%Y-%m-%dT%H-%M-%S}_{file_name(*group)}_{log.eval.task_id}.eval"
            write_eval_log(log, str(folder / name), format="eval")
            samples += len(made)
    progress("written", len(attempts), len(attempts))
    return {"out": str(out), "format": "inspect", **about, "logs": len(groups), "episodes": samples}


def _log(
    group: Group,
    samples: Sequence[EvalSample],
    attempts: Attempts,
    about: Mapping[str, Any],
    lock: Mapping[str, Any] | None,
) -> EvalLog:
    from inspect_ai.log import EvalLog, EvalStats

    from rebind.eval.export.inspect_samples import summed

    samples = sorted(samples, key=lambda s: (str(s.id), s.epoch))
    usage = summed(s.model_usage for s in samples)
    return EvalLog(
        status="success" if about["merkle_root"] else "cancelled",  # a run without a manifest has not ended
        eval=_spec(group, samples, attempts, about, lock),
        results=_results(samples),
        stats=EvalStats(
            started_at=min((s.started_at or "" for s in samples), default=""),
            completed_at=max((s.completed_at or "" for s in samples), default=""),
            model_usage=usage,
        ),
        samples=list(samples),
    )


def _spec(
    group: Group,
    samples: Sequence[EvalSample],
    attempts: Attempts,
    about: Mapping[str, Any],
    lock: Mapping[str, Any] | None,
) -> EvalSpec:
    from inspect_ai.log import EvalConfig, EvalDataset, EvalRevision, EvalSpec
    from inspect_ai.model import GenerateConfig

    env, condition = group
    plan, code = attempts.plan, (lock or {}).get("code", {})
    identity = digest([about["lock"], env, condition])
    ids = sorted({str(s.id) for s in samples})
    decoding = {name: plan["decoding"].get(name) for name in ("temperature", "top_p", "max_tokens")}
    return EvalSpec(
        eval_id=digest([attempts.last_hash, env, condition])[:22],
        run_id=str(about["lock"])[:22],
        task_id=identity[:22],
        created=moment(attempts.began).isoformat(),
        task=f"{condition} ({env})",
        task_args={"environment": env, "condition": condition, "seeds": list(plan["seeds"])},
        tags=["simulated"] if about["simulated"] else None,
        dataset=EvalDataset(name=f"targets of {about['run']}", samples=len(ids), sample_ids=ids, shuffled=False),
        model=plan["model"]["actor"],
        model_generate_config=GenerateConfig(**decoding),
        config=EvalConfig(epochs=len(plan["seeds"]), fail_on_error=False, token_limit=plan["budget"].get("tokens")),
        revision=EvalRevision(type="git", origin="", commit=code["commit"], dirty=bool(code.get("difference")))
        if code.get("commit")
        else None,
        packages={name: v for name, v in (lock or {}).get("packages", {}).items() if v} | {"rebind": __version__},
        metadata={
            **about,
            "environment": env,
            "condition": condition,
            "study_lock": dict(lock) if lock else None,
            **({"note": SIMULATED} if about["simulated"] else {}),
        },
    )


def _results(samples: Sequence[EvalSample]) -> EvalResults:
    """Means over the episodes that have the score; how many have none stands beside them."""
    from inspect_ai.log import EvalMetric, EvalResults, EvalScore

    found = []
    for name in SCORES:
        values = [float(s.scores[name].value) for s in samples if s.scores and name in s.scores]  # type: ignore[arg-type]  # numbers, by `scores`
        mean = {"mean": EvalMetric(name="mean", value=sum(values) / len(values))} if values else {}
        without = len(samples) - len(values)
        found.append(
            EvalScore(name=name, scorer=name, metrics=mean, scored_samples=len(values), unscored_samples=without)
        )
    completed = sum(s.error is None for s in samples)
    return EvalResults(total_samples=len(samples), completed_samples=completed, scores=found)
