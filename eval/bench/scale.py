"""`rebind bench scale`: how a run's speed, processor time and memory grow with the episodes it has under way, how long
a study of the papers' size takes to be planned and resumed, and whether one on two Ray nodes outlives the loss of one.

A scripted model in a process of its own answers each request after the latency given; the harness runs the shipped
app-world targets against it through the real runner, with a fresh process for each row. The ideal is what the latency
alone would take: the calls that each episode made, begun in the run's order by as many workers as the row has.
"""

from __future__ import annotations

import heapq
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rebind.banks.files import silent
from rebind.errors import RebindError
from rebind.types import Progress

CONCURRENT = (1, 2, 8, 32, 128)
CONDITIONS = ("none", "full", "summary", "qcr", "skill")
_SLOW = 0.5
"""Seconds of the model's latency where a node is killed midway: long enough for an episode to be caught."""
_STUDY = """\
name = "scale-simulated"
environments = ["apps"]
conditions = {conditions}
seeds = {seeds}

[bank]
path = "shipped:demo/bank"

[targets]
path = "shipped:demo/targets"

[model]
actor = "simulated/oracle"

[retrieval]
ranker = "top1"

[budget]
steps = {steps}

[run]
workers = 8
cache = false
"""


class ScaleFailure(RebindError):
    """A process of the benchmark failed."""


def run(
    concurrent: Sequence[int] = CONCURRENT,
    latency: float = 0.05,
    rounds: int = 4,
    plan_episodes: int = 36_000,
    progress: Progress = silent,
    *,
    ray: bool = True,
) -> dict[str, Any]:
    """Runs `rounds` episodes for each worker of a row (at least 8); plans, runs to the half and resumes a study of
    `plan_episodes`, with one step an episode (0: none, and no keys of it); and with `ray` kills one of two Ray nodes
    while both have an episode under way.

    Returns:
        `rows`: of `concurrent`, `episodes`, `steps`, `episodes_per_s`, `ideal_per_s`, `efficiency` (of the ideal),
        `core` (share of one core that the harness had), `model_core` (that of the scripted model's process),
        `cpu_ms_per_step`, `peak_mb`, `mb_per_episode` (what each episode at once adds to the smallest row's peak; None
        in that row), `not_valid`; `latency_ms`; `plan_episodes`, `plan_s` (from the command to the plan), `resume_s`
        (from the command to the first episode, half of them being in the ledger), `half_s`, `mb_per_1000_episodes`
        (growth of resident memory over the second half of that run); `ray_node_loss_complete` (every cell of a study
        has a valid episode, and its ledger verifies and passes the audit; None where Ray is not installed, and
        `ray_why` says so), `ray_cells`, `ray_abandoned` (attempts that the loss cost).

    Raises:
        ScaleFailure: a process failed.
    """
    with tempfile.TemporaryDirectory(prefix="rebind-scale-") as scratch:
        folder = Path(scratch)
        rows: list[dict[str, Any]] = []
        for n, at_once in enumerate(concurrent):
            progress(f"{at_once} at once", n, len(concurrent) + 3)
            rows.append(row(folder / f"row-{at_once}", at_once, max(8, rounds * at_once), latency))
        for later in rows[1:]:
            extra = later["concurrent"] - rows[0]["concurrent"]
            later["mb_per_episode"] = round((later["peak_mb"] - rows[0]["peak_mb"]) / extra, 2)
        progress("half of a big plan", len(concurrent), len(concurrent) + 3)
        big = _big_plan(folder / "plan", plan_episodes) if plan_episodes else {}
        progress("losing a Ray node", len(concurrent) + 2, len(concurrent) + 3)
        lost = _node_loss(folder / "ray") if ray else {}
        progress("done", len(concurrent) + 3, len(concurrent) + 3)
    return {"rows": rows, "latency_ms": latency * 1000, **big, **lost}


def ideal_seconds(calls: Sequence[int], at_once: int, latency: float) -> float:
    """What episodes of so many calls take with `at_once` workers, where nothing takes time but the model."""
    free = [0.0] * at_once
    for number in calls:
        heapq.heapreplace(free, free[0] + number * latency)
    return max(free)


def row(folder: Path, at_once: int, cells: int, latency: float) -> dict[str, Any]:
    """One row of the benchmark; its run is in `folder`/run. Raises `ScaleFailure`."""
    study = _study(folder, cells + 1, steps=30)
    with _model(study, latency) as (model, spent):
        before = spent()
        job = {"model": model, "at_once": at_once, "cells": cells}
        found = _side("episodes", study=str(study), folder=str(folder), **job)
        served = spent() - before
    ideal = ideal_seconds(found["calls"], at_once, latency)
    return {
        "concurrent": at_once,
        "episodes": cells,
        "steps": found["steps"],
        "episodes_per_s": round(cells / found["wall_s"], 2),
        "ideal_per_s": round(cells / ideal, 2),
        "efficiency": round(ideal / found["wall_s"], 3),
        "core": round(found["cpu_s"] / found["wall_s"], 2),
        "model_core": round(served / found["wall_s"], 2),
        "cpu_ms_per_step": round(1000 * found["cpu_s"] / found["steps"], 2),
        "peak_mb": round(found["peak_mb"], 1),
        "mb_per_episode": None,
        "not_valid": found["not_valid"],
    }


def _big_plan(folder: Path, episodes: int) -> dict[str, Any]:
    study = _study(folder, episodes, steps=1)
    with _model(study, 0.0) as (model, _):
        first, half, again = (
            (time.monotonic(), _side("start", study=str(study), folder=str(folder / name), model=model, until=until))
            for name, until in (("plan", -1.0), ("run", 0.5), ("run", 0.0))
        )
    (before, planned), (_, ran), (resumed, found) = first, half, again
    tail = [(done, mb) for done, mb in ran["memory_mb"] if done >= ran["cells"] / 4]
    growth = 1000 * (tail[-1][1] - tail[0][1]) / max(1, tail[-1][0] - tail[0][0])
    return {
        "plan_episodes": planned["cells"],
        "plan_s": round(planned["planned"] - before, 2),
        "resumed_with": found["had"],
        "resume_s": round(found["begun"] - resumed, 2),
        "half_s": round(ran["wall_s"], 1),
        "mb_per_1000_episodes": round(growth, 3),
    }


def _node_loss(folder: Path) -> dict[str, Any]:
    if find_spec("ray") is None:
        return {"ray_node_loss_complete": None, "ray_why": "Ray is not installed: pip install 'rebind[ray]'"}
    study = _study(folder, 1, steps=30)
    with _model(study, _SLOW) as (model, _):
        found = _side("lose_node", study=str(study), folder=str(folder), model=model)
    return {"ray_node_loss_complete": found["complete"], **{f"ray_{key}": found[key] for key in ("cells", "abandoned")}}


def _study(folder: Path, episodes: int, steps: int) -> Path:
    """A study of at least so many episodes, with the papers' three seeds or more."""
    from rebind.banks.targets import TargetSet
    from rebind.eval.demo import demo_study

    targets = len(TargetSet.open(demo_study().targets.path).targets())
    seeds = list(range(max(3, -(-episodes // (targets * len(CONDITIONS))))))
    folder.mkdir(parents=True)
    study = folder / "study.toml"
    study.write_text(_STUDY.format(conditions=json.dumps(CONDITIONS), seeds=seeds, steps=steps), encoding="utf-8")
    return study


@contextmanager
def _model(study: Path, latency: float) -> Iterator[tuple[dict[str, Any], Any]]:
    """A scripted model in a process of its own: where it is, and a function that tells its processor time so far."""
    command = _command("serve", study=str(study), latency=latency)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None  # both are pipes
        assert process.stdout is not None

        def asked(line: str) -> Any:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(line)
            process.stdin.flush()
            answer = process.stdout.readline()
            if not answer:
                raise ScaleFailure("the scripted model's process ended; what it wrote is above")
            return json.loads(answer)

        try:
            yield asked(""), lambda: asked("\n")
        finally:
            process.stdin.close()


def _side(side: str, **job: Any) -> dict[str, Any]:
    """What a process of the benchmark found. Raises `ScaleFailure`."""
    done = subprocess.run(_command(side, **job), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ScaleFailure(f"{side} failed: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _command(side: str, **job: Any) -> list[str]:
    return [sys.executable, "-m", "rebind.eval.bench.scale_sides", json.dumps({"side": side, **job})]
