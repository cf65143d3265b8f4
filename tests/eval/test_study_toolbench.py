"""A study on recorded ToolBench runs: bank, binding-shift targets, the five conditions, and what the ledger tells."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.originals import data

from rebind.banks.build import build
from rebind.banks.files import silent
from rebind.banks.freeze import freeze
from rebind.banks.rollers import oracle_roller
from rebind.banks.shift import build_targets
from rebind.envs import world
from rebind.envs.toolbench.tasks import VARIABLE, library
from rebind.eval.audit import audit, holds
from rebind.eval.demo import demo_study
from rebind.eval.plan import make_plan
from rebind.eval.report.build import build as build_report
from rebind.eval.runner import run_study

CONDITIONS = ("none", "full", "summary", "qcr", "skill")


def test_the_five_conditions_run_on_recorded_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One record a family; targets are the other queries that call the same functions. Every episode ends valid, and
    the ledger gives API calls, StepRed and Precision@R (simulated model)."""
    monkeypatch.setenv(VARIABLE, os.pathsep.join([str(data("toolbench")), str(data("stabletoolbench"))]))
    toolbench = world("toolbench")
    several = [name for name, members in library().families.items() if len(members) > 1]
    build(toolbench, tmp_path / "rollouts", oracle_roller(toolbench, 0.0), seeds=[0], families=several)
    freeze([tmp_path / "rollouts"], tmp_path / "bank", [toolbench])
    built = build_targets(tmp_path / "bank", tmp_path / "targets")
    assert (built.records, built.by_level) == (5, {"none": 2, "small": 0, "medium": 3, "large": 0})

    study = demo_study("simulated/oracle")
    parts = {
        "environments": ("toolbench",),
        "conditions": CONDITIONS,
        "seeds": (0,),
        "bank": study.bank.model_copy(update={"path": tmp_path / "bank"}),
        "targets": study.targets.model_copy(update={"path": tmp_path / "targets", "limit": 2}),
        "retrieval": study.retrieval.model_copy(update={"k": 3, "ranker": "top1"}),
        "run": study.run.model_copy(update={"workers": 1, "cache": False}),
    }
    plan = make_plan(study.model_copy(update=parts))
    assert {t.seal.level for t in plan.targets} == {"none", "medium"}
    assert run_study(plan, tmp_path / "run", silent).outcomes == {"valid": 10}
    assert holds(audit(tmp_path / "run"))
    report = build_report(tmp_path / "run")
    assert (report.retrieval.k, report.retrieval.precision_at_k.targets) == (3, 2)
    assert report.retrieval.precision_at_k.value == pytest.approx(1 / 3)  # a family has one record
    assert [s.condition for s in report.savings] == list(CONDITIONS[1:])
    assert all((s.steps.value, s.steps.targets) == (0.0, 2) for s in report.savings)  # it acts alike under all
    calls = {c: report.summary(c).means["api_calls"].value for c in CONDITIONS}
    recorded = [len(library().task(str(t.seal.world["task"])).calls) for t in plan.targets]
    assert set(calls.values()) == {sum(recorded) / 2 + 1}  # Finish is a call, too
