"""One study over applications, sites and desk, with one bank for all of them (QCR, section 5.1)."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.originals import runnable

from rebind.banks.build import build
from rebind.banks.files import silent
from rebind.banks.freeze import freeze
from rebind.banks.rollers import oracle_roller
from rebind.banks.shift import build_targets
from rebind.banks.store import Bank
from rebind.envs import world
from rebind.eval.audit import audit, holds
from rebind.eval.demo import demo_study
from rebind.eval.ledger import read_events
from rebind.eval.plan import make_plan
from rebind.eval.runner import run_study
from rebind.memory.index import index_text
from rebind.types import Episode

FAMILIES = {"apps": "apps/budget-left-question", "sites": "sites/product-question", "desk": "desk/ticket-question"}


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a bank of one record an environment, and its targets."""
    worlds = {name: runnable(world(name)) for name in FAMILIES}
    folder = tmp_path_factory.mktemp("mixed")
    for name, one in worlds.items():
        build(one, folder / name, oracle_roller(one, 0.0), seeds=[0], families=[FAMILIES[name]])
    freeze([folder / name for name in worlds], folder / "bank", list(worlds.values()))
    build_targets(folder / "bank", folder / "targets")
    return folder


def test_one_study_runs_on_three_environments_over_one_bank(mixed: Path, tmp_path: Path) -> None:
    study = demo_study("simulated/oracle")
    study = study.model_copy(
        update={
            "environments": tuple(FAMILIES),
            "conditions": ("none", "full"),
            "seeds": (0,),
            "bank": study.bank.model_copy(update={"path": mixed / "bank"}),
            "targets": study.targets.model_copy(update={"path": mixed / "targets", "limit": 3}),
            "run": study.run.model_copy(update={"workers": 2, "cache": False}),
        }
    )
    plan = make_plan(study)
    assert {t.task.env for t in plan.targets} == {world(name).env_id for name in FAMILIES}
    summary = run_study(plan, tmp_path / "run", silent)
    assert summary.outcomes == {"valid": 6}
    ended = [Episode.model_validate(e.data) for e in read_events(tmp_path / "run") if e.kind == "episode"]
    assert all(e.success for e in ended)
    assert holds(audit(tmp_path / "run"))


def test_environment_labels_do_not_reach_retrieval(mixed: Path) -> None:
    bank = Bank.open(mixed / "bank")
    labels = [*FAMILIES.values(), *(world(name).env_id for name in FAMILIES)]
    for record in bank.records.values():
        assert not [label for label in labels if label in index_text(record)]
