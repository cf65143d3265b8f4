"""A run keeps its limits: of cost, of time in an environment, of what a full disk or an interrupt leaves to do."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from rebind.agents.endpoint import Endpoint
from rebind.agents.simulated import SimulatedModel, Weather
from rebind.banks.files import silent
from rebind.errors import EnvironmentFailure, LedgerError, LimitReached, ModelError, StudyError
from rebind.eval.audit import audit, holds
from rebind.eval.crew import Crew
from rebind.eval.demo import demo_study
from rebind.eval.guarded import GuardedEnvironment
from rebind.eval.ledger import MANIFEST_FILE, Ledger, read_events
from rebind.eval.models import check_limits, open_models
from rebind.eval.plan import Plan, make_plan
from rebind.eval.runner import run_study
from rebind.eval.scripts import oracle_script
from rebind.eval.study import Study
from rebind.types import Environment, Task, ToolSpec, Verdict

PRICED = "openai/gpt-4o-mini"


def _study(model: str = PRICED, conditions: tuple[str, ...] = ("none", "full"), **run: Any) -> Study:
    study = demo_study(model)
    return study.model_copy(
        update={
            "conditions": conditions,
            "run": study.run.model_copy(update={"workers": 1, "cache": False, **run}),
            "targets": study.targets.model_copy(update={"limit": 2}),
        }
    )


def _run(plan: Plan, folder: Path, server: SimulatedModel) -> Any:
    endpoint = Endpoint(model=PRICED, api_base=server.endpoint.api_base, api_key="k", tokenizes=True)
    return run_study(plan, folder, silent, partial(open_models, endpoints={PRICED: endpoint}))


def test_a_run_that_spent_its_dollars_stops_between_episodes_and_goes_on_with_more(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-real-key")
    plan = make_plan(_study(max_cost=1e-5))
    folder = tmp_path / "run"
    with SimulatedModel("priced", oracle_script(plan.targets)) as server:
        with pytest.raises(LimitReached, match=r"raise run\.max_cost"):
            _run(plan, folder, server)
        events = list(read_events(folder))
        ended = sum(e.kind == "episode" for e in events)
        assert sum(e.kind == "start" for e in events) == ended < len(plan.cells)
        assert events[-1].kind == "note"
        assert events[-1].data["stopped"] == "max_cost"
        assert not (folder / MANIFEST_FILE).exists()
        more = make_plan(_study(max_cost=10.0))
        assert _run(more, folder, server).outcomes == {"valid": len(plan.cells)}
    assert (folder / MANIFEST_FILE).exists()
    assert holds(audit(folder))


class _Untold(SimulatedModel):
    """Answers without usage counts."""

    def completion(self, body: dict[str, Any]) -> dict[str, Any]:
        return {k: v for k, v in super().completion(body).items() if k != "usage"}


def test_a_run_whose_answers_do_not_say_what_they_cost_stops_rather_than_count_them_as_free(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-real-key")
    plan = make_plan(_study(max_cost=10.0))
    with _Untold("priced", oracle_script(plan.targets)) as server:
        with pytest.raises(LimitReached, match=r"without usage counts.*take out run\.max_cost"):
            _run(plan, tmp_path / "run", server)
        stopped = list(read_events(tmp_path / "run"))[-1].data
    assert (stopped["stopped"], stopped["spent"]) == ("max_cost", 0.0)
    assert stopped["unpriced"] >= 1


@pytest.mark.parametrize("limit", ["budget.cost", "run.max_cost"])
def test_a_cost_limit_on_a_model_without_a_price_is_refused_at_the_start(limit: str, tmp_path: Path) -> None:
    part, _, name = limit.partition(".")
    study = _study("simulated/oracle")
    study = study.model_copy(update={part: getattr(study, part).model_copy(update={name: 0.5})})
    with pytest.raises(StudyError, match=f"{limit} limits the cost.*no price of simulated/oracle"):
        run_study(make_plan(study), tmp_path / "run", silent)
    assert not (tmp_path / "run").exists()
    check_limits(_study(max_cost=1.0))


def test_a_missing_key_is_refused_at_the_start_and_not_once_per_episode(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelError, match="OPENAI_API_KEY"):
        run_study(make_plan(_study()), tmp_path / "run", silent)
    assert not (tmp_path / "run").exists()


def test_a_task_without_a_cost_limit_keeps_its_key() -> None:
    assert "cost" not in Task(env="e", goal="g", state="s").model_dump(mode="json")["budget"]


class _Stub:
    """An environment whose step does what it is told."""

    def __init__(self, do: Callable[[], Any]) -> None:
        self.do, self.thread, self.closed = do, threading.get_ident(), threading.Event()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        return f"{self.thread == threading.get_ident()}", {}

    def step(self, action: Any) -> tuple[str, float, bool, bool, dict[str, Any]]:
        self.do()
        return "ok", 0.0, False, False, {}

    def tools(self) -> tuple[ToolSpec, ...]:
        return ()

    def verify(self) -> Verdict:
        return Verdict(success=True)

    def close(self) -> None:
        self.closed.set()


def _guarded(do: Callable[[], Any], seconds: float | None = None) -> tuple[Environment, _Stub]:
    made: list[_Stub] = []

    def make() -> _Stub:
        made.append(_Stub(do))
        return made[0]

    return GuardedEnvironment(make, seconds), made[0]


def test_an_environment_that_hangs_is_a_failure_of_infrastructure_and_is_closed_when_it_comes_back() -> None:
    release = threading.Event()
    env, stub = _guarded(release.wait, seconds=0.1)
    with pytest.raises(EnvironmentFailure, match=r"did not answer within 0\.1 s"):
        env.step(None)
    release.set()
    assert stub.closed.wait(5)


def test_an_environment_that_raises_anything_is_a_failure_of_infrastructure() -> None:
    env, _ = _guarded(lambda: {}["missing"])
    with pytest.raises(EnvironmentFailure, match=r"KeyError: 'missing' \(.*test_run_limits"):
        env.step(None)


def test_an_environment_lives_in_one_thread_which_ends_with_it() -> None:
    env, stub = _guarded(lambda: None)
    assert env.reset() == ("True", {})
    env.close()
    assert stub.closed.wait(5)


def test_a_crew_that_is_told_to_stop_ends_what_is_under_way_and_begins_nothing() -> None:
    begun, release = [], threading.Event()

    def do(item: int) -> int:
        begun.append(item)
        release.wait(5)
        return item

    crew = Crew(2, range(10), do)
    while len(begun) < 2:
        time.sleep(0.01)
    crew.stop()
    release.set()
    assert sorted(crew.results()) == [0, 1]
    assert sorted(begun) == [0, 1]


def test_a_crews_first_error_is_raised_and_the_rest_can_still_be_seen_to_its_end() -> None:
    def do(item: int) -> int:
        return 10 // item

    crew = Crew(1, [0, 1], do)
    with pytest.raises(ZeroDivisionError):
        list(crew.results())
    assert list(crew.results()) == []


def test_a_ledger_that_can_not_be_written_stops_the_run_at_once_with_one_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plan = make_plan(_study("simulated/oracle", workers=2))
    written = os.write

    def full(file: int, data: Any) -> int:
        if os.readlink(f"/proc/self/fd/{file}").endswith("ledger.jsonl") and os.fstat(file).st_size > 30_000:
            raise OSError(28, "No space left on device")
        return written(file, data)

    monkeypatch.setattr(os, "write", full)
    with SimulatedModel("simulated/oracle", oracle_script(plan.targets), Weather(latency=0.05)) as server:
        opener = partial(open_models, endpoints={"simulated/oracle": server.endpoint})
        with pytest.raises(LedgerError, match=r"No space left on device.*resume the run"):
            run_study(plan, tmp_path / "run", silent, opener)
        asked = len(server.requests)
    assert asked < 60, "no episode goes on without a ledger"
    monkeypatch.undo()
    with Ledger.open(tmp_path / "run") as ledger:
        assert not ledger.repairs or "interrupted write" in ledger.repairs[0]


@pytest.mark.parametrize(("request_number", "event", "what"), [(9, "start", "episodes"), (1, "plan", "selections")])
def test_one_interrupt_waits_for_what_is_under_way_and_another_ends_at_once(
    request_number: int, event: str, what: str, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    plan, folder = make_plan(_study("simulated/oracle", workers=2)), tmp_path / "run"
    sent: list[float] = []
    ended = threading.Event()

    def interrupt() -> None:
        while not _hangs(folder, event):
            time.sleep(0.1)
        while not ended.is_set() and len(sent) < 20:
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
            ended.wait(1.0)

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job inherits that it is ignored
    threading.Thread(target=interrupt, daemon=True).start()
    weather = Weather(always=(request_number, "timeout"))
    with SimulatedModel("simulated/oracle", oracle_script(plan.targets), weather) as server:
        opener = partial(open_models, endpoints={"simulated/oracle": server.endpoint}, timeout=600)
        with pytest.raises(KeyboardInterrupt):
            run_study(plan, folder, silent, opener)
        ended.set()
    assert len(sent) >= 2, "the first one lets what is under way go on"
    assert f"{what} under way end first; Ctrl-C again stops at once" in caplog.text
    with Ledger.open(folder) as ledger:
        assert not ledger.repairs


def _hangs(folder: Path, last: str) -> bool:
    """Whether a run waits for an answer that does not come, after an event of a kind."""
    ledger = folder / "ledger.jsonl"
    if not ledger.exists() or time.time() - ledger.stat().st_mtime < 1.5:
        return False
    with suppress(LedgerError):  # read between two writes
        return any(e.kind == last for e in read_events(folder))
    return False
