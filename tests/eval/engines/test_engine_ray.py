"""Episodes as tasks of a real Ray cluster on this machine: the same records, none lost with a node or the driver."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray", reason="Ray is not installed: pip install 'rebind[ray]'")

from rebind.agents.endpoint import Endpoint
from rebind.agents.simulated import SimulatedModel, Weather
from rebind.banks.files import silent
from rebind.errors import LimitReached
from rebind.eval.audit import audit, holds
from rebind.eval.bench.ray_cluster import SmallCluster, small_cluster
from rebind.eval.bench.ray_loss import node_loss
from rebind.eval.demo import demo_study
from rebind.eval.ledger import LEDGER_FILE, read_events, verify
from rebind.eval.lock import LOCK_FILE
from rebind.eval.models import Opener, open_models
from rebind.eval.past import dollars
from rebind.eval.plan import Plan, make_plan
from rebind.eval.runner import run_study
from rebind.eval.scripts import oracle_script
from rebind.eval.watch import Watch

pytestmark = pytest.mark.xdist_group("ray")  # one cluster for all of them


NAME = "simulated/80"


@pytest.fixture(scope="module")
def cluster() -> Iterator[SmallCluster]:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("OPENAI_API_KEY", "not-a-real-key")  # nodes have the environment they are started in
        with small_cluster() as cluster:
            cluster.connect()
            yield cluster


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the same cells in this process."""
    folder = tmp_path_factory.mktemp("local") / "run"
    with _server() as server:
        run_study(_plan(), folder, silent, _opener(server))
    return folder


def _plan(cluster: SmallCluster | None = None, model: str = NAME, **run: Any) -> Plan:
    """Four cells of two targets; on a cluster where one is given."""
    study = demo_study(model)
    where = {"engine": "ray", "ray_address": cluster.address} if cluster else {}
    return make_plan(
        study.model_copy(
            update={
                "run": study.run.model_copy(update={"workers": 2, "cache": False, **where, **run}),
                "targets": study.targets.model_copy(update={"limit": 2}),
                "retrieval": study.retrieval.model_copy(update={"ranker": "top1"}),
                "seeds": (0,),
                "conditions": ("none", "qcr"),
            }
        )
    )


def _server(latency: float = 0.0) -> SimulatedModel:
    return SimulatedModel(NAME, oracle_script(_plan().targets, 0.8), Weather(latency=latency))


def _opener(server: SimulatedModel) -> Opener:
    return partial(open_models, endpoints={NAME: _endpoint(server.endpoint.api_base)})


def _endpoint(api_base: str | None) -> Endpoint:
    """The same to a lock, whichever server it is."""
    return Endpoint(
        f"openai/{NAME}", api_base=api_base, api_key="none-needed", identity={"simulated": NAME}, tokenizes=True
    )


def _selected(run: Path, folder: Path) -> None:
    """The beginning of a run, up to its first episode."""
    lines = (run / LEDGER_FILE).read_bytes().splitlines(keepends=True)
    first = next(n for n, line in enumerate(lines) if json.loads(line)["kind"] == "start")
    folder.mkdir()
    (folder / LOCK_FILE).write_bytes((run / LOCK_FILE).read_bytes())
    (folder / LEDGER_FILE).write_bytes(b"".join(lines[:first]))


def _untimed(value: Any) -> Any:
    """JSON without what tells when."""
    if isinstance(value, dict):
        return {k: _untimed(v) for k, v in value.items() if k not in ("ms", "started", "seconds")}
    return [_untimed(v) for v in value] if isinstance(value, list) else value


def _records(folder: Path) -> dict[tuple[Any, Any], list[Any]]:
    """All events of each attempt, in order, but for their times."""
    found: dict[tuple[Any, Any], list[Any]] = {}
    for event in read_events(folder):
        if event.cell is not None:
            found.setdefault((event.cell, event.attempt), []).append((event.kind, _untimed(event.data)))
    return found


def test_the_records_of_a_run_are_the_same_on_ray_and_either_goes_on_where_the_other_was(
    cluster: SmallCluster, local: Path, tmp_path: Path
) -> None:
    """Every event of every attempt is, but for times; a lock written under one engine holds under the other."""
    _selected(local, tmp_path / "ray")
    with _server() as server:
        run_study(_plan(cluster), tmp_path / "ray", silent, _opener(server))
        assert run_study(_plan(), tmp_path / "ray", silent, _opener(server)).resumed == len(_plan().cells)
    assert _records(tmp_path / "ray") == _records(local)
    assert len(_records(local)) == len(_plan().cells)
    assert holds(audit(tmp_path / "ray"))
    assert verify(tmp_path / "ray").manifest == "matches"


def test_what_tasks_spend_counts_against_the_runs_limit_of_cost(cluster: SmallCluster, tmp_path: Path) -> None:
    """Those that wait for a place in the cluster when it is spent are given up; those under way end."""
    name = "openai/gpt-4o-mini"
    plan = _plan(cluster, name, max_cost=1e-5, workers=4)
    with SimulatedModel("priced", oracle_script(plan.targets)) as server:
        endpoint = Endpoint(name, api_base=server.endpoint.api_base, api_key="none-needed", tokenizes=True)
        with pytest.raises(LimitReached, match=r"raise run\.max_cost"):
            run_study(plan, tmp_path / "run", silent, partial(open_models, endpoints={name: endpoint}))
    events = list(read_events(tmp_path / "run"))
    ended = sum(e.kind == "episode" for e in events)
    assert 1 <= ended < len(plan.cells)
    assert sum(e.kind == "start" for e in events) == ended
    assert events[-1].data["stopped"] == "max_cost"
    assert events[-1].data["spent"] == pytest.approx(sum(dollars(e) for e in events))


def test_a_provider_that_told_one_task_too_many_is_asked_less_by_all_and_the_ledger_says_so(
    cluster: SmallCluster, local: Path, tmp_path: Path
) -> None:
    """A 429 halves it, answers raise it again."""
    _selected(local, tmp_path / "run")
    weather = Weather(faults={3: "429"}, retry_after=0.1)
    with SimulatedModel(NAME, oracle_script(_plan().targets, 0.8), weather) as server:
        run_study(_plan(cluster), tmp_path / "run", silent, _opener(server))
    notes = [e.data for e in read_events(tmp_path / "run") if e.kind == "note" and "concurrency" in e.data]
    assert [(note["concurrency"], note["why"]) for note in notes] == [(1, "429"), (2, "answers")]


def test_a_node_killed_midway_costs_an_attempt_and_no_episode(
    cluster: SmallCluster, local: Path, tmp_path: Path
) -> None:
    """Of two nodes that both have an episode under way one is killed, with all its processes."""
    _selected(local, tmp_path / "run")
    with _server(latency=0.4) as server:
        found = node_loss(_plan(), tmp_path / "run", _opener(server), cluster)
    if not found["killed"]:
        pytest.skip("the nodes never had an episode under way at the same time: this machine is too busy")
    assert found == {"complete": True, "killed": True, "cells": 4, "abandoned": 1}


def test_a_run_whose_own_process_is_killed_goes_on_where_it_was(
    cluster: SmallCluster, local: Path, tmp_path: Path
) -> None:
    """SIGKILL: its tasks end with it, its open attempts are noted as abandoned, and every cell gets one episode."""
    folder = tmp_path / "run"
    _selected(local, folder)
    with _server(latency=0.4) as server:
        driver = subprocess.Popen([sys.executable, __file__, str(server.endpoint.api_base), cluster.address, folder])
        seen = Watch(folder)
        while not any(episode.step for episode in seen.running.values()):
            assert driver.poll() is None
            time.sleep(0.1)
            seen.refresh()
        driver.kill()
        driver.wait()
        run_study(_plan(cluster), folder, silent, _opener(server))
    events = list(read_events(folder))
    assert sum(e.kind == "note" and "abandoned" in e.data for e in events) >= 1
    assert sorted(str(e.cell) for e in events if e.kind == "episode") == sorted(c.id for c in _plan().cells)
    assert holds(audit(folder))


def _drive(api_base: str, address: str, folder: str) -> None:
    """What the process that is killed runs."""
    made = _plan()
    run = made.study.run.model_copy(update={"engine": "ray", "ray_address": address})
    plan = replace(made, study=made.study.model_copy(update={"run": run}))
    run_study(plan, Path(folder), silent, partial(open_models, endpoints={NAME: _endpoint(api_base)}))


if __name__ == "__main__":
    _drive(*sys.argv[1:])
