"""A run ends complete, resumes where it was killed, retries infrastructure, and never takes its failures for a 0."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from support.openai_server import Reply, playback, refusal

from rebind.agents.llm import LLM
from rebind.agents.simulated import SimulatedModel, Weather
from rebind.banks.files import silent
from rebind.errors import LockMismatch, ProviderRefused
from rebind.eval import models as study_models
from rebind.eval.audit import audit, holds
from rebind.eval.demo import demo_study
from rebind.eval.ledger import LEDGER_FILE, read_events, verify
from rebind.eval.plan import Plan, make_plan
from rebind.eval.runner import run_study
from rebind.eval.scripts import oracle_script
from rebind.types import Episode


def _plan(model: str = "simulated/oracle", **run: object) -> Plan:
    study = demo_study(model)
    settings = {"workers": 2, "cache": False, **run}
    return make_plan(
        study.model_copy(
            update={
                "run": study.run.model_copy(update=settings),
                "targets": study.targets.model_copy(update={"limit": 2}),
            }
        )
    )


def _episodes(folder: Path) -> list[Episode]:
    return [Episode.model_validate(e.data) for e in read_events(folder) if e.kind == "episode"]


def _forecast(monkeypatch: pytest.MonkeyPatch, weather: Weather) -> None:
    """Makes a study's simulated model have that weather."""

    def simulated(name: str, plan: Plan) -> SimulatedModel:
        return SimulatedModel(name, oracle_script(plan.targets), weather)

    monkeypatch.setattr(study_models, "_simulated", simulated)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished") / "run"
    run_study(_plan(), folder, silent)
    return folder


def test_a_run_ends_every_cell_once_and_its_ledger_verifies(finished: Path) -> None:
    plan = _plan()
    assert Counter(e.cell.id for e in _episodes(finished)) == Counter(c.id for c in plan.cells)
    found = verify(finished)
    assert found.ok
    assert found.manifest == "matches"


def test_the_oracles_actions_succeed_under_every_condition(finished: Path) -> None:
    assert {(e.cell.condition, e.success) for e in _episodes(finished)} == {
        (c, True) for c in ("none", "full", "summary", "qcr", "skill")
    }


def test_the_audit_of_a_run_finds_nothing(finished: Path) -> None:
    found = audit(finished)
    assert holds(found), found["findings"]
    assert found["selections_shared"]


def test_running_a_finished_run_again_runs_no_episode(finished: Path) -> None:
    before = (finished / LEDGER_FILE).read_bytes()
    summary = run_study(_plan(), finished, silent)
    assert summary.resumed == summary.cells
    assert (finished / LEDGER_FILE).read_bytes().startswith(before)


def test_a_run_cut_off_anywhere_resumes_and_ends_with_the_same_episodes(finished: Path, tmp_path: Path) -> None:
    lines = (finished / LEDGER_FILE).read_bytes().splitlines(keepends=True)
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "study.lock").write_bytes((finished / "study.lock").read_bytes())
    (folder / LEDGER_FILE).write_bytes(b"".join(lines[: len(lines) // 2]) + lines[len(lines) // 2][:40])
    summary = run_study(_plan(), folder, silent)
    assert 0 < summary.resumed < summary.cells
    assert Counter(e.cell.id for e in _episodes(folder)) == Counter(e.cell.id for e in _episodes(finished))
    assert holds(audit(folder))


def test_resuming_under_another_study_is_refused_and_says_what_differs(finished: Path) -> None:
    plan = _plan()
    other = plan.study.model_copy(update={"decoding": plan.study.decoding.model_copy(update={"temperature": 0.9})})
    with pytest.raises(LockMismatch, match=r"decoding\.temperature: 0\.\d+ → 0\.9"):
        run_study(make_plan(other), finished, silent)


def test_more_workers_are_no_other_study(finished: Path) -> None:
    assert run_study(_plan(workers=3), finished, silent).resumed == len(_plan().cells)


def test_faults_of_the_provider_are_retried_and_leave_their_attempts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _forecast(monkeypatch, Weather(faults={5: "500", 9: "503", 12: "429", 15: "cut", 18: "no-choices"}))
    run_study(_plan(), tmp_path / "run", silent)
    assert {e.outcome for e in _episodes(tmp_path / "run")} == {"valid"}
    calls = [e.data for e in read_events(tmp_path / "run") if e.kind == "call"]
    assert sum(len(c["attempts"]) > 1 for c in calls) >= 3  # type: ignore[arg-type]  # JSON of a known form


def test_a_provider_that_never_answers_makes_infrastructure_failures_and_no_zero(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    selecting = 2  # the ranker's requests are answered
    _forecast(monkeypatch, Weather(faults=dict.fromkeys(range(selecting, 5000), "500")))
    monkeypatch.setattr(study_models, "LLM", lambda endpoints, **more: LLM(endpoints, attempts=2, backoff=0.0))
    run_study(_plan(attempts=2), tmp_path / "run", silent)
    episodes = _episodes(tmp_path / "run")
    assert {(e.outcome, e.success) for e in episodes} == {("invalid-infra", None)}
    assert set(Counter(e.cell.id for e in episodes).values()) == {2}


def test_a_refused_key_stops_the_run_at_once_with_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-a-key-0000000000")
    plan = _plan("openai/some-model")
    with playback([Reply(refusal("Incorrect API key provided"), status=401)]) as server:
        model = plan.study.model.model_copy(update={"api_base": server.url})
        refused = make_plan(plan.study.model_copy(update={"model": model}))
        with pytest.raises(ProviderRefused, match="set the key"):
            run_study(refused, tmp_path / "run", silent)
    assert len(server.asked) <= 2  # one a worker
    assert "sk-not-a-key" not in (tmp_path / "run" / LEDGER_FILE).read_text(encoding="utf-8")
