"""A small study with the harness's own simulated model, for benchmarks of the harness: real bank, targets, environment,
HTTP and ledger, a few seconds long. What it measures of memory is no result."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from rebind.banks.files import silent

STUDY = """\
name = "small-simulated"
environments = ["apps"]
conditions = {conditions}
seeds = {seeds}

[bank]
path = "bank"

[targets]
path = "targets"
limit = {targets}

[model]
actor = "simulated/80"

[budget]
steps = 60

[run]
workers = 4
cache = false
"""
"""Without a response cache: each answer is asked for anew, so that a resumed run does the same work as a whole one."""


CONDITIONS = ("none", "full", "qcr", "skill")


def prepare(folder: Path, targets: int = 4, conditions: Sequence[str] = CONDITIONS, seeds: int = 2) -> Path:
    """Builds a small bank and its targets in a folder, and writes a study of them; returns the study file."""
    from rebind.banks.build import build
    from rebind.banks.freeze import freeze
    from rebind.banks.rollers import oracle_roller
    from rebind.banks.shift import build_targets
    from rebind.envs import world

    folder.mkdir(parents=True)
    apps = world("apps")
    build(apps, folder / "rollouts", oracle_roller(apps, 0.15), seeds=range(1), families=apps.families()[:6])
    freeze([folder / "rollouts"], folder / "bank", [apps], encoder_name="all-minilm-l6-v2", writer=None)
    build_targets(folder / "bank", folder / "targets", workers=1, progress=silent)
    study = folder / "study.toml"
    settings = {"targets": targets, "conditions": json.dumps(list(conditions)), "seeds": list(range(seeds))}
    study.write_text(STUDY.format(**settings), encoding="utf-8")
    return study


def finished_run(folder: Path, targets: int = 4, conditions: Sequence[str] = CONDITIONS, seeds: int = 2) -> Path:
    """A run of such a study from start to end; returns its run folder."""
    from rebind.eval.plan import make_plan
    from rebind.eval.runner import run_study
    from rebind.eval.study import load_study

    study = prepare(folder, targets, conditions, seeds)
    run_study(make_plan(load_study(study)), folder / "run", silent)
    return folder / "run"
