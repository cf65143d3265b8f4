"""`rebind bench skills apps`: skills of the app world's families, executed in it and judged by its verifier.

In domain, 70 % of each family's instances are induction traces and the rest queries. Out of domain, a quarter of the
families is held out at a time: their instances are queries to a memory that never saw the family.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rebind.envs import world
from rebind.eval.bench.skills.apps_ground import Ground
from rebind.eval.bench.skills.apps_tasks import Task, make_tasks, metas
from rebind.eval.bench.skills.measure import SEEDS, Measured, summary, table
from rebind.eval.bench.skills.methods import BASELINES, TIER_C, Baseline, Corpus, Stored, remembering
from rebind.memory.shard.scope import Scope
from rebind.memory.skill.identity import identity
from rebind.memory.skill.library import Library, Source, Version
from rebind.memory.skill.request import request_of
from rebind.memory.skill.tier_c import TierC
from rebind.memory.skill.traits import Encode
from rebind.memory.skill.tuning import Tuning, fit_least
from rebind.types import Call, Progress

INDUCTION = 0.7
FOLDS = 4
IN, OUT = "in-domain", "out-of-domain"


def run_apps(
    instances: int = 8,
    seeds: Sequence[int] = SEEDS,
    families: Sequence[str] = (),
    encode: Encode | None = None,
    progress: Progress = lambda *_: None,
) -> dict[str, Any]:
    """Every method on every split, `seeds` times with other instances for induction."""
    apps = world("apps")
    environment = apps.make()
    try:
        tasks = make_tasks(apps, environment, list(families or apps.families()), instances, progress)
        bench = _Bench(Ground(environment), tasks, encode or _encoder())
        for number, seed in enumerate(seeds):
            bench.seed(seed, partial(_of_all, progress, seed, number, len(seeds)))
        return bench.result(instances, seeds)
    finally:
        environment.close()


def _of_all(progress: Progress, seed: int, number: int, seeds: int, done: int, total: int) -> None:
    progress(f"seed {seed}", number * total + done, seeds * total)


def _encoder() -> Encode:
    from rebind.memory.encoders import encoder
    from rebind.memory.shard.embedded import EmbeddingCache

    return remembering(EmbeddingCache(encoder("all-minilm-l6-v2")).encode)


class _Bench:
    """Rows by method, split and run."""

    def __init__(self, ground: Ground, tasks: Sequence[Task], encode: Encode) -> None:
        self._ground, self._tasks, self._encode = ground, tasks, encode
        self._runs: dict[tuple[str, str, bool], list[list[Measured]]] = {}
        self._facts: list[dict[str, Any]] = []

    def seed(self, seed: int, progress: Callable[[int, int], None]) -> None:
        """One draw of induction instances: in domain, then each fold of held-out families."""
        rng = random.Random(f"skills apps {seed}")
        train, queries = _split(self._tasks, rng)
        families = sorted({t.family for t in self._tasks})
        rng.shuffle(families)
        folds = [set(families[n::FOLDS]) for n in range(min(FOLDS, len(families) - 1))]
        self._measure(IN, train, queries)
        progress(1, len(folds) + 1)
        rows: dict[tuple[str, bool], list[Measured]] = {}
        for n, held in enumerate(folds, 2):
            seen, asked = [t for t in train if t.family not in held], [t for t in queries if t.family in held]
            for key, found in self._rows(seen, asked).items():
                rows.setdefault(key, []).extend(found)
            progress(n, len(folds) + 1)
        for (name, gated), found in rows.items():
            self._runs.setdefault((name, OUT, gated), []).append(found)

    def _measure(self, split: str, train: Sequence[Task], queries: Sequence[Task]) -> None:
        for (name, gated), found in self._rows(train, queries).items():
            self._runs.setdefault((name, split, gated), []).append(found)

    def _rows(self, train: Sequence[Task], queries: Sequence[Task]) -> dict[tuple[str, bool], list[Measured]]:
        """Every method on the queries, by name, and whether it has a threshold (baselines have none; with one, fitted
        on the induction split, they are measured as well)."""
        corpus = Corpus([_stored(t) for t in train if t.skill is not None], self._encode)
        known = [t for t in train if t.skill is not None]
        rows: dict[tuple[str, bool], list[Measured]] = {}
        with TemporaryDirectory() as folder:
            tier = self._learnt(train, Path(folder))
            for name in BASELINES:
                method = Baseline(name, corpus)
                least = self._fitted(method, known)
                rows[name, False] = [self._baseline(method, t, None, tier) for t in queries]
                rows[name, True] = [self._baseline(method, t, least, tier) for t in queries]
            rows[TIER_C, True] = [self._tier_c(tier, t) for t in queries]
        return rows

    def _learnt(self, train: Sequence[Task], folder: Path) -> TierC:
        """Tier C after the induction traces: first each skill that passes its tests is stored; then each task is tried
        with what the others left, which gives reliabilities and does not depend on their order. The settings are fitted
        to what each task finds without its own trace."""
        library = Library(folder)
        tier, tuning = TierC(library, self._encode), Tuning(library, self._encode)
        own: dict[str, frozenset[str]] = {}
        for task in train:
            if task.skill is not None:
                version = library.next_version(task.skill, task.goal, metas(task.skill))
                if self._ground.holds(version.skill, task):
                    library.append(version)
                    own[task.key] = frozenset({version.key})
        for task in train:
            self._ground.try_out(tier, task, Source(task.goal, own.get(task.key, frozenset())))
        for task in train:
            source = Source(task.goal, own.get(task.key, frozenset()))
            tuning.ask(source, task.scope, partial(self._ground.valid, task=task))
        settings = tuning.settings()
        self._facts.append({"tau_c": settings.least, "worth": settings.worth, "versions": len(library.all()),
                            "procedures": len(library.current(Scope()))})  # fmt: skip
        return TierC(library, self._encode, settings)

    def _fitted(self, method: Baseline, known: Sequence[Task]) -> float:
        """The threshold of a baseline that is most precise on the induction traces, each left out in turn."""
        return fit_least([
            [(score, self._ground.valid(version, task))
             for version, score in method.top(task.goal, task.scope, frozenset({n}))]
            for n, task in enumerate(known)
        ])  # fmt: skip

    def _baseline(self, method: Baseline, task: Task, least: float | None, tier: TierC) -> Measured:
        handed = [v for v, score in method.top(task.goal, task.scope) if least is None or score >= least]
        return self._measured(handed, task, self._ground.walk(handed, task), tier)

    def _tier_c(self, tier: TierC, task: Task) -> Measured:
        handed = [v for v, _ in tier.ranked(task.goal, task.scope)]
        _, steps = self._ground.read(tier, task)
        return self._measured(handed, task, steps, tier)

    def _measured(self, handed: Sequence[Version], task: Task, steps: int | None, tier: TierC) -> Measured:
        missed = not handed and any(self._ground.valid(v, task) for v in tier.library.current(task.scope))
        return Measured(
            handed=len(handed),
            valid=sum(self._ground.valid(v, task) for v in handed),
            missed=missed,
            reduction=0 if steps is None else len(task.caller.calls) - steps,
            reused=steps is not None,
        )

    def result(self, instances: int, seeds: Sequence[int]) -> dict[str, Any]:
        rows = {key: {"method": key[0], "split": key[1], **summary(runs)} for key, runs in self._runs.items()}
        plain = [(name, split, name == TIER_C) for split in (IN, OUT) for name in (*BASELINES, TIER_C)]
        return {
            "rows": [rows[key] for key in plain if key in rows],
            "gated_rows": [row for (name, _, gated), row in rows.items() if gated and name != TIER_C],
            "families": len({t.family for t in self._tasks}),
            "families_with_skills": len({t.family for t in self._tasks if t.skill is not None}),
            "traces": len(self._tasks),
            "skills": sum(t.skill is not None for t in self._tasks),
            "instances": instances,
            "seeds": list(seeds),
            "r": 3,
            "solution_steps": round(sum(len(t.caller.calls) for t in self._tasks) / max(1, len(self._tasks)), 2),
            "libraries": self._facts,
        }


def _split(tasks: Sequence[Task], rng: random.Random) -> tuple[list[Task], list[Task]]:
    """Of each family's tasks 70 %, in random order, and the rest."""
    train: list[Task] = []
    queries: list[Task] = []
    for family in sorted({t.family for t in tasks}):
        own = [t for t in tasks if t.family == family]
        rng.shuffle(own)
        cut = round(INDUCTION * len(own))
        train += own[:cut]
        queries += own[cut:]
    rng.shuffle(train)
    return train, queries


def _stored(task: Task) -> Stored:
    assert task.skill is not None  # the caller leaves the others out
    version = Version(
        identity=identity(task.skill),
        skill=task.skill,
        requests=(request_of(task.goal, task.skill),),
        metas=metas(task.skill),
    )
    return Stored(version, tuple(_line(call) for step in task.trace.steps for call in step.calls))


def _line(call: Call) -> str:
    return f"{call.tool}({json.dumps(call.args, ensure_ascii=False)})"


def tables(result: dict[str, Any]) -> list[tuple[str, list[str], list[list[str]]]]:
    """For the terminal."""
    return [
        table("Skills on the apps' families", result["rows"]),
        table("Baselines with a threshold fitted on the induction split", result["gated_rows"]),
    ]
