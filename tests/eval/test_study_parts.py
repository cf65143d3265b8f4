"""Models that play a part in an environment, named in the study file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.originals import runnable

from rebind.banks.build import build
from rebind.banks.files import silent
from rebind.banks.freeze import freeze
from rebind.banks.rollers import oracle_roller
from rebind.banks.shift import build_targets
from rebind.envs import world
from rebind.errors import StudyError
from rebind.eval.audit import audit, holds
from rebind.eval.demo import demo_study
from rebind.eval.ledger import read_events
from rebind.eval.plan import make_plan
from rebind.eval.replay import replay
from rebind.eval.runner import run_study
from rebind.eval.tokens import account
from rebind.types import Episode

FAMILY = "tau2/retail/exchange_delivered_order_items"


def test_a_customer_is_played_by_the_model_that_the_study_names(tmp_path: Path) -> None:
    """Targets become talks, the customer's requests are notes of the ledger and no tokens of the agent's, and the lock
    says who played (simulated models)."""
    tau2 = runnable(world("tau2"))
    several = [name for name, members in tau2.listed().items() if name.startswith(FAMILY) and len(members) > 1]
    build(tau2, tmp_path / "rollouts", oracle_roller(tau2, 0.0), seeds=[0], families=several[:1])
    freeze([tmp_path / "rollouts"], tmp_path / "bank", [tau2])
    build_targets(tmp_path / "bank", tmp_path / "targets")
    study = demo_study("simulated/oracle")
    parts = {
        "environments": ("tau2",),
        "conditions": ("none", "full"),
        "seeds": (0,),
        "bank": study.bank.model_copy(update={"path": tmp_path / "bank"}),
        "targets": study.targets.model_copy(update={"path": tmp_path / "targets", "limit": 1}),
        "model": study.model.model_copy(update={"customer": "simulated/100"}),
        "retrieval": study.retrieval.model_copy(update={"ranker": "top1"}),
        "run": study.run.model_copy(update={"workers": 1, "cache": False}),
    }
    study = study.model_copy(update=parts)
    plan, run = make_plan(study), tmp_path / "run"
    assert [t.task.goal for t in plan.targets] == ["Serve the customer who writes to the retail service desk."]
    assert all(t.seal.task_key == t.task.key for t in plan.targets)
    assert run_study(plan, run, silent).outcomes == {"valid": 2}
    assert json.loads((run / "study.lock").read_text())["models"].keys() == {"simulated/oracle", "simulated/100"}
    assert holds(audit(run))

    events = list(read_events(run))
    asked = [e for e in events if e.kind == "note" and e.data.get("part") == "customer"]
    assert {(e.data["model"], e.cell is None) for e in asked} == {("simulated/100", True), ("simulated/100", False)}
    assert all(e.data["usage"]["prompt"] and e.data["attempts"] for e in asked)
    assert not any("text" in e.data for e in asked)
    for end in (e for e in events if e.kind == "episode"):
        own = {kind: [e.data for e in events if e.cell == end.cell and e.kind == kind] for kind in ("call", "support")}
        episode = Episode.model_validate(end.data)
        assert episode.success
        assert episode.tokens == account(own["call"], own["support"][0])
        assert sum(e.cell == end.cell for e in asked) == 2  # the first words, and the last
    assert replay(run).reasons == {"a model plays a part in its environment": 2}

    told = study.model_copy(update={"model": study.model.model_copy(update={"customer": None, "judge": "simulated/1"})})
    with pytest.raises(StudyError, match=r"model\.judge is given, but no environment of \['tau2'\] has a judge"):
        make_plan(told)
