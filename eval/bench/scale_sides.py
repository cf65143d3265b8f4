"""The processes of `rebind bench scale`, each a fresh one: a scripted model that serves, and a harness that runs.

The model is a process of its own so that its work is not in the harness's processor time; the harness begins anew for
each row so that no row inherits another one's memory.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from rebind.agents.endpoint import Endpoint
from rebind.agents.simulated import SimulatedModel, Weather
from rebind.banks.files import silent
from rebind.eval.ledger import read_events
from rebind.eval.models import open_models
from rebind.eval.plan import Plan, make_plan
from rebind.eval.runner import run_study
from rebind.eval.scripts import oracle_script
from rebind.eval.study import load_study

_MB = 1e6
_SAMPLES = 20
"""Of memory, over a run."""


def serve(study: Path, latency: float) -> None:
    """Serves the study's scripted model until its input ends; says where, and for each line its processor time."""
    plan = make_plan(load_study(study))
    script = oracle_script(plan.targets)
    with SimulatedModel(plan.study.model.actor, script, Weather(latency=latency), keep=False) as model:
        _say({"url": model.url, "identity": model.endpoint.identity})
        for _ in sys.stdin:
            _say(time.process_time())


def episodes(study: Path, folder: Path, model: Mapping[str, Any], at_once: int, cells: int) -> None:
    """Runs the first `cells` episodes of a study, so many at once, after a few that warm the process up."""
    plan = make_plan(load_study(study))
    part = plan.study.run.model_copy(update={"workers": at_once})
    plan = replace(plan, study=plan.study.model_copy(update={"run": part}))
    opener = partial(open_models, endpoints={plan.study.model.actor: _endpoint(plan, model)})
    few = replace(plan, study=plan.study.model_copy(update={"run": part.model_copy(update={"workers": 1})}))
    run_study(replace(few, cells=plan.cells[-1:]), folder / "warm-up", silent, opener)
    clock = _Clock()
    run_study(replace(plan, cells=plan.cells[:cells]), folder / "run", clock.tick, opener)
    calls, steps, bad = _done(folder / "run")
    _say({**clock.said(), "calls": [calls[c.id] for c in plan.cells[:cells]], "steps": steps, "not_valid": bad})


def start(study: Path, folder: Path, model: Mapping[str, Any], until: float) -> None:
    """Plans a study, runs or resumes it until a share of it has ended (0: until the first episode could begin; less:
    not at all), stops; says when each was done, on the machine's monotonic clock."""
    plan = make_plan(load_study(study))
    planned = time.monotonic()
    if until < 0:
        _say({"planned": planned, "cells": len(plan.cells)})
        return
    clock = _Clock(until)
    opener = partial(open_models, endpoints={plan.study.model.actor: _endpoint(plan, model)})
    with suppress(_Enough):
        run_study(plan, folder, clock.tick, opener)
    _say({"planned": planned, "begun": clock.began, "cells": len(plan.cells), "had": clock.had, **clock.said()})


def lose_node(study: Path, folder: Path, model: Mapping[str, Any]) -> None:
    """Runs eight cells of a study on two Ray nodes, one of which is killed midway."""
    from rebind.eval.bench.ray_cluster import small_cluster
    from rebind.eval.bench.ray_loss import node_loss

    whole = load_study(study)
    few = {"targets": whole.targets.model_copy(update={"limit": 2}), "seeds": (0, 1), "conditions": ("none", "qcr")}
    plan = make_plan(whole.model_copy(update=few))
    opener = partial(open_models, endpoints={plan.study.model.actor: _endpoint(plan, model)})
    with small_cluster() as cluster:
        cluster.connect()
        found = node_loss(plan, folder / "run", opener, cluster)
    _say(found)


class _Enough(Exception):
    """As much of the run as was wanted is done."""


class _Clock:
    """Takes wall time, processor time and memory of a run's episodes, from its progress."""

    def __init__(self, until: float = 1.0) -> None:
        self._until = until
        self.began = 0.0
        self.had = 0
        self._wall = self._cpu = self._rss = 0.0
        self._samples: list[tuple[int, float]] = []
        self._next = 0.0

    def tick(self, what: str, done: int, total: int) -> None:
        if what.startswith(("selecting", "planning")):
            return
        if not self.began:
            self.began, self._cpu0, self.had, self._next = time.monotonic(), time.process_time(), done, float(done)
        self._wall, self._cpu = time.monotonic() - self.began, time.process_time() - self._cpu0
        if done >= self._next or done == total:
            self._samples.append((done, resident()))
            self._next += total / _SAMPLES
        if self._until < 1 and done >= self._until * total:
            raise _Enough

    def said(self) -> dict[str, Any]:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / _MB
        return {"wall_s": self._wall, "cpu_s": self._cpu, "peak_mb": peak, "memory_mb": self._samples}


def resident() -> float:
    """Resident memory of this process, in MB (proc(5), `statm`)."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / _MB


def _endpoint(plan: Plan, model: Mapping[str, Any]) -> Endpoint:
    """As `SimulatedModel.endpoint`, of one in another process."""
    name = plan.study.model.actor
    base = f"{model['url']}/v1"
    known = model["identity"]
    return Endpoint(f"openai/{name}", api_base=base, api_key="none-needed", identity=known, tokenizes=True)


def _done(folder: Path) -> tuple[Counter[str], int, int]:
    """Model calls by cell id, environment steps, and episodes that are not valid, of a run."""
    calls: Counter[str] = Counter()
    steps = bad = 0
    for event in read_events(folder):
        calls[event.cell or ""] += event.kind == "call"
        steps += event.kind == "step"
        bad += event.kind == "episode" and event.data["outcome"] != "valid"
    return calls, steps, bad


def _say(what: Any) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    job = json.loads(sys.argv[1])
    sides: dict[str, Callable[..., None]] = {one.__name__: one for one in (serve, episodes, start, lose_node)}
    side = sides[job.pop("side")]
    paths = {name: Path(job.pop(name)) for name in ("study", "folder") if name in job}
    side(**paths, **job)
